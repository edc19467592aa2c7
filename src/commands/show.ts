import {
  type Seal,
  type Shown,
  contentOf,
  mergePlans,
  readPlanFile,
  sealState,
} from "../app/plan-file.ts";
import { type Diagnostic, warning } from "../model/diagnostic.ts";
import { EXIT, type ExitCode, failed } from "../model/error.ts";
import { diagnosticJson } from "../render/json.ts";
import { type OptionsOf, defineCommand } from "./command.ts";
import { type Context, optimiseLate, tuneFor } from "./context.ts";
import { list } from "./options.ts";
import { printPlan } from "./print-plan.ts";
import { PLAN_VIEW, VERBOSE } from "./shared-options.ts";

const OPTIONS = {
  files: list("<file...>", "plans of one stage, saved by `tasc plan --out`"),
  ...PLAN_VIEW,
  ...VERBOSE,
};

export const command = defineCommand({
  group: "Review",
  summary: "print saved plans again, several as one",
  examples: {
    "tasc show plan.json": "print the saved plan again",
    "tasc show plans/*.json --format markdown": "print one comment for the plans of all shards",
  },
  options: OPTIONS,
  run: show,
});

/** Prints saved plans again, as one plan, and reports any that was changed since. */
async function show(
  options: OptionsOf<typeof OPTIONS>,
  { host, console }: Context,
): Promise<ExitCode> {
  const shown: Shown[] = [];
  tuneFor(0);
  tuneFor(1);
  optimiseLate();
  for (const name of options.files) {
    const file = readPlanFile(name, host);
    const { plan, extras } = contentOf(file);
    // oxlint-disable-next-line no-await-in-loop -- deriving keys takes all of a core
    const marks = MARKS[await sealState(file, options, host)];
    const diagnostics = [...marks.map(diagnosticJson), ...plan.diagnostics];
    const codes = [...marks.map(({ code }) => ({ code })), ...(extras.diagnostics ?? [])];
    shown.push({ plan: { ...plan, diagnostics }, extras: { ...extras, diagnostics: codes } });
  }
  const { plan, extras } = shown.reduce(mergePlans);
  await printPlan(plan, extras, options, console);
  return EXIT.done;
}

const MARKS: Readonly<Record<Seal, readonly Diagnostic[]>> = {
  intact: [],
  broken: failed(
    "plan-altered",
    "This plan was changed after it was saved",
    "It does not match its seal: somebody edited it, or the key that it was sealed with (state.fingerprintKey, else the stage's API key) has changed since. `tasc apply` refuses it.",
  ).diagnostics,
  unknown: [
    warning(
      "plan-not-verified",
      "This plan is not verified",
      "Verifying it requires its project, its stage and the key that it was sealed with.",
    ),
  ],
};
