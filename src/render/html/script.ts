/**
 * The page's script: filters, folds and finds. It only sets attributes and texts of existing
 * elements.
 */
export const PAGE_SCRIPT = String.raw`
"use strict";
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const byId = (id) => document.getElementById(id);
const form = byId("filter");
const search = byId("search");
const targets = all("details.target").map((element) => ({
  element,
  name: element.dataset.target,
  matching: element.querySelector(".matching"),
  rows: all(":scope > .change", element),
}));
/** Problems are rows, but not changes. */
const isChange = (row) => row.dataset.action !== "problem";
const total = targets.reduce((sum, { rows }) => sum + rows.filter(isChange).length, 0);
const texts = new Map();

function textOf(row) {
  if (!texts.has(row)) texts.set(row, (row.id + "\n" + row.dataset.kind + "\n" + row.textContent).toLowerCase());
  return texts.get(row);
}

function wanted() {
  const values = new FormData(form);
  const actions = new Set(values.getAll("action"));
  const causes = new Set(values.getAll("cause"));
  const words = String(values.get("search")).toLowerCase().split(/\s+/).filter((word) => word !== "");
  const kind = values.get("kind") ?? "";
  const target = values.get("target") ?? "";
  const any = actions.size + causes.size + words.length > 0 || kind !== "" || target !== "";
  const fits = (row) =>
    (actions.size === 0 || actions.has(row.dataset.action)) &&
    (causes.size === 0 || causes.has(row.dataset.cause)) &&
    (kind === "" || row.dataset.kind === kind) &&
    words.every((word) => textOf(row).includes(word));
  return { any, target, fits };
}

let filtered = false;
function filter() {
  const { any, target, fits } = wanted();
  let shown = 0;
  for (const { element, name, matching, rows } of targets) {
    const inTarget = target === "" || name === target;
    let own = 0;
    for (const row of rows) {
      row.hidden = !(inTarget && fits(row));
      if (row.hidden) continue;
      own++;
      if (isChange(row)) shown++;
    }
    element.hidden = own === 0;
    matching.textContent = any ? own + " of " + rows.length : "";
    // A filter unfolds its results; without one the page is as short as before.
    if (any) element.open = own > 0;
    else if (filtered) element.open = false;
  }
  filtered = any;
  const noun = total === 1 ? " change" : " changes";
  byId("status").textContent = any ? shown + " of " + total + noun : total + noun;
}

function show(address) {
  const row = byId(address);
  if (row === null || !row.matches(".change")) return;
  if (row.hidden) {
    form.reset();
    filter();
  }
  row.closest(".target").open = true;
  row.open = true;
  row.querySelector("summary").focus({ preventScroll: true });
  row.scrollIntoView({ block: "start" });
}

function openAll(open) {
  for (const { element, rows } of targets) {
    if (element.hidden) continue;
    element.open = open;
    for (const row of rows) if (!row.hidden) row.open = open;
  }
}

/** The stops of j and k: targets, and the rows of open targets. */
function stops() {
  return targets.flatMap(({ element, rows }) =>
    element.hidden ? [] : [element, ...(element.open ? rows.filter((row) => !row.hidden) : [])]);
}

function move(step) {
  const list = stops();
  const at = list.indexOf(document.activeElement?.closest("details.change, details.target"));
  const next = list[at < 0 ? (step > 0 ? 0 : list.length - 1) : Math.min(list.length - 1, Math.max(0, at + step))];
  const summary = next?.querySelector("summary");
  summary?.focus();
  summary?.scrollIntoView({ block: "nearest" });
}

function toggle() {
  const details = document.activeElement?.closest("details");
  if (details) details.open = !details.open;
}

const KEYS = { "/": () => search.focus(), j: () => move(1), k: () => move(-1), o: toggle };

let pending;
if (form !== null) {
  form.hidden = false;
  form.addEventListener("input", () => {
    clearTimeout(pending);
    pending = setTimeout(filter, 60);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  byId("expand").addEventListener("click", () => openAll(true));
  byId("collapse").addEventListener("click", () => openAll(false));
  document.addEventListener("keydown", (event) => {
    const { activeElement } = document;
    if (event.key === "Escape" && activeElement === search) return search.blur();
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(activeElement?.tagName ?? "") && activeElement.type !== "checkbox") return;
    const act = Object.hasOwn(KEYS, event.key) ? KEYS[event.key] : undefined;
    if (act === undefined) return;
    event.preventDefault();
    act();
  });
}
let closed = [];
addEventListener("beforeprint", () => {
  closed = all("details:not([open])");
  for (const details of closed) details.open = true;
});
addEventListener("afterprint", () => {
  for (const details of closed) details.open = false;
});
for (const time of all("time")) {
  const date = new Date(time.dateTime);
  if (Number.isNaN(date.getTime())) continue;
  time.title = time.textContent;
  time.textContent = date.toLocaleString(undefined, {
    dateStyle: "long", timeStyle: "short",
  }) + " " + (new Intl.DateTimeFormat(undefined, { timeZoneName: "short" })
    .formatToParts(date).find(({ type }) => type === "timeZoneName")?.value ?? "");
}
const hash = () => {
  try {
    show(decodeURIComponent(location.hash.slice(1)));
  } catch {
    // Ignore a hash that cannot be decoded.
  }
};
addEventListener("hashchange", hash);
hash();
`;
