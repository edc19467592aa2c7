/**
 * The part of the page's script that draws one change: a row that says as much as fits a line, and, once it is
 * unfolded, all of it. It only ever sets text and attributes, so nothing in the plan can become a part of the page.
 */
export const PAGE_CHANGE = String.raw`
function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== ""));
  return element;
}

function row(change) {
  const dot = change.address.lastIndexOf(".") + 1;
  const details = make("details", { class: "change", id: change.address },
    make("summary", {},
      make("span", { class: "action " + change.action }, change.sign + " " + change.action),
      make("code", {}, make("span", { class: "faint" }, change.address.slice(0, dot)), change.address.slice(dot)),
      make("span", { class: "preview" }, ...preview(change.fields))));
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(inside(change));
  });
  return details;
}

const PREVIEWED = 4;

function preview(fields) {
  const shown = fields.slice(0, PREVIEWED).map((field) => make("span", {}, make("b", {}, field.name), brief(field)));
  const left = fields.length - shown.length;
  return left === 0 ? shown : [...shown, make("span", {}, left + " more")];
}

function brief({ before, after, missing, pieces }) {
  if (pieces !== undefined) return clip(pieces.map(briefPiece).filter((text) => text !== "").join(" "));
  if (missing === undefined && before === undefined) return clip(after);
  return clip(before ?? missing) + " → " + clip(after ?? missing);
}

function briefPiece({ kind, text }) {
  return kind === "same" ? "" : (kind === "added" ? "+" : "−") + text.trim();
}

function clip(text) {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > 60 ? line.slice(0, 59) + "…" : line;
}

function inside(change) {
  const about = [change.id, change.place].filter((part) => part !== "").join("  ·  ");
  return make("div", { class: "inside" },
    about === "" ? "" : make("p", { class: "faint mono" }, about),
    change.fields.length === 0 ? "" : make("table", {}, make("tbody", {}, ...change.fields.map(fieldRow))),
    ...needs(change.needs),
    ...calls("Calls", change.calls),
    ...calls("Calls if the service's own values differ by then", change.followUps));
}

function fieldRow(field) {
  return make("tr", {},
    make("th", { scope: "row" }, make("code", {}, field.name),
      field.note === "" ? "" : make("div", { class: "faint" }, field.note)),
    make("td", {}, value(field)));
}

function value({ before, after, missing, pieces }) {
  if (pieces !== undefined) return make("p", {}, ...pieces.map(piece));
  if (missing === undefined && before === undefined) return make("div", {}, after);
  const faint = (text) => make("span", { class: "faint" }, text);
  return make("div", {},
    before === undefined ? faint(missing) : make("del", {}, before),
    faint("→"),
    after === undefined ? faint(missing) : make("ins", {}, after));
}

function piece({ kind, text }) {
  if (kind === "added") return make("ins", {}, text);
  return kind === "removed" ? make("del", {}, text) : text;
}

function needs(addresses) {
  if (addresses.length === 0) return [];
  const links = addresses.map((address) => make("li", {}, make("a", { href: "#" + address }, make("code", {}, address))));
  return [make("h4", {}, "After"), make("ul", {}, ...links)];
}

function calls(title, list) {
  if (list.length === 0) return [];
  return [make("h4", {}, title), ...list.map(call)];
}

function call({ method, path, body }) {
  const head = make("code", {}, method + " " + path);
  if (body === "") return make("div", { class: "call" }, head);
  return make("details", { class: "call" }, make("summary", {}, head), make("pre", {}, body));
}
`;
