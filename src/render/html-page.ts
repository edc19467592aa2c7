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

/** The page's style sheet. Light and dark by what the reader's system asks for; nothing is loaded. */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --text: #1f2328; --faint: #59636e; --back: #ffffff; --raised: #f6f8fa; --line: #d1d9e0; --soft: #eaeef2;
  --link: #0550ae; --create: #116329; --update: #7d4e00; --rediscover: #0a5c73; --disable: #6639ba; --error: #b3261e;
  --added: #dafbe1; --removed: #ffebe9;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e6edf3; --faint: #9da7b1; --back: #0d1117; --raised: #161b22; --line: #3d444d; --soft: #21262d;
    --link: #79b8ff; --create: #56d364; --update: #e3b341; --rediscover: #56d4dd; --disable: #bc8cff; --error: #ff7b72;
    --added: #12361f; --removed: #4c1a1d;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 80rem; padding: 1.25rem 1.5rem 4rem; background: var(--back); color: var(--text);
  font: .875rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { margin: 0; font-size: 1.35rem; line-height: 1.3; }
h2 { margin: 1.75rem 0 .5rem; font-size: 1rem; }
h3 { margin: 1rem 0 .25rem; font-size: .875rem; }
h3 span { margin-left: .5rem; color: var(--faint); font-weight: 400; }
p { margin: .25rem 0; }
a { color: var(--link); }
code, pre, .mono { font: .8125rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { margin: .25rem 0; padding: .5rem .75rem; background: var(--raised); border-radius: .375rem;
  white-space: pre-wrap; }
.faint { color: var(--faint); }
.skip { position: absolute; left: -99rem; }
.skip:focus { position: static; }
.counts { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; margin: .75rem 0 0; padding: 0; list-style: none; }
.counts li { color: var(--faint); }
.counts b { margin-right: .35rem; font-size: 1.125rem; color: var(--text); }
.counts .create b { color: var(--create); } .counts .update b { color: var(--update); }
.counts .rediscover b { color: var(--rediscover); }
form { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: center;
  padding: .6rem 0; border-bottom: 1px solid var(--line); background: var(--back); }
form[hidden] { display: none; }
form label { display: inline-flex; gap: .35rem; align-items: center; color: var(--faint); }
fieldset { display: contents; }
legend { position: absolute; left: -99rem; }
fieldset label { padding: .2rem .55rem; border: 1px solid var(--line); border-radius: 1rem; cursor: pointer; }
fieldset label:has(:checked) { border-color: currentColor; background: var(--raised); }
fieldset input { margin: 0; accent-color: currentColor; }
input[type=search] { flex: 1 1 10rem; min-width: 9rem; max-width: 26rem; }
input[type=search], select, button { padding: .25rem .55rem; border: 1px solid var(--line); border-radius: .375rem;
  background: var(--raised); color: var(--text); font: inherit; }
select { max-width: 9rem; }
button { cursor: pointer; }
::placeholder { color: var(--faint); opacity: 1; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 1px; }
#status { margin: .5rem 0 0; }
#more { margin-top: 1rem; }
details > summary { cursor: pointer; }
.change { border-bottom: 1px solid var(--soft); scroll-margin-top: 6rem; }
.change > summary { display: grid; grid-template-columns: 1rem 6.25rem auto minmax(0, 1fr); gap: 0 .5rem;
  align-items: baseline; padding: .22rem .25rem; list-style: none; }
.change > summary::-webkit-details-marker { display: none; }
.change > summary::before { content: "▸"; color: var(--faint); }
.change[open] > summary::before { content: "▾"; }
.change > summary:hover, .change[open] > summary { background: var(--raised); }
summary .action { font-weight: 600; white-space: nowrap; }
summary .preview { overflow: hidden; padding-left: .5rem; color: var(--faint); text-overflow: ellipsis;
  white-space: nowrap; }
.change[open] > summary .preview { visibility: hidden; }
.preview b { margin-right: .35rem; font-weight: 400; color: var(--text); }
.preview > span + span::before { content: " · "; }
.inside { padding: .35rem .25rem 1rem 2rem; }
.inside > p { margin-bottom: .35rem; }
.create { color: var(--create); } .update { color: var(--update); }
.rediscover { color: var(--rediscover); } .disable { color: var(--disable); }
form .create { color: var(--create); } form .update { color: var(--update); }
form .rediscover { color: var(--rediscover); } form .disable { color: var(--disable); }
table { width: 100%; margin-bottom: .5rem; border-collapse: collapse; }
th, td { padding: .25rem .75rem .25rem 0; border-top: 1px solid var(--soft); text-align: left; vertical-align: top; }
th { width: 19rem; font-weight: 400; }
td > div { display: flex; flex-wrap: wrap; gap: .1rem .5rem; }
td > div, td > p { margin: 0; white-space: pre-wrap; }
td > p { max-width: 60rem; padding: .35rem .6rem; border-left: 3px solid var(--line); }
ins, del { border-radius: .2rem; padding: 0 .15rem; text-decoration: none; }
ins { background: var(--added); box-shadow: inset 0 -1px var(--create); }
del { background: var(--removed); text-decoration: line-through; text-decoration-color: var(--error); }
.call { margin: .15rem 0; }
.call > summary { color: var(--faint); }
.call > summary code { color: var(--text); }
.inside h4 { margin: .6rem 0 .1rem; color: var(--faint); font-size: .8125rem; font-weight: 400; }
.inside ul { margin: 0; padding-left: 1.25rem; }
.graph { overflow-x: auto; padding: .25rem 0; }
svg rect { fill: var(--raised); stroke: var(--line); }
svg a:hover rect { stroke: var(--link); }
svg text { fill: var(--text); font: 11px ui-monospace, monospace; }
svg path { fill: none; stroke: var(--faint); }
.diagnostic { margin: .35rem 0; padding: .35rem .75rem; border-left: .25rem solid; background: var(--raised);
  border-radius: 0 .375rem .375rem 0; }
.diagnostic * { color: var(--text); } .diagnostic strong { color: inherit; } .diagnostic code { margin-left: .5rem; }
.diagnostic code, .diagnostic pre { color: var(--faint); }
.diagnostic pre { margin: .25rem 0 0; padding: 0; }
.diagnostic.error { color: var(--error); border-color: var(--error); }
.diagnostic.warning { color: var(--update); border-color: var(--update); }
@media (max-width: 48rem) {
  body { padding: 1rem .75rem 3rem; }
  form { position: static; }
  .change { scroll-margin-top: .5rem; }
  .change > summary { grid-template-columns: 1rem auto minmax(0, 1fr); }
  summary .preview { grid-column: 2 / -1; padding-left: 0; }
  .change[open] > summary .preview { display: none; }
  .inside { padding-left: 1.25rem; }
  table, tbody, tr, th, td { display: block; width: auto; }
  th { padding-bottom: 0; }
  td { border: 0; }
}
@media print { form, .skip, #more { display: none; } }
`;
