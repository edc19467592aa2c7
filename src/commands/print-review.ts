import "node:http";
import "node:tls";
import { type Review, placedExtras, planMeta } from "../app/plan.ts";
import type { Session } from "../app/session.ts";
import { showsCalls, showsPlaces } from "../render/formats.ts";
import { planExtras, planJson } from "../render/json.ts";
import type { Context } from "./context.ts";
import { type PrintOptions, printPlan } from "./print-plan.ts";

export async function printReview(
  { plan }: Review,
  session: Session,
  options: PrintOptions,
  { host, console }: Context,
): Promise<void> {
  const { format = "text" } = options;
  const extras = showsPlaces(format, plan.changes.length)
    ? await placedExtras(plan, session)
    : planExtras(plan);
  const shown = planJson(plan, planMeta(host), showsCalls(format, plan.changes.length));
  await printPlan(shown, extras, options, console, session.source);
}
