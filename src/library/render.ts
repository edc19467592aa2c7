import { validate } from "../manifest/schema/generated/plan.js";
import type { PlanJson } from "../model/plan.ts";
import { safeOutput } from "../render/escape.ts";
import { PLAN_FORMATS, type PlanFormatName, isPlanFormat, renderPlan } from "../render/formats.ts";
import { createRedactor } from "../render/redact.ts";
import { PLAIN } from "../render/style.ts";
import { checkOptions } from "./arguments.ts";
import { planInsides } from "./inside.ts";

/** What `render` makes of a plan. */
export const RENDER_FORMATS = Object.keys(PLAN_FORMATS).filter(isPlanFormat);
export type RenderFormat = PlanFormatName;

export interface RenderOptions {
  /** Text only: every change in full. */
  readonly verbose?: boolean;
  /** Text only: columns for running text; 80 unless given. */
  readonly width?: number;
  /** Markdown only: characters that a comment may have; 65536 unless given. */
  readonly budget?: number;
}

/**
 * A plan as `tasc plan --format …` prints it, without colours. It takes any plan in the JSON form, one that was read
 * from a file too; of one that `plan` made it also shows who changed a field and where it is declared.
 * @throws TypeError where it is given no plan, or a format or an option that there is not
 */
export async function render(
  plan: PlanJson,
  format: RenderFormat,
  options: RenderOptions = {},
): Promise<string> {
  checkOptions(options, { verbose: "flag", width: "number", budget: "number" });
  if (!isPlanFormat(format)) throw new TypeError(`There is no format ${JSON.stringify(format)}`);
  const { verbose = false, width = 80, budget } = options;
  const reviewed = planInsides.get(plan);
  if (reviewed === undefined && !validate(plan)) throw new TypeError("This is no plan");
  const extras = reviewed?.saved.extras ?? {};
  const redactor = reviewed?.opened.console.redactor ?? createRedactor([]);
  const source = (file: string): string | undefined => reviewed?.opened.project.sources.get(file)?.text;
  const shown = { style: PLAIN, width, verbose, source, ...(budget === undefined ? {} : { budget }) };
  const text = await renderPlan(format, plan, extras, shown);
  return format === "text" ? safeOutput(redactor.text(text), { colour: false }) : redactor.document(text);
}
