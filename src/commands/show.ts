import { type Review, placedExtras, planMeta } from "../app/plan.ts";
import { type Seal, contentOf, mergePlans, readPlanFile, sealState } from "../app/saved-plan.ts";
import type { Session } from "../app/session.ts";
import { type Diagnostic, warning } from "../model/diagnostic.ts";
import { EXIT, type ExitCode, type ReadSource } from "../model/error.ts";
import type { PlanJson } from "../model/plan.ts";
import { type PlanFormat, renderPlan, showsPlaces } from "../render/formats.ts";
import { type PlanExtras, diagnosticJson, planExtras, planJson } from "../render/json.ts";
import { redactPlan } from "../render/redact.ts";
import type { Link } from "../render/words.ts";
import type { Console, Context } from "./context.ts";
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
    warning(
      "plan-not-verified",
      "This plan is not verified",
      "Verifying it requires its project, its stage and the key that it was sealed with.",
    ),
  ],
};

interface PrintOptions {
  readonly format?: PlanFormat | undefined;
  /** Characters that a markdown comment may have. */
  readonly budget?: number | undefined;
  readonly link?: readonly Link[];
  readonly verbose: boolean;
}

/** Prints a plan in the format that was asked for. */
export async function printReview(
  { plan }: Review,
  session: Session,
  options: PrintOptions,
  { host, console }: Context,
): Promise<void> {
  const extras = showsPlaces(options.format ?? "text", plan.changes.length)
    ? await placedExtras(plan, session)
    : planExtras(plan);
  await printPlan(planJson(plan, planMeta(host)), extras, options, console, session.source);
}

/** Prints a plan in its public form, a saved one for instance. */
async function printPlan(
  plan: PlanJson,
  extras: PlanExtras,
  { format = "text", budget, link = [], verbose }: PrintOptions,
  console: Console,
  source: ReadSource = () => undefined,
): Promise<void> {
  const { redactor, style, columns: width, screen } = console;
  const text = await renderPlan(format, redactPlan(plan, redactor), extras, {
    style: style.stdout,
    width,
    verbose,
    source,
    links: link.map(({ text: name, url }) => ({ text: redactor.text(name), url: redactor.text(url) })),
    screen,
    budget,
  });
  if (format === "text") console.data(text);
  else console.document(text);
}
