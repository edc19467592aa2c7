import { type Review, placedExtras, planMeta } from "../app/plan.ts";
import type { Session } from "../app/session.ts";
import type { ReadSource } from "../model/error.ts";
import type { PlanJson } from "../model/plan.ts";
import { type PlanFormat, renderPlan, showsPlaces } from "../render/formats.ts";
import { type PlanExtras, planExtras, planJson } from "../render/json.ts";
import { redactPlan } from "../render/redact.ts";
import type { Link } from "../render/words.ts";
import type { Console } from "./context.ts";
import type { Context } from "./context.ts";

export interface PrintOptions {
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
export async function printPlan(
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
