import { textOption } from "../cli/options.ts";
import type { Given } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import type { Plan, PlanJson } from "../model/plan.ts";
import { planJson, writeJson } from "../render/json.ts";
import type { Console } from "./console.ts";
import { planMeta } from "./saved-plan.ts";

/** Prints a plan in the format that was asked for. */
export function printPlan(given: Given, console: Console, plan: Plan, world: World): void {
  printPlanJson(given, console, planJson(plan, planMeta(world)));
}

/** Prints a plan in its public form: a saved one, for instance. */
export function printPlanJson(given: Given, console: Console, json: PlanJson): void {
  if (textOption(given, "format") === "json") return console.data(writeJson(json));
  const { summary } = json;
  for (const change of json.changes) console.data(`${change.action} ${change.address}\n`);
  console.data(
    `Plan: ${summary.create} to create, ${summary.update} to update, ${summary.rediscover} to rediscover, ${summary.unchanged} unchanged (${summary.calls.POST} POST, ${summary.calls.PATCH} PATCH)\n`,
  );
}
