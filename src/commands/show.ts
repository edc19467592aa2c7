import {
  type Seal,
  type Shown,
  contentOf,
  mergePlans,
  readPlanFile,
  sealState,
} from "../app/plan-file.ts";
import { type Diagnostic, warning } from "../model/diagnostic.ts";
import { EXIT, type ReadSource, failed } from "../model/error.ts";
import type { PlanJson } from "../model/plan.ts";
import { renderPlan } from "../render/formats.ts";
import { type PlanExtras, diagnosticJson } from "../render/json.ts";
import { redactPlan } from "../render/redact.ts";
import { type Console, type Context, optimiseLate, tuneFor } from "./context.ts";
import type { OptionsOf } from "./table.ts";

/**
 * `tasc show FILE` and `tasc merge-plans FILE…`: prints saved plans again, and reports any that was
 * changed since.
 */
export async function run(options: OptionsOf<"show"> | OptionsOf<"merge-plans">, context: Context) {
  const { host, console } = context;
  const names = "file" in options ? [options.file] : options.files;
  const shown: Shown[] = [];
  tuneFor(0);
  optimiseLate();
  for (const name of names) {
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

export type PrintOptions = Partial<
  Pick<OptionsOf<"show">, "format" | "budget" | "link" | "verbose">
>;

export async function printPlan(
  plan: PlanJson,
  extras: PlanExtras,
  { format = "text", budget, link = [], verbose = false }: PrintOptions,
  console: Console,
  source: ReadSource = () => undefined,
): Promise<void> {
  const { redactor, style, columns: width, screen } = console;
  const text = await renderPlan(format, redactPlan(plan, redactor), extras, {
    style: style.stdout,
    width,
    verbose,
    source,
    links: link.map(({ text: name, url }) => ({
      text: redactor.text(name),
      url: redactor.text(url),
    })),
    screen,
    budget,
  });
  if (format === "text") console.data(text);
  else console.document(text, format !== "json");
}
