import { createHash } from "node:crypto";
import { ACTIONS, type PlanJson } from "../../model/plan.ts";
import { html, scriptJson } from "../escape.ts";
import type { PlanExtras } from "../json.ts";
import { SIGNS, count, countActions, diagnosticCounts } from "../words.ts";
import { type PageData, type PageDiagnostic, pageData } from "./data.ts";
import { PAGE_SCRIPT } from "./script.ts";
import { PAGE_STYLE } from "./style.ts";

/**
 * The plan as one page that needs nothing else: no network, no other file. Its policy lets run only the script and
 * the style that stand in it, known by their digests; the plan itself is data, which the script shows as text.
 */
export function renderPlanHtml(plan: PlanJson, extras: PlanExtras): string {
  const data = pageData(plan, extras);
  const title = `tasc plan for ${plan.stage}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${html(title)}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<a class="skip" href="#changes">To the changes</a>
<header>
<h1>${html(title)}</h1>
<p class="faint">${html([plan.baseUrl, plan.tool, plan.createdAt].join(" · "))}</p>
${countsList(plan)}
</header>
<main>
${diagnosticSection(plan, data)}
<section aria-labelledby="changes-title">
<h2 id="changes-title">Changes</h2>
${filterForm(data)}
<p id="status" role="status" class="faint"></p>
<div id="changes" tabindex="-1"></div>
<button id="more" type="button" hidden>Show more</button>
<noscript><p>The changes are shown by a script, which this reader does not run.</p></noscript>
</section>
${graphSection(plan, extras)}
${orphanSection(data)}
</main>
<script type="application/json" id="plan">${scriptJson(JSON.stringify(data))}</script>
<script>${PAGE_SCRIPT}</script>
</body>
</html>
`;
}

