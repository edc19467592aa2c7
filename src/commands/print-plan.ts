import { flagOption, textOption } from "../cli/options.ts";
import type { Given } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import type { Plan, PlanJson } from "../model/plan.ts";
import { planExtras } from "../render/extras.ts";
import type { PlanExtras } from "../render/extras.ts";
import { planJson, writeJson } from "../render/json.ts";
import { renderPlanText } from "../render/text.ts";
import type { Console } from "./console.ts";
import type { Opened } from "./opening.ts";
import { planMeta } from "./saved-plan.ts";

/** Prints a plan in the format that was asked for. */
export function printPlan(given: Given, { console, project }: Opened, plan: Plan, world: World): void {
  const source = (file: string): string | undefined => project.sources.get(file)?.text;
  printPlanJson(given, console, planJson(plan, planMeta(world)), planExtras(plan), source);
}

/** Prints a plan in its public form, a saved one for instance. */
export function printPlanJson(
  given: Given,
  console: Console,
  plan: PlanJson,
  extras: PlanExtras,
  source: (file: string) => string | undefined = () => undefined,
): void {
  if (textOption(given, "format") === "json") return console.data(writeJson(plan));
  const options = {
    style: console.style.stdout,
    width: console.columns,
    verbose: flagOption(given, "verbose"),
    source,
  };
  console.data(renderPlanText(plan, extras, options));
}
