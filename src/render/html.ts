import { createHash } from "node:crypto";
import type { PlanJson } from "../model/plan.ts";
import { html, scriptJson } from "../output/escape.ts";
import type { PlanExtras } from "./extras.ts";
import { pageData } from "./html/data.ts";
import type { PageData, PageDiagnostic } from "./html/data.ts";
import { graphSection } from "./html/graph.ts";
import { PAGE_SCRIPT } from "./html/page-script.ts";
import { PAGE_STYLE } from "./html/page-style.ts";
import { ACTIONS, countActions, SIGNS } from "./signs.ts";
import { diagnosticCounts } from "./summary.ts";
import { count } from "./words.ts";

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
