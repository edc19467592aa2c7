import { contentOf, mergePlans, readPlanFile, type Seal, sealState } from "../app/saved-plan.ts";
import { type Diagnostic } from "../model/diagnostic.ts";
import { EXIT, type ExitCode } from "../model/error.ts";
import { diagnosticJson } from "../render/json.ts";
import { type Context } from "./context.ts";
import { printPlan } from "./print-plan.ts";
import type { OptionsOf } from "./table.ts";

/** `tasc show FILE` and `tasc merge-plans FILE…`: print saved plans again, and say if one is not as it was saved. */
export async function run(
  options: OptionsOf<"show"> | OptionsOf<"merge-plans">,
  context: Context,
): Promise<ExitCode> {
  const { host, console } = context;
  const names = "file" in options ? [options.file] : options.files;
  const shown = [];
  for (const name of names) {
    const file = readPlanFile(name, host);
    const { plan, extras } = contentOf(file);
    // oxlint-disable-next-line no-await-in-loop -- deriving keys takes all of a core
    const marks = MARKS[await sealState(file, options, host)];
    const diagnostics = [...marks.map(diagnosticJson), ...plan.diagnostics];
    const codes = [...marks.map(({ code }) => ({ code })), ...(extras.diagnostics ?? [])];
    shown.push({ plan: { ...plan, diagnostics }, extras: { ...extras, diagnostics: codes } });
  }
  const { plan, extras } = mergePlans(shown);
  await printPlan(plan, extras, options, console);
  return EXIT.done;
}

const MARKS: Readonly<Record<Seal, readonly Diagnostic[]>> = {
  intact: [],
  broken: [
    {
      severity: "error",
      code: "plan-altered",
      summary: "This plan was changed after it was saved",
      detail:
        "It does not match its seal: somebody edited it, or the key that it was sealed with (state.fingerprintKey, else the stage's API key) has changed since. `tasc apply` refuses it.",
    },
  ],
  unknown: [
    {
      severity: "warning",
      code: "plan-not-verified",
      summary: "This plan is not verified",
      detail: "Verifying it requires its project, its stage and the key that it was sealed with.",
    },
  ],
};
