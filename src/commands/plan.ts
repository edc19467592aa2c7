// The parts of Node that calls need are loaded before V8 flags are set (context.ts).
import "node:http";
import "node:tls";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { type Review, type Survey, planMeta, review, survey } from "../app/plan.ts";
import { savePlan } from "../app/saved-plan.ts";
import { type Session, withSession } from "../app/session.ts";
import { surveySnapshot } from "../app/snapshot.ts";
import { PROJECT_FILE } from "../manifest/document.ts";
import { type ProjectFolder, git, ownOf, projectFolder } from "../manifest/files.ts";
import { UNMISTAKABLE, placeholdersIn } from "../manifest/interpolation.ts";
import { readProject, resolveProject } from "../manifest/load.ts";
import { hasErrors } from "../manifest/problem.ts";
import { EXIT, type ExitCode, TascError, invalid } from "../model/error.ts";
import type { Cause, Change } from "../model/plan.ts";
import type { Settings } from "../model/settings.ts";
import { reveal } from "../model/value.ts";
import { type Planned, makePlan } from "../plan/plan.ts";
import { targetOf } from "../model/address.ts";
import { desiredInScope } from "../plan/refresh.ts";
import { guardOf } from "../plan/staleness.ts";
import { failureJson, planJson, writeJson } from "../render/json.ts";
import { redactDiagnostic, redactPlan } from "../render/redact.ts";
import { planLine } from "../render/words.ts";
import { canonicalJson } from "../state/fingerprint.ts";
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
      if (isJson) context.console.document(writeJson(documentOf(reviewed, session, context)));
      else await printReview(reviewed, session, options, context);
      return exitCodeOf(reviewed, detailedExitcode);
    },
    { needsApiKey: snapshot === undefined, texts: false },
  );
}

async function planned(session: Session, options: OptionsOf<typeof OPTIONS>): Promise<Review> {
  const { snapshot, base, overridePolicy } = options;
  const read = await (snapshot === undefined
    ? survey(session, options, base === undefined)
    : surveySnapshot(session, options, snapshot));
  const found = base === undefined ? read : await withCauses(session, read, base);
  return review(session, found, overridePolicy);
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
    const rows = all.map((of) => [
      of.stage,
      "value" in of ? planLine(of.value.reviewed.plan.summary) : of.failure.message,
    ]);
    await console.show({ json: null, text: [[{ headings: ["stage", "plan"], rows }]] });
    for (const of of all)
      if ("value" in of) {
        console.data(`\nStage ${of.stage}\n\n`);
        // oxlint-disable-next-line no-await-in-loop -- they are printed in order
        await printReview(of.value.reviewed, of.value.session, options, context);
      } else console.diagnostics(of.failure.diagnostics, of.failure.source);
  }
  return worstOf(codes);
}

function jsonOf(of: StagePlan, context: Context) {
  if ("failure" in of) return redactedFailure(of.failure, context);
  return { plan: documentOf(of.value.reviewed, of.value.session, context) };
}

/**
 * Returns a plan as data for programs. If it has errors, it also tells what every failure tells.
 */
