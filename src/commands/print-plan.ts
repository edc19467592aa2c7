import { type Review, placedExtras, planMeta } from "../app/plan.ts";
import type { Session } from "../app/session.ts";
import type { Source } from "../model/error.ts";
import type { PlanJson } from "../model/plan.ts";
import { type PlanFormat, formatPlan } from "../render/format-plan.ts";
import { type PlanExtras, planExtras, planJson, writeJson } from "../render/json.ts";
import { redactPlan } from "../render/redact.ts";
import { renderPlanText } from "../render/text.ts";
import type { Console } from "./console.ts";
import type { Context } from "./context.ts";

export interface PrintOptions {
  readonly format?: PlanFormat | undefined;
  /** Characters that a markdown comment may have. */
  readonly budget?: number | undefined;
  readonly verbose: boolean;
}

/** Looking up lines costs a second parse of the manifests, so it is done for those that show them. */
const FORMATS_WITH_PLACES: readonly unknown[] = ["github", "sarif", "junit", "html"];

/** Prints a plan in the format that was asked for. */
export async function printReview(
  { plan }: Review,
  session: Session,
  options: PrintOptions,
  { host, console }: Context,
): Promise<void> {
  const withPlaces = FORMATS_WITH_PLACES.includes(options.format);
  const extras = withPlaces ? await placedExtras(plan, session) : planExtras(plan);
  await printPlan(planJson(plan, planMeta(host)), extras, options, console, session.source);
}

/** Prints a plan in its public form, a saved one for instance. */
export async function printPlan(
  plan: PlanJson,
  extras: PlanExtras,
  { format = "text", budget, verbose }: PrintOptions,
  console: Console,
  source: Source = () => undefined,
): Promise<void> {
  const shown = redactPlan(plan, console.redactor);
  if (format === "json") return console.writer.document(writeJson(shown));
  if (format !== "text") return console.writer.document(await formatPlan(format, shown, extras, budget));
  const { style, columns: width } = console;
  console.data(renderPlanText(shown, extras, { style: style.stdout, width, verbose, source }));
}
