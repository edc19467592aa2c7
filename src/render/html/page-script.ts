import { PAGE_CHANGE } from "./page-change.ts";

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
