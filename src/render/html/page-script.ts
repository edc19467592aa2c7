/**
 * The page's script. It only ever sets text and attributes, so nothing in the plan can become a part of the page.
 * Of five thousand changes it keeps the rows that are looked at: a batch at first, more as one scrolls, the inside of
 * a change when it is unfolded.
 */
export const PAGE_SCRIPT = String.raw`
"use strict";
const data = JSON.parse(document.getElementById("plan").textContent);
const BATCH = 200;

function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === false || value === undefined) continue;
    element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== ""));
  return element;
}

const list = document.getElementById("changes");
const status = document.getElementById("status");
const more = document.getElementById("more");
const form = document.getElementById("filter");
const search = document.getElementById("search");

const entries = data.changes.map((change) => ({
  change,
  text: [
    change.address, change.id, change.action, change.kind,
    ...change.fields.flatMap((field) => [
      field.name, field.before ?? "", field.after ?? "", ...(field.pieces ?? []).map((piece) => piece.text),
    ]),
  ].join("\n").toLowerCase(),
}));

let shown = entries;
let drawn = 0;
let target;

function wanted() {
  const values = new FormData(form);
  const actions = new Set(values.getAll("action"));
  const words = String(values.get("search")).toLowerCase().split(/\s+/).filter((word) => word !== "");
  const kind = values.get("kind");
  const inTarget = values.get("target");
  return ({ change, text }) =>
    (actions.size === 0 || actions.has(change.action)) &&
    (kind === "" || change.kind === kind) &&
    (inTarget === "" || change.target === inTarget) &&
    words.every((word) => text.includes(word));
}

function draw() {
  shown = entries.filter(wanted());
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
      rows.push(make("h3", {}, target));
    }
    rows.push(row(change));
  }
  list.append(...rows);
  drawn = Math.min(shown.length, drawn + BATCH);
  more.hidden = drawn >= shown.length;
  more.textContent = "Show more (" + (shown.length - drawn) + " left)";
}

function row(change) {
  const names = change.fields.map((field) => field.name);
  const few = names.slice(0, 4).join(", ") + (names.length > 4 ? " and " + (names.length - 4) + " more" : "");
  const details = make("details", { class: "change", id: change.address },
    make("summary", {},
      make("span", { class: "action " + change.action }, change.sign + " " + change.action),
      make("code", {}, change.address),
      make("span", { class: "fields" }, few)));
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(inside(change));
  });
  return details;
}

function inside(change) {
  return make("div", {},
    make("p", { class: "faint mono" }, ["id " + change.id, change.place].filter((part) => part !== "").join("   ")),
    change.fields.length === 0 ? "" : fieldTable(change),
    ...needs(change.needs),
    ...calls("Calls", change.calls),
    ...calls("Only if the service's values differ by then", change.followUps));
}

function fieldTable({ fields }) {
  const head = ["Field", "Before", "After"].map((name) => make("th", { scope: "col" }, name));
  return make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...fields.map(fieldRow)));
}

function fieldRow(field) {
  const name = make("th", { scope: "row" }, make("code", {}, field.name),
    field.note === "" ? "" : make("div", { class: "faint" }, field.note));
  if (field.pieces !== undefined)
    return make("tr", {}, name, make("td", { colspan: "2" }, make("div", {}, ...field.pieces.map(piece))));
  if (field.before === undefined) return make("tr", {}, name, make("td", { colspan: "2" }, make("span", {}, field.after)));
  return make("tr", {}, name,
    make("td", {}, make("span", {}, field.before)),
    make("td", {}, make("span", {}, field.after)));
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
  return [make("h4", {}, title), ...list.map(({ method, path, body }) => make("div", {},
    make("code", {}, method + " " + path), body === "" ? "" : make("pre", { tabindex: "0" }, body)))];
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
  details.querySelector("summary").focus();
  details.scrollIntoView();
}

function openHash() {
  if (location.hash.length > 1) open(decodeURIComponent(location.hash.slice(1)));
}

let pending;
form.addEventListener("input", () => {
  clearTimeout(pending);
  pending = setTimeout(draw, 80);
});
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(draw));
more.addEventListener("click", drawMore);
document.getElementById("unfold").addEventListener("click", () => {
  for (const details of list.querySelectorAll("details.change")) details.open = true;
});
document.getElementById("fold").addEventListener("click", () => {
  for (const details of list.querySelectorAll("details.change")) details.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "")) return;
  event.preventDefault();
  search.focus();
});
addEventListener("hashchange", openHash);
if (typeof IntersectionObserver === "function")
  new IntersectionObserver((seen) => {
    if (seen.some((one) => one.isIntersecting) && !more.hidden) drawMore();
  }, { rootMargin: "600px" }).observe(more);
form.hidden = false;
draw();
openHash();
`;
