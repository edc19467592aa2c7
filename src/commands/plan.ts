// The parts of Node that calls need are loaded before V8 flags are set (context.ts).
import "node:http";
import "node:tls";
import { withCauses } from "../app/base.ts";
import { type Review, planMeta, review } from "../app/plan.ts";
import { survey } from "../app/survey.ts";
import { savePlan } from "../app/saved-plan.ts";
import { type Session, withSession } from "../app/session.ts";
import { surveySnapshot } from "../app/snapshot-plan.ts";
import { hasErrors } from "../manifest/problem.ts";
import { EXIT, type ExitCode, TascError, invalid } from "../model/error.ts";
import type { Change } from "../model/plan.ts";
import { changeJson, failureJson, planJson, writeJson, writePlan } from "../render/json.ts";
import { joined } from "../render/formats.ts";
import { redactChange, redactDiagnostic, redactPlan } from "../render/redact.ts";
import { NOTHING_TO_DO, isNothing, planLine } from "../render/words.ts";
import type { Context } from "./context.ts";
import { type OfStage, forEachStage, worstOf } from "./each-stage.ts";
import { type OptionsOf, defineCommand } from "./command.ts";
import { SERVICE, MISSING_SECRETS, PLANNING, VERBOSE, PLAN_VIEW } from "./shared-options.ts";
import { duration, flag, text } from "./options.ts";
import { printReview } from "./print-review.ts";

const OPTIONS = {
  ...PLAN_VIEW,
  out: text("--out <file>", "save the plan, for `tasc apply FILE`"),
  expires: duration("--expires <duration>", "how long the saved plan can be applied, e.g. 24h"),
  detailedExitcode: flag("--detailed-exitcode", "exit with 2 when there are changes"),
  base: text(
    "--base <ref>",
    "separate the changes of this branch from those pending at this commit and from drift",
  ),
  allStages: flag("--all-stages", "plan all stages and exit with the most severe exit code"),
  ...PLANNING,
  ...MISSING_SECRETS,
  snapshot: text(
    "--snapshot <file>",
    "plan offline from a file written by `tasc snapshot`; no API key needed",
  ),
  ...VERBOSE,
  ...SERVICE,
};

export const command = defineCommand({
  group: "Review",
  summary: "show what an apply would change",
  examples: {
    "tasc plan": "compare the manifests with the live service",
    "tasc plan --stage production --out plan.json": "save a plan for review",
    "tasc plan --only 'testCase.shop.*' --detailed-exitcode":
      "plan one target's test cases; exit with 2 if any changes",
    "tasc plan --override-policy maxChanges": "allow an intended large change",
  },
  options: OPTIONS,
  run: run,
});

async function run(options: OptionsOf<typeof OPTIONS>, context: Context): Promise<ExitCode> {
  if (options.allStages) return runAll(options, context);
  const { snapshot, out, expires, detailedExitcode } = options;
  return withSession(
    options,
    context.host,
    async (session) => {
      const reviewed = await planned(session, options);
      if (out !== undefined) await savePlan(out, reviewed, session, expires);
      const isJson = options.format === "json";
      if (isJson) printJson(reviewed, session, context);
      else await printReview(reviewed, session, options, context);
      return exitCodeOf(reviewed, detailedExitcode);
    },
    { needsApiKey: snapshot === undefined, texts: false },
  );
}

async function planned(session: Session, options: OptionsOf<typeof OPTIONS>): Promise<Review> {
  const { snapshot, base, overridePolicy } = options;
  const read = await (snapshot === undefined
    ? survey(session, options, base === undefined ? "plan" : "values")
    : surveySnapshot(session, options, snapshot));
  const found = base === undefined ? read : await withCauses(session, read, base);
  return review(session, found, overridePolicy, snapshot === undefined ? "plan" : "offline");
}

function exitCodeOf({ plan }: Review, detailed: boolean): ExitCode {
  if (hasErrors(plan.diagnostics)) return EXIT.failed;
  return detailed && plan.changes.length > 0 ? EXIT.changes : EXIT.done;
}

type StagePlan = OfStage<{ readonly reviewed: Review; readonly session: Session }>;

/**
 * `--all-stages`: prints a table of the stages, then the plan of each. The exit code is the worst
 * one.
 */
async function runAll(options: OptionsOf<typeof OPTIONS>, context: Context): Promise<ExitCode> {
  const { host, console } = context;
  const { format = "text", out, snapshot, stage: only, detailedExitcode } = options;
  if (
    !["text", "json"].includes(format) ||
    out !== undefined ||
    snapshot !== undefined ||
    only !== undefined
  )
    throw invalid(
      "bad-arguments",
      "--all-stages goes with --format text or json, and without --stage, --out and --snapshot",
      "Plan each stage separately instead:\ntasc plan --stage STAGE",
    );
  const work = async (session: Session) => ({ reviewed: await planned(session, options), session });
  const all: readonly StagePlan[] = await forEachStage(options, host, (one) =>
    withSession(one, host, work),
  );
  const codes = all.map((of) =>
    "value" in of ? exitCodeOf(of.value.reviewed, detailedExitcode) : EXIT[of.failure.reason],
  );
  if (format === "json") {
    const stages = all.map((of, at) => ({
      stage: of.stage,
      exitCode: codes[at],
      ...jsonOf(of, context),
    }));
    console.document(writeJson({ stages }));
  } else {
    const rows = all.map((of) => [of.stage, "value" in of ? lineOf(of.value) : of.failure.message]);
    await console.show({ json: null, text: [[{ headings: ["stage", "plan"], rows }]] });
    for (const of of all)
      if ("value" in of) {
        if (isNothing(of.value.reviewed.plan)) continue;
        console.data("\n");
        // oxlint-disable-next-line no-await-in-loop -- they are printed in order
        await printReview(of.value.reviewed, of.value.session, options, context);
      } else console.diagnostics(of.failure.diagnostics, of.failure.source);
  }
  return worstOf(codes);
}

function lineOf({ reviewed: { plan } }: { readonly reviewed: Review }): string {
  return isNothing(plan) ? NOTHING_TO_DO : planLine(plan.summary);
}

function jsonOf(of: StagePlan, context: Context) {
  if ("failure" in of) return redactedFailure(of.failure, context);
  return { plan: documentOf(of.value.reviewed, of.value.session, context) };
}

function printJson({ plan }: Review, session: Session, context: Context): void {
  const { console } = context;
  const around = documentOf({ plan: { ...plan, changes: [] } }, session, context);
  const shown = (change: Change) => redactChange(changeJson(change), console.redactor);
  for (const piece of joined(writePlan(around, plan.changes, shown))) console.document(piece);
}

/**
 * Returns a plan as data for programs. If it has errors, it also tells what every failure tells.
 */
function documentOf({ plan }: Pick<Review, "plan">, { namedStage }: Session, context: Context) {
  const json = redactPlan(planJson(plan, planMeta(context.host)), context.console.redactor);
  if (!hasErrors(plan.diagnostics)) return json;
  const failure = new TascError("failed", plan.diagnostics, undefined, namedStage);
  const { error, next } = redactedFailure(failure, context);
  return { ...json, error, next };
}

function redactedFailure(failure: TascError, { console }: Context) {
  const shown = failure.diagnostics.map((one) => redactDiagnostic(one, console.redactor));
  return failureJson(failure, shown);
}
