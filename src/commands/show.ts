import { contentOf, readPlanFile, type Seal, sealState } from "../app/saved-plan.ts";
import { type Diagnostic } from "../model/diagnostic.ts";
import { EXIT, type ExitCode } from "../model/error.ts";
import { diagnosticJson } from "../render/json.ts";
import { type Context } from "./context.ts";
import { printPlan } from "./print-plan.ts";
import { type ShowOptions } from "./table.ts";

/** `tasc show FILE`: prints a saved plan again, and says if it is not as it was saved. */
export async function run(options: ShowOptions, { host, console }: Context): Promise<ExitCode> {
  const file = readPlanFile(options.file, host);
  const { plan, extras } = contentOf(file);
  const marks = MARKS[await sealState(file, options, host)];
  const diagnostics = [...marks.map(diagnosticJson), ...plan.diagnostics];
  const codes = [...marks.map(({ code }) => ({ code })), ...(extras.diagnostics ?? [])];
  await printPlan({ ...plan, diagnostics }, { ...extras, diagnostics: codes }, options, console);
  return EXIT.done;
}

const MARKS: Readonly<Record<Seal, readonly Diagnostic[]>> = {
  intact: [],
  broken: [
    {
      severity: "error",
      code: "plan-altered",
      summary: "This plan was altered after it was saved",
      detail:
        "It does not fit its seal: somebody edited it, or the key that it was sealed with (state.fingerprintKey, else the stage's API key) has changed since. `tasc apply` refuses it.",
    },
  ],
  unknown: [
    {
      severity: "warning",
      code: "plan-not-verified",
      summary: "This plan is not verified",
      detail:
        "Whether somebody altered it can be told only with its project, its stage and the key that it was sealed with.",
    },
  ],
};
