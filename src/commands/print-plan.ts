import type { ReadSource } from "../model/error.ts";
import type { PlanJson } from "../model/plan.ts";
import { renderPlan } from "../render/formats.ts";
import type { PlanExtras } from "../render/json.ts";
import { redactPlan } from "../render/redact.ts";
import type { Console } from "./context.ts";
import type { Options } from "./options.ts";
import type { VERBOSE, PLAN_VIEW } from "./shared-options.ts";

export type PrintOptions = Partial<Options<typeof PLAN_VIEW & typeof VERBOSE>>;

export async function printPlan(
  plan: PlanJson,
  extras: PlanExtras,
  { format = "text", budget, link = [], verbose = false }: PrintOptions,
  console: Console,
  source: ReadSource = () => undefined,
): Promise<void> {
  const { redactor, style, columns: width, screen } = console;
  const pieces = await renderPlan(format, redactPlan(plan, redactor), extras, {
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
  for (const piece of pieces)
    if (format === "text") console.data(piece);
    else console.document(piece, format !== "json");
}