function digest(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

const POLICY = [
  "default-src 'none'",
  `script-src ${digest(PAGE_SCRIPT)}`,
  `style-src ${digest(PAGE_STYLE)}`,
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

function countsList({ summary }: PlanJson): string {
  const { create, update, rediscover, disable, unchanged, orphaned, unmanaged, calls } = summary;
  const counts = { create, update, rediscover, disable, unchanged, orphaned, unmanaged, ...calls };
  const items = Object.entries(counts).map(
    ([name, amount]) => `<li class="${name}"><b>${amount}</b>${name}</li>`,
  );
  return `<ul class="counts" aria-label="Summary">${items.join("")}</ul>`;
}

/** More warnings than these are folded away, so that the changes stay in sight. */
const MOST_WARNINGS = 3;

function diagnosticSection(plan: PlanJson, { diagnostics }: PageData): string {
  if (diagnostics.length === 0) return "";
  const errors = diagnostics.filter(({ severity }) => severity === "error").map(diagnosticItem);
  const warnings = diagnostics.filter(({ severity }) => severity !== "error").map(diagnosticItem);
  const folded =
    warnings.length > MOST_WARNINGS
      ? ["<details><summary>", count(warnings.length, "warning"), "</summary>", ...warnings, "</details>"]
      : warnings;
  return `<section aria-labelledby="problems"><h2 id="problems">${html(diagnosticCounts(plan))}</h2>${[...errors, ...folded].join("\n")}</section>`;
}

function diagnosticItem({ severity, summary, detail, where }: PageDiagnostic): string {
  const name = severity === "error" ? "Error" : "Warning";
  const place = where === "" ? "" : ` <code>${html(where)}</code>`;
  return (
    `<div class="diagnostic ${html(severity)}"><p><strong>${name}:</strong> <span>${html(summary)}</span>${place}</p>` +
    (detail === "" ? "</div>" : `<pre>${html(detail)}</pre></div>`)
  );
}

/** Hidden until the script runs: without it there is nothing to filter. */
function filterForm({ changes }: PageData): string {
  const counts = countActions(changes);
  const actions = ACTIONS.filter((action) => counts[action] > 0).map(
    (action) =>
      `<label class="${action}"><input type="checkbox" name="action" value="${action}">${SIGNS[action]} ${action} (${counts[action]})</label>`,
  );
  return `<form id="filter" role="search" aria-label="Filter changes" hidden>
<input id="search" type="search" name="search" aria-label="Text" placeholder="Filter, press /" autocomplete="off" spellcheck="false">
<fieldset><legend>Action</legend>${actions.join("")}</fieldset>
${choice(
  "kind",
  changes.map(({ kind }) => kind),
)}
${choice(
  "target",
  changes.map(({ target }) => target),
)}
<button id="unfold" type="button">Unfold</button>
<button id="fold" type="button">Fold</button>
<button type="reset">Reset</button>
</form>`;
}

/** A choice among what there is; among one there is none. */
function choice(name: string, values: readonly string[]): string {
  const distinct = [...new Set(values)].toSorted();
  if (distinct.length < 2) return "";
  const options = ["", ...distinct].map(
    (value) => `<option value="${html(value)}">${html(value || `all ${name}s`)}</option>`,
  );
  return `<select name="${name}" aria-label="${name}">${options.join("")}</select>`;
}

function orphanSection({ orphaned }: PageData): string {
  if (orphaned.length === 0) return "";
  const items = orphaned.map(
    ({ address, id }) => `<li><code>${html(address)}</code> <code class="faint">${html(id)}</code></li>`,
  );
  return `<section aria-labelledby="orphans"><h2 id="orphans">Orphaned</h2><p>No manifest declares these any more; the service still has them.</p><ul>${items.join("\n")}</ul></section>`;
}

/** More would be a drawing that nobody can read; each change names what it needs all the same. */
const MOST_NODES = 120;

const COLUMN = 300;
const ROW = 30;
const BOX = { width: 250, height: 22 } as const;
/** Characters of an address that fit a box. */
const FITTING = 35;

interface Node {
  readonly address: string;
  readonly x: number;
  readonly y: number;
}

interface Edge {
  readonly from: string;
  readonly to: string;
}

/** A longer list is read by nobody. */
const MOST_EDGES = 500;

/**
 * What must be done first, as a drawing: a column per step, an arrow from each change to those that wait for it.
 * The list beside it says the same to those who do not see it.
 */
function graphSection(plan: PlanJson, extras: PlanExtras): string {
  const edges = edgesOf(plan, extras);
  if (edges.length === 0) return "";
  return `<section aria-labelledby="order"><h2 id="order">Order</h2>${drawing(edges)}${edgeList(edges)}</section>`;
}

function drawing(edges: readonly Edge[]): string {
  const nodes = placed(edges);
  return nodes.length > MOST_NODES ? "" : svg(nodes, edges);
}

function edgeList(edges: readonly Edge[]): string {
  if (edges.length > MOST_EDGES)
    return `<p>${edges.length} changes wait for another; each says for which.</p>`;
  const items = edges.map(({ from, to }) => `<li>${anchor(to)} after ${anchor(from)}</li>`);
  return `<details><summary>As a list (${edges.length})</summary><ul>${items.join("")}</ul></details>`;
}

function anchor(address: string): string {
  return `<a href="#${html(address)}"><code>${html(address)}</code></a>`;
}

function edgesOf(plan: PlanJson, extras: PlanExtras): readonly Edge[] {
  return plan.changes.flatMap(({ address }) =>
    (extras.dependsOn?.[address] ?? []).map((needed) => ({ from: needed, to: address })),
  );
}

/** A node stands one column to the right of the last that it needs, and as near to its row as others let it. */
function placed(edges: readonly Edge[]): readonly Node[] {
  const columns = [...columnsOf(edges)].toSorted(([, a], [, b]) => a - b);
  const rows = new Map<string, number>();
  const free = new Map<number, number>();
  return columns
    .map(([address, column]) => ({ address, column }))
    .map(({ address, column }) => {
      const least = Math.min(
        ...edges.filter(({ to }) => to === address).map(({ from }) => rows.get(from) ?? 0),
      );
      const row = Math.max(free.get(column) ?? 0, Number.isFinite(least) ? least : 0);
      rows.set(address, row);
      free.set(column, row + 1);
      return { address, x: column * COLUMN, y: row * ROW };
    });
}

function columnsOf(edges: readonly Edge[]): ReadonlyMap<string, number> {
  const columns = new Map<string, number>();
  for (const { from, to } of edges) columns.set(from, 0).set(to, 0);
  // A plan has no circles; should there be one all the same, the bound ends the loop.
  for (let round = 0, moved = true; moved && round < columns.size; round++) {
    moved = false;
    for (const { from, to } of edges) {
      const least = (columns.get(from) ?? 0) + 1;
      if ((columns.get(to) ?? 0) >= least) continue;
      columns.set(to, least);
      moved = true;
    }
  }
  return columns;
}

function svg(nodes: readonly Node[], edges: readonly Edge[]): string {
  const byAddress = new Map(nodes.map((node) => [node.address, node]));
  const width = Math.max(...nodes.map(({ x }) => x)) + BOX.width + 2;
  const height = Math.max(...nodes.map(({ y }) => y)) + BOX.height + 2;
  const lines = edges.map((edge) => line(byAddress.get(edge.from), byAddress.get(edge.to))).join("");
  return (
    `<div class="graph" tabindex="0" role="region" aria-label="Order of the changes"><svg viewBox="-1 -1 ${width} ${height}" width="${width}" height="${height}" aria-hidden="true" focusable="false">` +
    `${lines}${nodes.map(box).join("")}</svg></div>`
  );
}

function box({ address, x, y }: Node): string {
  const text = address.length > FITTING ? `${address.slice(0, FITTING - 1)}…` : address;
  return (
    `<a href="#${html(address)}" tabindex="-1"><title>${html(address)}</title><rect x="${x}" y="${y}" width="${BOX.width}" height="${BOX.height}" rx="5"/>` +
    `<text x="${x + 8}" y="${y + 15}">${html(text)}</text></a>`
  );
}

function line(from: Node | undefined, to: Node | undefined): string {
  if (from === undefined || to === undefined) return "";
  const [x1, y1] = [from.x + BOX.width, from.y + BOX.height / 2];
  const [x2, y2] = [to.x, to.y + BOX.height / 2];
  const middle = (x1 + x2) / 2;
  return `<path d="M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}"/>`;
}
