import { count } from "../model/words.ts";
import { defined } from "../model/json.ts";
import { annotationMessage, annotationProperty, markdownText } from "../render/escape.ts";
import { type Block, type Line, type Markup, type View, markup, strong } from "../render/view.ts";
import {
  COLUMNS,
  MOST_NEEDS,
  type Need,
  type StatusOptions,
  countRows,
  nothingNeeded,
  pageOf,
  stripOf,
} from "./status-page.ts";
import { type CaseStatus, type StageStatus, needsOf } from "./status.ts";

/** Renders the status of stages for people, programs, pull requests and as a page. */

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

export function statusView(stages: readonly StageStatus[], options: StatusOptions): View {
  const needs = needsIn(stages);
  const rows = countRows(stages).map((row) =>
    "error" in row
      ? [row.stage, row.error]
      : [row.stage, row.target, ...COLUMNS.map(([key]) => String(row.counts[key]))],
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
        ? [nothingNeeded(stages)]
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
    ...countRows(stages).flatMap((row) =>
      "error" in row
        ? [...words`| ${row.stage} | ${row.error} |`, `${" |".repeat(COLUMNS.length)}\n`]
        : [
            ...words`| ${row.stage} | ${row.target} |`,
            `${COLUMNS.map(([key]) => ` ${row.counts[key]} |`).join("")}\n`,
          ],
    ),
    ...(needs.length === 0 ? words`\n${nothingNeeded(stages)}\n` : ["\n**Needs attention**\n\n"]),
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
