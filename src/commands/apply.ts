import { applyProject } from "../app/apply.ts";
import { readPlanFile, type SavedPlan, withSavedPlan } from "../app/saved-plan.ts";
import { type Session, withSession } from "../app/session.ts";
import { planMeta } from "../app/plan.ts";
import { planJson } from "../render/json.ts";
import { type ExitCode } from "../model/error.ts";
import { listenForStop, nextSteps, openDisplay, sayOutcome } from "./apply-display.ts";
import { openEventStream } from "./apply-events.ts";
import { type Context, fitHeapTo, optimiseLate } from "./context.ts";
import { askToApply } from "./question.ts";
import { printReview } from "./plan.ts";
import type { OptionsOf } from "./table.ts";

/** `tasc apply`: plans, asks, and makes the service what the manifests say. */
export async function run(options: OptionsOf<"apply">, context: Context): Promise<ExitCode> {
  const { console } = context;
  const { file, autoApprove, verbose } = options;
  const events = options.format === "json" ? openEventStream(context) : undefined;
  const planFile = file === undefined ? undefined : readPlanFile(file, context.host);
  const display = openDisplay(console, context.host.now);
  const stop = listenForStop(() => display.heard({ type: "stopping" }), display.end);
  const host = {
    ...context.host,
    signal: stop.signal,
    heard(event: Parameters<typeof context.host.heard>[0]) {
      display.heard(event);
      console.heard(event, true);
      events?.heard(event);
    },
  };
  const work = async (session: Session, saved?: SavedPlan): Promise<ExitCode> => {
    if (saved !== undefined) events?.planned(saved.plan);
    const applied = await applyProject(
      session,
      { ...options, saved },
      {
        reviewed: async (review) => {
          if (events === undefined) await printReview(review, session, { verbose }, context);
          else events.planned(planJson(review.plan, planMeta(context.host)));
        },
        approve: async ({ stage }) => {
          if (!autoApprove) await display.aside(() => askToApply(stage, context.host));
        },
        begins: optimiseLate,
        emit: (event) => {
          display.heard(event);
          events?.heard(event);
        },
        signal: stop.asked,
      },
    );
    display.end();
    const next = nextSteps(applied, file);
    if (events === undefined) sayOutcome(applied, next, console, verbose);
    else events.result(applied, next);
    return applied.exitCode;
  };
  try {
    if (planFile === undefined)
      return await withSession(options, host, work, { texts: false, counted: fitHeapTo });
    return await withSavedPlan(planFile, options, host, work);
  } finally {
    stop.end();
    display.end();
  }
}
