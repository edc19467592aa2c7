import { withCauses } from "./base.ts";
import { planMeta, type Review, review, survey } from "../app/plan.ts";
import { savePlan, toSavedPlan } from "../app/saved-plan.ts";
import { surveySnapshot } from "../app/snapshot.ts";
import { type Session, withSession } from "../app/session.ts";
import { forEachStage, type OfStage, worstOf } from "./stages.ts";
import { EXIT, type ExitCode, stop } from "../model/error.ts";
import { failureJson, planJson, writeJson } from "../render/json.ts";
import { redactDiagnostic, redactPlan } from "../render/redact.ts";
import { planLine } from "../render/words.ts";
import type { Context } from "./context.ts";
import { fitHeapTo } from "./engine.ts";
import { printReview } from "./show.ts";
import type { OptionsOf } from "./table.ts";

/** `tasc plan`: reads manifests, state and service, and shows what an apply would do. It changes nothing. */
export async function run(options: OptionsOf<"plan">, context: Context): Promise<ExitCode> {
  if (options.allStages) return runAll(options, context);
  const { snapshot, out, expires, detailedExitcode } = options;
  return withSession(
    options,
    context.host,
    async (session) => {
      const reviewed = await planned(session, options);
      if (out !== undefined) savePlan(out, await toSavedPlan(reviewed, session), session, expires);
      await printReview(reviewed, session, options, context);
      return exitCodeOf(reviewed, detailedExitcode);
    },
    { apiKey: snapshot === undefined, texts: false, counted: fitHeapTo },
  );
}

async function planned(session: Session, options: OptionsOf<"plan">): Promise<Review> {
  const { snapshot, base, overridePolicy } = options;
  const read = await (snapshot === undefined
    ? survey(session, options, base === undefined)
    : surveySnapshot(session, options, snapshot));
  const found = base === undefined ? read : await withCauses(session, read, base);
  return review(session, found, overridePolicy);
}

/** Errors win over changes. */
function exitCodeOf({ plan }: Review, detailed: boolean): ExitCode {
  if (plan.diagnostics.some(({ severity }) => severity === "error")) return EXIT.failed;
  return detailed && plan.changes.length > 0 ? EXIT.changes : EXIT.done;
}

type StagePlan = OfStage<{ readonly reviewed: Review; readonly session: Session }>;

/** `--all-stages`: a table of the stages, then the plan of each. The exit code is that of the worst. */
async function runAll(options: OptionsOf<"plan">, context: Context): Promise<ExitCode> {
  const { host, console } = context;
  const { format = "text", out, snapshot, stage: only, detailedExitcode } = options;
  const isPrintable = format === "text" || format === "json";
  if (!isPrintable || out !== undefined || snapshot !== undefined || only !== undefined)
    throw stop(
      "invalid",
      "bad-arguments",
      "--all-stages goes with --format text or json, and without --stage, --out and --snapshot",
      "Plan each stage separately instead:\ntasc plan --stage STAGE",
    );
  const work = async (session: Session) => ({ reviewed: await planned(session, options), session });
  const all: readonly StagePlan[] = await forEachStage(options, host, work);
  const codes = all.map((of) =>
    "value" in of ? exitCodeOf(of.value.reviewed, detailedExitcode) : EXIT[of.failure.reason],
  );
  if (format === "json")
    console.document(
      writeJson({
        stages: all.map((of, at) => ({ stage: of.stage, exitCode: codes[at], ...jsonOf(of, context) })),
      }),
    );
  else {
    const rows = all.map((of) => [
      of.stage,
      "value" in of ? planLine(of.value.reviewed.plan.summary) : of.failure.message,
    ]);
    console.show({ json: null, text: [[{ headings: ["stage", "plan"], rows }]] });
    for (const of of all)
      if ("value" in of) {
        console.data(`\nStage ${of.stage}\n\n`);
        // oxlint-disable-next-line no-await-in-loop -- they are printed in order
        await printReview(of.value.reviewed, of.value.session, options, context);
      } else console.diagnostics(of.failure.diagnostics, of.failure.source);
  }
  return worstOf(codes);
}

function jsonOf(of: StagePlan, { host, console }: Context) {
  if ("value" in of)
    return { plan: redactPlan(planJson(of.value.reviewed.plan, planMeta(host)), console.redactor) };
  const { reason, diagnostics } = of.failure;
  return failureJson(
    reason,
    diagnostics.map((one) => redactDiagnostic(one, console.redactor)),
  );
}