function documentOf({ plan }: Review, { namedStage }: Session, context: Context) {
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

/**
 * `plan --base REF`: adds the cause to each change, so that reviewers see their own changes first.
 * The manifests of REF are planned against the same live values and the same state. If they declare
 * the same, the change does not come from the manifests: it is either not applied yet or drift.
 */
async function withCauses(session: Session, survey: Survey, ref: string): Promise<Survey> {
  const { desired: declared, settings } = (await projectAt(session, ref)) ?? {};
  const { input, planned } = survey;
  // Test cases of a target that only REF declares are known only if a target of another name was
  // read for it.
  const desired = declared && desiredInScope(declared, input.scope, input.states);
  const base = desired && makePlan({ ...input, desired });
  // Also without state: state that is committed is part of the reviewed change, and the scope may
  // leave out names.
  const whole = { ...input, states: new Map(), strays: [], elsewhere: undefined };
  const stateless = declared && makePlan({ ...whole, desired: declared });
  const known = settings && basisOf(settings) === basisOf(session.settings) ? base : undefined;
  const changes = planned.plan.changes.map((one) => ({
    ...one,
    cause: causeOf(one, planned, known),
  }));
  const matched = base && stateless ? [base.matched, stateless.matched] : ("unreadable" as const);
  const all = { ...planned, plan: { ...planned.plan, changes }, base: matched };
  return { ...survey, planned: { ...all, baseStages: settings?.otherPolicies } };
}

function causeOf(change: Change, planned: Planned, base: Planned | undefined): Cause {
  const isPending = base?.plan.changes.some(({ address }) => address === change.address) === true;
  if (
    base === undefined ||
    !isPending ||
    declaration(change, planned) !== declaration(change, base)
  )
    return "manifest";
  const hands = new Set(change.fields.flatMap(({ changedBy }) => changedBy ?? []));
  return hands.size === 1 && hands.has("service") ? "drift" : "pending";
}

/**
 * Returns the settings that a plan depends on: if REF has others, they cause every change. Must not
 * leave the process.
 */
function basisOf({ baseUrl, apiKey, state, policy: { onRemove = "ignore" } }: Settings): string {
  const { backend, fingerprintKey, options } = state;
  return canonicalJson(
    reveal([baseUrl, apiKey ?? null, backend, fingerprintKey ?? null, options, onRemove]),
  );
}

/**
 * Returns everything declared for an address, with secrets, and its live resource. It must not
 * leave the process.
 */
function declaration({ address }: Change, planned: Planned): string {
  const guard = guardOf(address, [], planned, {
    keyCheck: "",
    of: (_, value) => canonicalJson(value),
  });
  return canonicalJson({
    ...guard,
    target: planned.matched.get(targetOf(address))?.live?.id ?? null,
  });
}

/**
 * Returns the project of a commit for the session's stage; undefined if it is not valid for that
 * stage.
 */
async function projectAt({ root, env, settings, host }: Session, ref: string) {
  // Git prefers a tag, and then a local branch `origin/main`. A pull request can create both, so
  // remote branches come first.
  const [, name = "", rest = ""] = /^([^~^@:]*)(.*)$/s.exec(ref) ?? [];
  const isExact = /^(?:refs\/.*|[A-Z_]*HEAD|[\da-f]{40,})$/.test(name) || rest.startsWith("@{");
  const places = [
    `refs/${name}`,
    `refs/remotes/${name}`,
    `refs/remotes/${name}/HEAD`,
    `refs/heads/${name}`,
  ];
  const isThere = (place: string) =>
    git(root, ["show-ref", "--verify", "--quiet", place]) !== undefined;
  const found = (isExact ? undefined : places.find(isThere)) ?? name;
  const commit = git(root, [
    "rev-parse",
    "--verify",
    "-q",
    "--end-of-options",
    `${found}${rest}^{commit}`,
  ]);
  const prefix = git(root, ["rev-parse", "--show-prefix"]);
  const repository = git(root, ["rev-parse", "--absolute-git-dir"]);
  if (commit === undefined || prefix === undefined || repository === undefined)
    throw invalid(
      "unknown-ref",
      `There is no commit ${ref} in this repository`,
      "--base takes a branch, a tag or a commit. A pipeline may have to fetch it first:\ngit fetch origin BRANCH",
    );
  const folder = mkdtempSync(join(tmpdir(), "tasc-base-"));
  try {
    // A separate index and work tree: those of the repository do not change, and gitattributes in
    // its work tree have no effect on how the files of REF are read.
    const tree = join(folder, "tree");
    const files = join(tree, prefix);
    mkdirSync(files, { recursive: true });
    const own = { GIT_DIR: repository, GIT_WORK_TREE: tree, GIT_INDEX_FILE: join(folder, "index") };
    const isRead = git(files, ["read-tree", commit], own) !== undefined;
    if (!isRead || git(files, ["checkout-index", "--all"], own) === undefined) return undefined;
    const base = await readProject(withOwnFiles(projectFolder(files, env["TASC_TRUST"]), root));
    const resolving = { stage: settings.stage, env, allowMissingSecrets: true, needsApiKey: false };
    const { resolved, problems, secrets } = resolveProject(base, resolving);
    for (const secret of secrets) host.secrets.add(secret);
    // In every stage: a change must not reveal a secret of REF through a variable or through a
    // stage that it adds.
    const named = placeholdersIn([
      base.project?.value ?? null,
      ...base.documents.map(({ value }) => value),
    ]);
    const names = new Set(named.map(({ kind, name }) => kind === "secret" && name));
    for (const [name, value = ""] of Object.entries(env))
      if (names.has(name) && UNMISTAKABLE.test(value)) host.secrets.add(value);
    return hasErrors([...base.problems, ...problems]) ? undefined : resolved;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Takes the files that a job wrote for `${file:…}` from the current work tree, because no commit
 * contains them.
 */
function withOwnFiles(base: ProjectFolder, root: string): ProjectFolder {
  const disk = projectFolder(root);
  const holding = (file: string): ProjectFolder => {
    if (file === PROJECT_FILE || base.follow(file).kind !== "nothing") return base;
    return ownOf(root, [posix.normalize(file)]).size > 0 ? disk : base;
  };
  return {
    ...base,
    read: (file) => holding(file).read(file),
    follow: (path) => holding(path).follow(path),
  };
}
