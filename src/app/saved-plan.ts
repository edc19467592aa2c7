import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { isAbsolute, relative, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { git } from "../manifest/files.ts";
import { fault, oneLine } from "../model/diagnostic.ts";
import { TascError, refuseAll, stale } from "../model/error.ts";
import { defined, isObject, parseJson } from "../model/json.ts";
import { guardsOf } from "../plan/staleness.ts";
import { planJson, writeJson } from "../render/json.ts";
import { redactPlan } from "../render/redact.ts";
import { writeWhole } from "../files/output.ts";
import { canonicalJson } from "../state/fingerprint.ts";
import { jobLink } from "../state/lock.ts";
import {
  type PlanFile,
  type Provenance,
  type SavedPlan,
  checkSeal,
  contentOf,
  readPlanFile,
  sealOf,
  stageOf,
} from "./plan-file.ts";
import { type Review, placedExtras, planMeta } from "./plan.ts";
import { type ReviewOptions } from "./survey.ts";
import type { Host, ProjectNeeds, ProjectOptions } from "./project.ts";
import { type PlanRequest, type Session, userName, withSession } from "./session.ts";

export async function toSavedPlan({ plan, survey }: Review, session: Session): Promise<SavedPlan> {
  const { planned, request, input } = survey;
  const { only, exclude, shard = null } = request.scope;
  return {
    plan: redactPlan(planJson(plan, planMeta(session.host)), session.redactor),
    only,
    exclude,
    shard,
    run: [...request.run],
    rediscover: [...request.rediscover],
    targets: Object.fromEntries(
      [...planned.matched].map(([key, { live }]) => [key, live?.id ?? null]),
    ),
    extras: await placedExtras(plan, session),
    guards:
      input.fingerprints === undefined ? {} : guardsOf({ ...planned, plan }, input.fingerprints),
  };
}

export function requestOf({ only, exclude, shard, run, rediscover }: SavedPlan): PlanRequest {
  const scope = { only, exclude, ...(shard && { shard }) };
  return { scope, run: new Set(run), rediscover: new Set(rediscover) };
}

/**
 * Saves a plan, sealed and readable only by its owner, whole or not at all.
 * @param expires milliseconds from now
 */
export async function savePlan(file: string, reviewed: Review, session: Session, expires?: number) {
  const { plan, extras, guards, ...request } = await toSavedPlan(reviewed, session);
  const { redactor, host, settings } = session;
  const made = provenance(session, resolve(host.cwd, file), expires);
  const text = writeJson({ ...plan, apply: { ...request, made, extras, guards } });
  // The seal covers what the file will contain, so it is made last.
  const content = parseJson(redactor.document(text));
  if (!isObject(content)) throw new TypeError("a plan that is not an object");
  // With a snapshot, no service has verified the API key: a manifest could name a password as key,
  // to guess it by the seal.
  const apiKey = reviewed.survey.input.fingerprints && settings.apiKey;
  const sealed = writeJson(defined({ ...content, seal: sealOf(content, { ...settings, apiKey }) }));
  await writeWhole(file, session, "plan-unwritable", async (write) => write(sealed));
}

function provenance(
  { host, env, root, settings }: Session,
  path: string,
  expires?: number,
): Provenance {
  const commit = git(root, ["rev-parse", "HEAD"]);
  const own = relative(root, path);
  const except = own.startsWith("..") || isAbsolute(own) ? [] : [`:(exclude,literal)${own}`];
  const changes = git(root, ["status", "--porcelain", "-uall", "--", ".", ...except]);
  const lifetime = expires ?? settings.policy.planExpiry;
  return defined({
    by: `${userName()}@${hostname()}`,
    job: jobLink(env),
    commit,
    clean: commit === undefined || changes === undefined ? undefined : changes === "",
    expires: lifetime === undefined ? undefined : new Date(host.now() + lifetime).toISOString(),
  });
}

/**
 * Opens the project in the stage of a saved plan, if one is named, and does the work if the plan
 * may be applied there.
 */
export async function withSavedPlan<T>(
  name: string | undefined,
  options: ProjectOptions & ReviewOptions,
  host: Host,
  work: (session: Session, saved?: SavedPlan) => Promise<T>,
  needs?: ProjectNeeds,
): Promise<T> {
  if (name === undefined) return withSession(options, host, work, needs);
  const file = readPlanFile(name, host);
  if (!file.isAsWritten) throw altered(file);
  const stage = stageOf(file);
  try {
    return await withSession({ ...options, stage: options.stage ?? stage }, host, async (session) =>
      work(session, openSaved(file, options, session)),
    );
  } catch (error) {
    const isAltered =
      error instanceof TascError && error.diagnostics.some(({ code }) => code === "unknown-stage");
    throw isAltered && options.stage === undefined ? altered(file) : error;
  }
}

/**
 * Returns the plan in a file, if it may be applied, as far as that can be checked without reading
 * state and service.
 */
export function openSaved(
  file: PlanFile,
  options: ProjectOptions & ReviewOptions,
  session: Session,
): SavedPlan {
  const { settings, redactor } = session;
  const { content } = file;
  const stage = stageOf(file);
  if (options.stage !== undefined && options.stage !== stage)
    throw stale(
      "other-stage",
      `The saved plan is for stage ${stage ?? "(none)"}; --stage does not match`,
      `--stage asks for ${options.stage}.`,
    );
  const now = redactor.text(settings.baseUrl);
  if (typeof content["baseUrl"] === "string" && content["baseUrl"] !== now)
    throw stale(
      "other-service",
      "The saved plan is stale: it was created for another service",
      `  service.baseUrl\n    as reviewed: ${oneLine(content["baseUrl"])}\n    now:         ${now}`,
    );
  if (file.seal === undefined)
    throw stale(
      "plan-unsealed",
      "The saved plan cannot be applied: it is not sealed",
      "It was created without the API key (e.g. from a snapshot) or by an older tasc, or its seal was removed.",
    );
  if (checkSeal(file, settings) !== "intact") throw altered(file);
  const saved = contentOf(file);
  refuseContradiction(options, saved);
  refuseOutdated(saved, session);
  const digest = createHash("sha256").update(canonicalJson(file.seal)).digest("hex").slice(0, 16);
  return { ...saved, digest };
}

function altered({ shown, isAsWritten }: PlanFile): TascError {
  if (!isAsWritten)
    return stale(
      "plan-altered",
      "The saved plan was changed after it was saved",
      `${shown} is not written as tasc writes it, e.g. it repeats a key, so two readers could read it differently.`,
    );
  return stale(
    "plan-altered",
    "The saved plan was changed after it was saved",
    `${shown} does not fit its seal: somebody edited it, or the key that it was sealed with (state.fingerprintKey, else the stage's API key) has changed since.`,
  );
}

/**
 * Refuses a plan that has expired or, if the policy says so, was made from another commit than the
 * current one.
 */
function refuseOutdated({ plan, made }: SavedPlan, { host, settings, root }: Session): void {
  const { planExpiry, sameCommit = false } = settings.policy;
  const byPolicy = planExpiry === undefined ? Infinity : Date.parse(plan.createdAt) + planExpiry;
  const expires = Math.min(
    byPolicy,
    made?.expires === undefined ? Infinity : Date.parse(made.expires),
  );
  if (!(host.now() < expires))
    throw stale(
      "plan-expired",
      `The saved plan expired at ${new Date(expires).toISOString()}`,
      `It was made at ${plan.createdAt}.`,
    );
  const commit = sameCommit ? git(root, ["rev-parse", "HEAD"]) : undefined;
  if (sameCommit && (commit === undefined || commit !== made?.commit))
    throw stale(
      "other-commit",
      "The saved plan was created from another commit",
      `  commit\n    as reviewed: ${made?.commit ?? "none"}\n    now:         ${commit ?? "none"}\n\`policy.sameCommit\` allows a plan only on the commit that it was made from.`,
    );
}

/** Refuses options that contradict the filters of a saved plan, instead of ignoring them. */
function refuseContradiction(options: ReviewOptions, saved: SavedPlan): void {
  const found = (["only", "exclude", "run", "rediscover"] as const).filter((name) => {
    const texts = new Set<string>(options[name]);
    return texts.size > 0 && !isDeepStrictEqual(texts, new Set<string>(saved[name]));
  });
  const otherShard = options.shard !== undefined && !isDeepStrictEqual(options.shard, saved.shard);
  refuseAll(
    [...found, ...(otherShard ? ["shard"] : [])].map((name) =>
      fault(
        "contradicts-plan",
        `--${name} does not match the saved plan`,
        `A saved plan always uses the stage and filters it was created with. Omit the option, or create a plan with it:\ntasc plan --${name} … --out FILE`,
      ),
    ),
  );
}
