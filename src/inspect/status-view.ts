import { createHash } from "node:crypto";
import type { Place } from "../model/diagnostic.ts";
import { groupBy } from "../model/collections.ts";
import { count } from "../model/words.ts";
import { defined } from "../model/json.ts";
import { annotationMessage, annotationProperty, html, markdownText } from "../render/escape.ts";
import { PAGE_STYLE } from "../render/html/style.ts";
import { type Block, type Line, type Markup, type View, markup, strong } from "../render/view.ts";
import { type CaseStatus, type Counts, type StageStatus, needsOf } from "./status.ts";

/** Renders the status of stages for people, programs, pull requests and as a page. */

export interface StatusOptions {
  /** ISO 8601. */
  readonly createdAt: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const COLUMNS = [
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

/** One sign for each result, so that nothing is told by colour alone. */
function stripOf(one: CaseStatus): string {
  return one.results
    .map(({ status }) => (status === "PASSED" ? "." : status === "FAILED" ? "F" : "s"))
    .join("");
}

interface Need {
  readonly stage: string;
  readonly one: CaseStatus;
  readonly why: readonly string[];
}

/** Returns what needs somebody, the most harmful first. */
function needsIn(stages: readonly StageStatus[]): readonly Need[] {
  const ranked = stages.flatMap(({ stage, targets }) =>
    targets.flatMap(({ testCases }) =>
      testCases.flatMap((one) => {
        const why = needsOf(one);
        return why.length === 0 ? [] : [{ stage, one, why }];
      }),
    ),
  );
  const rank = ({ why: [first = ""] }: Need): number =>
    ORDER.findIndex((words) => first.startsWith(words));
  return ranked.toSorted((a, b) => rank(a) - rank(b));
}

const ORDER = [
  "its quarantine ended",
  "it fails",
  "it runs",
  "it has no",
  "its steps",
  "it was changed",
];

/** Longest list of what needs somebody; the rest is counted. */
const MOST_NEEDS = 100;

export function statusView(stages: readonly StageStatus[], options: StatusOptions): View {
  const needs = needsIn(stages);
  const rows = stages.flatMap(({ stage, error, targets }) =>
    error === undefined
      ? targets.map(({ target, counts }) => [
          stage,
          target,
          ...COLUMNS.map(([key]) => String(counts[key])),
        ])
      : [[stage, error]],
  );
  const headings = ["STAGE", "TARGET", ...COLUMNS.map(([, words]) => words.toUpperCase())];
  const left = needs.length - MOST_NEEDS;
  return {
    json: {
      stages: stages.map(({ stage, error, targets }) => ({
        stage,
        error,
        targets: targets.map(({ target, counts, testCases }) => ({
          target,
          counts,
          testCases: testCases.map((one) => ({
            address: one.address,
            runs: one.runs === "on",
            results: one.results.map(({ status }) => status),
            lastAt: lastAt(one),
            quarantine: one.quarantine && quarantineJson(one.quarantine),
            steps: one.steps,
          })),
        })),
      })),
    },
    text: [
      [{ headings, rows }],
      needs.length === 0
        ? ["Nothing needs attention."]
        : [
            [strong("Needs attention")],
            ...needs
              .slice(0, MOST_NEEDS)
              .map(({ stage, one, why }): Line => [
                `  ${stage}  `,
                strong(one.address),
                `  ${why.join(", ")}  ${stripOf(one)}`,
              ]),
            ...(left > 0 ? [`  and ${count(left, "more test case")}`] : []),
          ],
    ] satisfies readonly (readonly Block[])[],
    documents: {
      markdown: markdownOf(stages, needs),
      github: annotationsOf(stages, needs),
      html: pageOf(stages, needs, options),
    },
  };
}

function lastAt({ results: [newest] }: CaseStatus): string | undefined {
  return newest === undefined || newest.at === 0 ? undefined : new Date(newest.at).toISOString();
}

function quarantineJson({ until, reason, issue, owner }: NonNullable<CaseStatus["quarantine"]>) {
  return { until, reason, ...defined({ issue, owner }) };
}

const words = markup(markdownText);

function markdownOf(stages: readonly StageStatus[], needs: readonly Need[]): Markup {
  const left = needs.length - MOST_NEEDS;
  return [
    `| stage | target | ${COLUMNS.map(([, name]) => name).join(" | ")} |\n`,
    `| --- | --- |${" ---: |".repeat(COLUMNS.length)}\n`,
    ...stages.flatMap(({ stage, error, targets }) =>
      error === undefined
        ? targets.flatMap(({ target, counts }) => [
            ...words`| ${stage} | ${target} |`,
            `${COLUMNS.map(([key]) => ` ${counts[key]} |`).join("")}\n`,
          ])
        : [...words`| ${stage} | ${error} |`, `${" |".repeat(COLUMNS.length)}\n`],
    ),
    needs.length === 0 ? "\nNothing needs attention.\n" : "\n**Needs attention**\n\n",
    ...needs
      .slice(0, MOST_NEEDS)
      .flatMap(({ stage, one, why }) => words`- ${stage} ${one.address}: ${why.join(", ")}\n`),
    left > 0 ? `- and ${count(left, "more test case")}\n` : "",
  ];
}

const property = markup(annotationProperty);
const message = markup(annotationMessage);

/** Annotations at the lines of the manifests, then a line with the counts. */
function annotationsOf(stages: readonly StageStatus[], needs: readonly Need[]): Markup {
  const cases = stages.flatMap(({ targets }) => targets.flatMap(({ testCases }) => testCases));
  const need = needs.length === 1 ? "needs" : "need";
  return [
    ...needs.flatMap(({ stage, one: { address, place }, why }) => [
      "::warning ",
      ...(place === undefined ? [] : property`file=${place.file},line=${place.line},`),
      ...property`title=${`${address} in ${stage}`}::`,
      ...message`${why.join(", ")}\n`,
    ]),
    `${count(cases.length, "test case")} in ${count(stages.length, "stage")}: ${needs.length} ${need} attention\n`,
  ];
}

const page = markup(html);

/** Styles of this page alone; the rest is that of the plan's page. */
const STYLE = `${PAGE_STYLE}
.suite th { font-weight: 400; width: auto; }
.suite thead th, .suite .g th { font-weight: 600; }
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

function pageOf(
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
    ...stages.flatMap(({ stage, error, targets }) =>
      error === undefined
        ? targets.flatMap(({ target, counts }) => [
            ...page`<tr><th scope="row">${stage}<td>${target}`,
            `${COLUMNS.map(([key]) => `<td>${counts[key]}`).join("")}\n`,
          ])
        : [...page`<tr><th scope="row">${stage}<td colspan="${COLUMNS.length + 1}">${error}\n`],
    ),
    "</tbody></table></div></section>\n",
    ...needsSection(needs),
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

function needsSection(needs: readonly Need[]): Markup {
  if (needs.length === 0) return ["<p>Nothing needs attention.</p>\n"];
  const left = needs.length - MOST_NEEDS;
  return [
    '<section aria-labelledby="needs"><h2 id="needs">Needs attention</h2><ul class="needs">\n',
    ...needs
      .slice(0, MOST_NEEDS)
      .flatMap(
        ({ stage, one, why }) =>
          page`<li>${stage} <code>${one.address}</code> <b>${why.join(", ")}</b>\n`,
      ),
    left > 0 ? `<li>and ${count(left, "more test case")}\n` : "",
    "</ul></section>\n",
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
