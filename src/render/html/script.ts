/**
 * The part of the page's script that draws one change: a row that says as much as fits a line, and, once it is
 * unfolded, all of it. It only ever sets text and attributes, so nothing in the plan can become a part of the page.
 */
const PAGE_CHANGE = String.raw`
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

/**
 * The page's script: filters, folds, and keeps of five thousand changes the rows that are looked at: a batch at
 * first, more as one scrolls, the inside of a change when it is unfolded.
 */
export const PAGE_SCRIPT = String.raw`
"use strict";
const data = JSON.parse(document.getElementById("plan").textContent);
const BATCH = 100;
${PAGE_CHANGE}
const list = document.getElementById("changes");
const status = document.getElementById("status");
const more = document.getElementById("more");
const form = document.getElementById("filter");
const search = document.getElementById("search");

const entries = data.changes.map((change) => ({
  change,
  text: [
    change.address, change.id, change.action, change.kind, change.place,
    ...change.fields.flatMap((field) => [
      field.name, field.before ?? "", field.after ?? "", ...(field.pieces ?? []).map((piece) => piece.text),
    ]),
  ].join("\n").toLowerCase(),
}));

let shown = entries;
let amounts = new Map();
let drawn = 0;
let target;

function wanted() {
  const values = new FormData(form);
  const actions = new Set(values.getAll("action"));
  const words = String(values.get("search")).toLowerCase().split(/\s+/).filter((word) => word !== "");
  const kind = values.get("kind") ?? "";
  const inTarget = values.get("target") ?? "";
  return ({ change, text }) =>
    (actions.size === 0 || actions.has(change.action)) &&
    (kind === "" || change.kind === kind) &&
    (inTarget === "" || change.target === inTarget) &&
    words.every((word) => text.includes(word));
}

function draw() {
  shown = entries.filter(wanted());
  amounts = new Map();
  for (const { change } of shown) amounts.set(change.target, (amounts.get(change.target) ?? 0) + 1);
  drawn = 0;
  target = undefined;
  list.replaceChildren();
  drawMore();
  status.textContent = shown.length === entries.length
    ? entries.length + (entries.length === 1 ? " change" : " changes")
    : shown.length + " of " + entries.length + " changes";
}

function drawMore() {
  const rows = [];
  for (const { change } of shown.slice(drawn, drawn + BATCH)) {
    if (change.target !== target) {
      target = change.target;
      rows.push(make("h3", {}, target, make("span", {}, String(amounts.get(target)))));
    }
    rows.push(row(change));
  }
  list.append(...rows);
  drawn = Math.min(shown.length, drawn + BATCH);
  more.hidden = drawn >= shown.length;
  more.textContent = "Show more (" + (shown.length - drawn) + " left)";
}

function open(address) {
  if (!data.changes.some((change) => change.address === address)) return;
  if (!shown.some(({ change }) => change.address === address)) {
    form.reset();
    draw();
  }
  while (document.getElementById(address) === null && drawn < shown.length) drawMore();
  const details = document.getElementById(address);
  details.open = true;
  details.querySelector("summary").focus({ preventScroll: true });
  details.scrollIntoView();
}

function foldAll(open) {
  for (const details of list.querySelectorAll("details.change")) details.open = open;
}

let pending;
form.addEventListener("input", () => {
  clearTimeout(pending);
  pending = setTimeout(draw, 80);
});
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(draw));
more.addEventListener("click", drawMore);
document.getElementById("unfold").addEventListener("click", () => foldAll(true));
document.getElementById("fold").addEventListener("click", () => foldAll(false));
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "")) return;
  event.preventDefault();
  search.focus();
});
addEventListener("hashchange", () => open(location.hash.slice(1)));
if (typeof IntersectionObserver === "function")
  new IntersectionObserver((seen) => {
    if (seen.some((one) => one.isIntersecting) && !more.hidden) drawMore();
  }, { rootMargin: "600px" }).observe(more);
form.hidden = entries.length === 0;
draw();
if (entries.length === 0) status.textContent = "No changes.";
open(location.hash.slice(1));
`;
