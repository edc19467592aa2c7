import { applyProject } from "../app/apply.ts";
import { readPlanFile, type SavedPlan, withSavedPlan } from "../app/saved-plan.ts";
import { type Session, withSession } from "../app/session.ts";
import { type ExitCode } from "../model/error.ts";
import { openDisplay, sayOutcome } from "./apply-display.ts";
import { type Context } from "./context.ts";
import { optimiseLate } from "./engine.ts";
import { printReview } from "./print-plan.ts";
import { askToApply } from "./question.ts";
import { type ApplyOptions } from "./table.ts";
import { listenForStop } from "./stop.ts";

/** `tasc apply`: plans, asks, and makes the service what the manifests say. */
export async function run(options: ApplyOptions, context: Context): Promise<ExitCode> {
  const { world, console } = context;
  const { file, autoApprove } = options;
  const planFile = file === undefined ? undefined : readPlanFile(file, world);
  const display = openDisplay(console, world);
  const stop = listenForStop(display.stopping);
  const host = {
    ...context.host,
    signal: stop.signal,
    heard(event: Parameters<typeof context.host.heard>[0]) {
      display.heard(event);
      console.heard(event, true);
    },
  };
  const work = async (session: Session, saved?: SavedPlan): Promise<ExitCode> => {
    const applied = await applyProject(
      session,
      { ...options, saved },
      {
        reviewed: (review) => printReview(review, session, options, context),
        approve: async ({ stage }) => {
          if (!autoApprove) await display.aside(() => askToApply(stage, world));
        },
        begins: optimiseLate,
        emit: display.heard,
        stopping: stop.stopping,
        signal: stop.asked,
      },
    );
    display.end();
    sayOutcome(applied, console, { verbose: options.verbose, file });
    return applied.exitCode;
  };
  try {
    if (planFile === undefined) return await withSession(options, host, work);
    return await withSavedPlan(planFile, options, host, work);
  } finally {
    stop.end();
    display.end();
  }
}
