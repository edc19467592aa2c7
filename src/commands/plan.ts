import { type Review, review, survey, surveySnapshot } from "../app/plan.ts";
import { savePlan, toSavedPlan } from "../app/saved-plan.ts";
import { withSession } from "../app/session.ts";
import { EXIT, type ExitCode } from "../model/error.ts";
import { type Context } from "./context.ts";
import { printReview } from "./print-plan.ts";
import { type PlanOptions } from "./table.ts";

/** `tasc plan`: reads manifests, state and service, and shows what an apply would do. It changes nothing. */
export async function run(options: PlanOptions, context: Context): Promise<ExitCode> {
  const { snapshot, out, expires, overridePolicy, detailedExitcode } = options;
  return withSession(
    options,
    context.host,
    async (session) => {
      const found = await (snapshot === undefined
        ? survey(session, options)
        : surveySnapshot(session, options, snapshot));
      const reviewed = await review(session, found, new Set(overridePolicy));
      if (out !== undefined) savePlan(out, await toSavedPlan(reviewed, session), session, expires);
      await printReview(reviewed, session, options, context);
      return exitCodeOf(reviewed, detailedExitcode);
    },
    { apiKey: snapshot === undefined },
  );
}

/** Errors win over changes. */
function exitCodeOf({ plan }: Review, detailed: boolean): ExitCode {
  if (plan.diagnostics.some(({ severity }) => severity === "error")) return EXIT.failed;
  return detailed && plan.changes.length > 0 ? EXIT.changes : EXIT.done;
}
