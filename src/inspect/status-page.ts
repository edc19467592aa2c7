import { createHash } from "node:crypto";
import { groupBy } from "../model/collections.ts";
import type { Place } from "../model/diagnostic.ts";
import { count } from "../model/words.ts";
import { html } from "../render/escape.ts";
import { PAGE_STYLE } from "../render/html/style.ts";
import { type Markup, markup } from "../render/view.ts";
import type { CaseStatus, Counts, StageStatus } from "./status.ts";

/** The page of `tasc status`, and what it shares with the other formats. */

export interface StatusOptions {
  /** ISO 8601. */
  readonly createdAt: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export const COLUMNS = [
  ["on", "on"],
  ["off", "off"],
  ["draft", "draft"],
  ["quarantined", "in quarantine"],
  ["overdue", "overdue"],
  ["withoutSteps", "without steps"],
  ["notAccepted", "steps not accepted"],
  ["drifted", "drifted"],
  ["unmanaged", "unmanaged"],
  ["failing", "failing"],
] as const satisfies readonly (readonly [keyof Counts, string])[];

/** A line of the table of counts: of a target, or why a stage has no counts. */
export type CountRow = { readonly stage: string } & (
  { readonly target: string; readonly counts: Counts } | { readonly error: string }
);

/** Returns the lines of the table of counts. A stage without any target has one, too. */
export function countRows(stages: readonly StageStatus[]): readonly CountRow[] {
  return stages.flatMap(({ stage, error, targets }): readonly CountRow[] =>
    error !== undefined || targets.length === 0
      ? [{ stage, error: error ?? "no target is declared here" }]
      : targets.map(({ target, counts }) => ({ stage, target, counts })),
  );
}

/** One sign for each result, so that nothing is told by colour alone. */
export function stripOf(one: CaseStatus): string {
  return one.results
    .map(({ status }) => (status === "PASSED" ? "." : status === "FAILED" ? "F" : "s"))
    .join("");
}

export interface Need {
  readonly stage: string;
  readonly one: CaseStatus;
  readonly why: readonly string[];
}

/** What a person is told if no test case needs somebody: it is unknown of a stage that was not read. */
export function nothingNeeded(stages: readonly StageStatus[]): string {
  const unread = stages.filter(({ error }) => error !== undefined).map(({ stage }) => stage);
  return unread.length === 0
    ? "Nothing needs attention."
    : `Nothing needs attention, apart from what was not read: ${unread.join(", ")}.`;
}

/** Longest list of what needs somebody; the rest is counted. */
export const MOST_NEEDS = 100;
/** The page folds what is beyond this many, so that the test cases stay in reach. */
const OPEN_NEEDS = 12;

const page = markup(html);

/** Styles of this page alone; the rest is that of the plan's page. */
const STYLE = `${PAGE_STYLE}
.suite th { font-weight: 400; width: auto; }
.suite thead th, .suite .g th { font-weight: 600; }
.suite thead th, .suite tbody th { overflow-wrap: break-word; }
.suite .g th { padding-top: 1rem; color: var(--faint); }
.suite small { margin-left: .5rem; }
.suite small, .suite small a { color: var(--faint); font-size: .75rem; }
.suite i { font: .8125rem/1.5 ui-monospace, monospace; letter-spacing: .05em; overflow-wrap: anywhere; }
.suite b, .needs b { color: var(--harm); }
.counts { overflow-x: auto; }
.counts th, .counts td { white-space: nowrap; width: auto; }
.needs li { margin: .2rem 0; }
@media (max-width: 48rem) {
  .counts table { display: table; } .counts thead { display: table-header-group; }
  .counts tbody { display: table-row-group; } .counts tr { display: table-row; }
  .counts th, .counts td { display: table-cell; border-top: 1px solid var(--soft); }
  .suite thead { display: none; }
}
`;

const SCRIPT = `"use strict";
const form = document.getElementById("filter");
form.hidden = false;
const rows = [...document.querySelectorAll(".suite tbody tr:not(.g)")];
const bodies = [...document.querySelectorAll(".suite tbody")];
const status = document.getElementById("status");
const filter = () => {
  const text = form.elements.q.value.trim().toLowerCase();
  const only = form.elements.only.value;
  let shown = 0;
  for (const row of rows) {
    const fits = row.textContent.toLowerCase().includes(text) &&
      (only === "" || (only === "F" ? row.querySelector("b") !== null
        : [...row.cells].some((cell) => cell.textContent.startsWith(only) || cell.textContent.includes(" " + only))));
    row.hidden = !fits;
    if (fits) shown++;
  }
  for (const body of bodies) body.hidden = ![...body.rows].some((row) => !row.hidden && !row.classList.contains("g"));
  status.textContent = shown + " of " + rows.length + " test cases";
};
form.addEventListener("input", filter);
form.addEventListener("submit", (event) => event.preventDefault());
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target === form.elements.q) return;
  event.preventDefault();
  form.elements.q.focus();
});
`;

const digest = (text: string) => createHash("sha256").update(text).digest("base64");

/** Renders one file that needs no network and works without JavaScript. */
export function pageOf(
  stages: readonly StageStatus[],
  needs: readonly Need[],
  { createdAt, env }: StatusOptions,
): Markup {
  const labels = stages
    .map(({ stage }, at) => `.suite td:nth-child(${at + 2})::before{content:"${stage}: "}`)
    .join("");
  const style = `${STYLE}@media (max-width: 48rem){${labels}}`;
  const policy = `default-src 'none'; script-src 'sha256-${digest(SCRIPT)}'; style-src 'sha256-${digest(style)}'; base-uri 'none'; form-action 'none'`;
  const cases = stages.flatMap(({ targets }) => targets.flatMap(({ testCases }) => testCases));
  const total = new Set(cases.map(({ address }) => address)).size;
  return [
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Test suite: ${count(total, "test case")}</title>
<style>${style}</style>
</head>
<body>
<a class="skip" href="#suite">To the test cases</a>
<header><h1>Test suite</h1><p class="faint">${count(total, "test case")} in ${count(stages.length, "stage")}, ${createdAt}</p></header>
<main>
<section aria-labelledby="counts"><h2 id="counts">At a glance</h2>
<div class="counts" tabindex="0" role="region" aria-label="Counts by stage and target"><table><thead><tr><th scope="col">stage<th scope="col">target${COLUMNS.map(([, name]) => `<th scope="col">${name}`).join("")}</thead><tbody>
`,
    ...countRows(stages).flatMap((row) =>
      "error" in row
        ? page`<tr><th scope="row">${row.stage}<td colspan="${COLUMNS.length + 1}">${row.error}\n`
        : [
            ...page`<tr><th scope="row">${row.stage}<td>${row.target}`,
            `${COLUMNS.map(([key]) => `<td>${row.counts[key]}`).join("")}\n`,
          ],
    ),
    "</tbody></table></div></section>\n",
    ...needsSection(needs, stages),
    `<section id="suite" tabindex="-1" aria-labelledby="suite-title"><h2 id="suite-title">Test cases</h2>
<form id="filter" hidden><div class="bar"><input type="search" name="q" aria-label="Search test cases" placeholder="Search (/)"><select name="only" aria-label="Show"><option value="">all<option value="F">failing<option value="off">off<option value="draft">draft<option value="quarantine">in quarantine</select></div></form>
<p class="faint">Results, the newest first: <i>.</i> passed, <b>F</b> failed, <i>s</i> any other.</p>
<p id="status" role="status" class="faint">${count(total, "test case")}</p>
<table class="suite"><thead><tr><th scope="col">test case${stages.map(({ stage }) => `<th scope="col">${stage}`).join("")}</thead>
`,
    ...suiteRows(stages, env),
    `</table></section>
</main>
<script>${SCRIPT}</script>
</body>
</html>
`,
  ];
}

function needsSection(needs: readonly Need[], stages: readonly StageStatus[]): Markup {
  if (needs.length === 0) return page`<p>${nothingNeeded(stages)}</p>\n`;
  const lines = ({ stage, one, why }: Need): Markup =>
    page`<li>${stage} <code>${one.address}</code> <b>${why.join(", ")}</b>\n`;
  const [first, rest] = [needs.slice(0, OPEN_NEEDS), needs.slice(OPEN_NEEDS, MOST_NEEDS)];
  const left = needs.length - MOST_NEEDS;
  const folded =
    rest.length === 0
      ? []
      : [
          `</ul><details><summary>${needs.length - OPEN_NEEDS} more</summary><ul class="needs">\n`,
          ...rest.flatMap(lines),
          left > 0 ? `<li>and ${count(left, "more test case")}\n` : "",
          "</ul></details>",
        ];
  return [
    '<section aria-labelledby="needs"><h2 id="needs">Needs attention</h2><ul class="needs">\n',
    ...first.flatMap(lines),
    ...(folded.length === 0 ? ["</ul>"] : folded),
    "</section>\n",
  ];
}

/** Rows by target and folder, with a cell for each stage; closing tags that HTML does not need are left out. */
function suiteRows(
  stages: readonly StageStatus[],
  env: StatusOptions["env"],
): readonly Markup[number][] {
  const byStage = stages.map(
    ({ targets }) =>
      new Map(
        targets.flatMap(({ testCases }) => testCases.map((one) => [one.address, one] as const)),
      ),
  );
  const all = new Map(byStage.flatMap((cases) => [...cases]));
  const groups = groupBy(all.values(), ({ address, folder }) =>
    [address.split(".", 2)[1] ?? "", folder].filter((part) => part !== "").join(" / "),
  );
  const sorted = [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const link = linkOf(env);
  return sorted.flatMap(([title, own]) => [
    ...page`<tbody><tr class="g"><th colspan="${stages.length + 1}">${title}\n`,
    ...own.flatMap((one) => [
      ...page`<tr><th>${one.name}<small>`,
      ...(one.place === undefined ? [] : page`<a href="${link(one.place)}">`),
      ...page`${one.address.slice(one.address.lastIndexOf(".") + 1)}`,
      ...(one.place === undefined ? [] : ["</a>"]),
      "</small>",
      ...byStage.flatMap((cases) => cellOf(cases.get(one.address))),
      "\n",
    ]),
  ]);
}

function cellOf(one: CaseStatus | undefined): Markup {
  if (one === undefined) return ["<td>–"];
  const failure = one.results.find(({ status }) => status === "FAILED");
  const strip = stripOf(one).replaceAll(/F+/g, "<b>$&</b>");
  const { quarantine, overdue } = one;
  const trace = failure?.traceUrl;
  const isOpen = /^https?:\/\//.test(trace ?? "");
  return [
    `<td>${one.runs}${strip === "" ? "" : ` <i>${strip}</i>`}`,
    ...(quarantine === undefined
      ? []
      : page` quarantine ${overdue ? "ended" : "until"} ${quarantine.until}`),
    ...(trace !== undefined && isOpen ? page` <a href="${trace}">trace</a>` : []),
  ];
}

/** Returns where a manifest's line can be read: in the repository of the pipeline, else as a file. */
function linkOf(env: StatusOptions["env"]): (place: Place) => string {
  const { GITHUB_SERVER_URL: hub, GITHUB_REPOSITORY: name, GITHUB_SHA: sha } = env;
  const { CI_PROJECT_URL: lab, CI_COMMIT_SHA: commit } = env;
  const base = hub && name && sha ? `${hub}/${name}/blob/${sha}/` : undefined;
  const other = lab && commit ? `${lab}/-/blob/${commit}/` : "";
  return ({ file, line }) =>
    `${base ?? other}${file.split("/").map(encodeURIComponent).join("/")}#L${line}`;
}
