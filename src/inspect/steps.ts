import { STEPS_SAYS, STEPS_STATES, type StepDifference, type StepsState } from "../model/steps.ts";
import { type ReviewedCase, lineOf } from "../plan/steps.ts";
import { markdownBlock, markdownCode } from "../render/escape.ts";
import type { Block, Line, Section, StyledText, View } from "../render/view.ts";
import { faint, markup, strong } from "../render/view.ts";
import { nonZero } from "../model/words.ts";
import { byTarget } from "../render/words.ts";

/** The file of accepted steps, and the commit that changed it last; without one, it is not in git. */
export interface AcceptedIn {
  readonly file: string;
  /** ISO 8601. */
  readonly at?: string;
  readonly commit?: string;
}

export function acceptedText({ file, at, commit }: AcceptedIn): string {
  const when = commit === undefined ? "not committed yet" : `commit ${commit} of ${at}`;
  return `accepted in ${file}, ${when}`;
}

/** What the counts of the states are called. */
const COUNTS: Readonly<Record<StepsState, string>> = {
  accepted: "accepted",
  weakened: "weakened",
  changed: "changed",
  selectorOnly: "with other selectors",
  notAccepted: "not accepted",
  withoutSteps: "without steps",
  generating: "not generated yet",
};

/** The worst first, after those that need nothing. */
const ORDER: readonly StepsState[] = [
  "accepted",
  "weakened",
  "changed",
  "selectorOnly",
  "notAccepted",
  "withoutSteps",
  "generating",
];

const SIGNS: Readonly<Record<StepsState, StyledText>> = {
  accepted: " ",
  weakened: { style: "disable", text: "!" },
  changed: { style: "update", text: "~" },
  selectorOnly: { style: "update", text: "~" },
  notAccepted: { style: "create", text: "+" },
  withoutSteps: { style: "faint", text: "·" },
  generating: { style: "faint", text: "·" },
};

/** Shows how the steps of test cases are; with `verbose` also all steps in words. */
export function stepsView(
  cases: readonly ReviewedCase[],
  { stage, verbose }: { readonly stage: string; readonly verbose: boolean },
): View {
  const shown = cases.map((one) => ({ ...one, address: one.resource.address }));
  return {
    json: {
      stage,
      summary: Object.fromEntries(
        STEPS_STATES.map((state) => [state, countOf(cases, state)] as const),
      ),
      testCases: shown.map(({ address, acceptance: { state, differences, steps = [] } }) => ({
        address,
        state,
        differences: differences.map((one) => ({ ...one })),
        ...(verbose ? { steps: steps.map(lineOf) } : {}),
      })),
    },
    text:
      cases.length === 0
        ? [["No generated steps: every test case declares its elements, or none is live."]]
        : [...byTarget(shown)].map(([target, own]): Section => [
            [strong(target), "  ", totals(own)],
            ...own.flatMap((one) => caseBlocks(one, verbose)),
          ]),
    documents: { markdown: markdown(shown, verbose) },
  };
}

type Shown = ReviewedCase & { readonly address: ReviewedCase["resource"]["address"] };

function countOf(cases: readonly ReviewedCase[], state: StepsState): number {
  return cases.filter(({ acceptance }) => acceptance.state === state).length;
}

function totals(cases: readonly ReviewedCase[]): string {
  const counts = ORDER.map((state) => `${countOf(cases, state)} ${COUNTS[state]}`);
  return nonZero(...counts).join(", ");
}

function caseBlocks({ address, acceptance }: Shown, verbose: boolean): readonly Block[] {
  const { state, note, steps = [], differences } = acceptance;
  if (state === "accepted" && !verbose) return [];
  const head: Line = [
    SIGNS[state],
    " ",
    strong(address),
    `  ${STEPS_SAYS[state]}`,
    ...(note === undefined ? [] : [faint(` (${note})`)]),
  ];
  const lines = [
    ...differences.map((one) => differenceLine(one, verbose)),
    ...(verbose ? steps.map((step, at): Line => [faint(`${at + 1}  `), lineOf(step)]) : []),
  ];
  return [{ indent: 2, blocks: [head, { indent: 4, blocks: lines }] }];
}

const KIND_SIGNS: Readonly<Record<StepDifference["kind"], StyledText>> = {
  removed: { style: "disable", text: "-" },
  added: { style: "create", text: "+" },
  changed: { style: "update", text: "~" },
};

function differenceLine(difference: StepDifference, verbose: boolean): Line {
  const { kind, step } = difference;
  return [
    KIND_SIGNS[kind],
    ` ${step}  ${clipped(words(difference), verbose)}`,
    ...classOf(difference),
  ];
}

function words({ before, after }: StepDifference): string {
  return [before, after].filter((side) => side !== undefined).join(" → ");
}

function classOf({ class: weight, kind }: StepDifference): readonly StyledText[] {
  if (weight === "selector") return [faint("  selector only")];
  return weight === "weakened" && kind === "changed" ? [faint("  weakened")] : [];
}

const LONGEST = 300;

function clipped(line: string, verbose: boolean): string {
  return verbose || line.length <= LONGEST ? line : `${line.slice(0, LONGEST - 1)}…`;
}

const code = markup(markdownCode);
const block = markup((text) => markdownBlock(text, "diff"));

function markdown(cases: readonly Shown[], verbose: boolean) {
  const open = cases.filter(({ acceptance: { state } }) => verbose || state !== "accepted");
  return [
    `### Steps\n\n${totals(cases)}\n`,
    ...open.flatMap(({ address, acceptance: { state, differences, steps = [] } }) => {
      const lines = [
        ...differences.flatMap(({ before, after, step }) => [
          ...(before === undefined ? [] : [`- ${step}  ${clipped(before, verbose)}`]),
          ...(after === undefined ? [] : [`+ ${step}  ${clipped(after, verbose)}`]),
        ]),
        ...(verbose ? steps.map((step, at) => `  ${at + 1}  ${lineOf(step)}`) : []),
      ];
      return [
        ...code`\n${address}: `,
        `${STEPS_SAYS[state]}\n`,
        ...(lines.length === 0 ? [] : block`\n${lines.join("\n")}`),
      ];
    }),
  ];
}
