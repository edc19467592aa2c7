import { createHash, createHmac, hkdfSync, scryptSync, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { isAbsolute, relative, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { git } from "../manifest/files.ts";
import { validate } from "../manifest/schema/generated/plan.js";
import { validate as validateApply } from "../manifest/schema/generated/saved-plan.js";
import { type Address, compareAddresses } from "../model/address.ts";
import { fault, oneLine } from "../model/diagnostic.ts";
import { TascError, invalid, refuseAll, stop } from "../model/error.ts";
import { type Json, type JsonObject, defined, isObject, parseJson } from "../model/json.ts";
import type { PlanJson } from "../model/plan.ts";
import type { Settings } from "../model/settings.ts";
import type { Secret } from "../model/value.ts";
import type { Shard } from "../plan/input.ts";
import { type Guard, guardsOf } from "../plan/staleness.ts";
import { type PlanExtras, planJson, writeJson } from "../render/json.ts";
import { redactPlan } from "../render/redact.ts";
import { writeWhole } from "../render/output-file.ts";
import { isDeeper } from "../service/json-stream.ts";
import { MAX_DEPTH } from "../service/request.ts";
import { canonicalJson } from "../state/fingerprint.ts";
import { jobLink } from "../state/lock.ts";
import { type Review, type ReviewOptions, placedExtras, planMeta } from "./plan.ts";
import type { Host, ProjectNeeds, ProjectOptions } from "./project.ts";
import { type PlanRequest, type Session, userName, withSession } from "./session.ts";

/*
 * A saved plan is what people approve, so it must not be able to lie. It is sealed: an HMAC over its whole content,
 * under a key that whoever applies it has and whoever merely handles the file has not. And it is not believed: calls
 * are made again from manifests and live values (`stale-plan.ts`), and the policy is judged again.
 */

/**
 * A plan with all that an apply of it needs (design contract, section 3). In a file, what is not the plan stands under
 * `apply`; `scripts/saved-plan-schema.ts` says so to the validator.
 */
export interface SavedPlan {
  readonly plan: PlanJson;
  readonly only: readonly string[];
  readonly exclude: readonly string[];
  readonly shard?: Shard | null;
  readonly run: readonly Address[];
  readonly rediscover: readonly Address[];
  /** Ids of the live targets that it was made for, by key; null for one that was not there. */
  readonly targets: Readonly<Record<string, string | null>>;
  readonly made?: ReturnType<typeof provenance>;
  readonly extras: PlanExtras;
  readonly guards: Readonly<Record<string, Guard>>;
  /** Tells a plan from a file from every other, in the history of applies. */
  readonly digest?: string;
}

export async function toSavedPlan({ plan, survey }: Review, session: Session): Promise<SavedPlan> {
  const { fingerprints } = session;
  const { planned, request } = survey;
  const { only, exclude, shard = null } = request.scope;
  return {
    plan: redactPlan(planJson(plan, planMeta(session.host)), session.redactor),
    only,
    exclude,
    shard,
    run: [...request.run],
    rediscover: [...request.rediscover],
    targets: Object.fromEntries([...planned.matched].map(([key, { live }]) => [key, live?.id ?? null])),
    extras: await placedExtras(plan, session),
    guards: fingerprints === undefined ? {} : guardsOf({ ...planned, plan }, fingerprints),
  };
}

export function requestOf({ only, exclude, shard, run, rediscover }: SavedPlan): PlanRequest {
  const scope = { only, exclude, ...(shard && { shard }) };
  return { scope, run: new Set(run), rediscover: new Set(rediscover) };
}

/** Saves a plan, sealed and readable for its owner alone: whole or not at all. @param expires milliseconds from now */
export async function savePlan(file: string, saved: SavedPlan, session: Session, expires?: number) {
  const { plan, extras, guards, ...request } = saved;
  const { redactor, host, settings } = session;
  const made = provenance(session, resolve(host.cwd, file), expires);
  const text = writeJson({ ...plan, apply: { ...request, made, extras, guards } });
  // The seal is over what the file will hold, so it comes last.
  const content = parseJson(redactor.document(text));
  if (!isObject(content)) throw new TypeError("a plan that is not an object");
  const sealed = writeJson(defined({ ...content, seal: sealOf(content, settings) }));
  await writeWhole(file, session, "plan-unwritable", async (write) => write(sealed));
}

/** Where a plan in a file comes from. */
function provenance({ host, env, root, settings }: Session, path: string, expires?: number) {
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

/** The seal of a plan's content; none without a key. @param content without the seal */
function sealOf(content: JsonObject, { state, apiKey, stage }: Settings): string | undefined {
  const secret = state.fingerprintKeyUnknown ? undefined : (state.fingerprintKey ?? apiKey);
  if (secret === undefined) return undefined;
  let key = sealKeys.get(secret);
  if (key === undefined) {
    // The file must not be a way to try out keys, which people may have chosen: each try costs tens of milliseconds.
    const strong = scryptSync(secret.reveal(), `tasc plan 1\0${stage}`, 32, { N: 2 ** 14, r: 8, p: 1 });
    key = Buffer.from(hkdfSync("sha256", strong, "tasc plan", "tasc plan 1: seal", 32));
    sealKeys.set(secret, key);
  }
  return createHmac("sha256", key).update(canonicalJson(content)).digest("base64url");
}

/** Each belongs to the project of one stage, and goes with it. */
const sealKeys = new WeakMap<Secret, Buffer>();

/** A file that claims to be a saved plan; nothing in it is to be believed yet. */
export interface PlanFile {
  readonly shown: string;
  readonly content: JsonObject;
  readonly seal: Json | undefined;
}

export function readPlanFile(file: string, { cwd }: Pick<Host, "cwd">): PlanFile {
  let value: Json;
  try {
    const bytes = readFileSync(resolve(cwd, file));
    if (isDeeper(bytes, MAX_DEPTH)) throw notSaved(file, "it is nested too deeply");
    value = parseJson(bytes.toString("utf8"));
  } catch (error) {
    if (error instanceof TascError) throw error;
    const missing = error instanceof Error && "code" in error;
    throw notSaved(file, missing ? "it cannot be read" : "it is not JSON");
  }
  if (!isObject(value)) throw notSaved(file, "it is not a plan");
  const { seal, ...content } = value;
  if (seal === undefined && content["apply"] === undefined)
    throw notSaved(
      file,
      isPlan(content) ? "it was printed by `--format json` and not saved by `--out`" : UNKNOWN,
    );
  return { shown: file, content, seal };
}

const UNKNOWN = "it is not a plan, or of a version that this tasc does not know";

/** What a file holds, whoever wrote it. @throws TascError for what is not a plan */
export function contentOf(file: PlanFile): SavedPlan {
  const { shown, content } = file;
  if (!isPlan(content)) throw notSaved(shown, UNKNOWN);
  const apply: unknown = file.content["apply"];
  if (!isApply(apply)) throw notSaved(shown, "what an apply needs is missing or damaged");
  const { formatVersion, tool, stage, baseUrl, createdAt, summary, changes, orphaned, diagnostics } = content;
  const plan = { formatVersion, tool, stage, baseUrl, createdAt, summary, changes, orphaned, diagnostics };
  return { plan, ...apply };
}

export type Shown = Pick<SavedPlan, "plan" | "extras">;

/** Two plans of one stage as one, with what each has: those of shards have no target in common. */
export function mergePlans({ plan: a, extras: ofA }: Shown, { plan: b, extras: ofB }: Shown): Shown {
  if (a.stage !== b.stage || a.baseUrl !== b.baseUrl)
    throw invalid(
      "plans-differ",
      "Plans of several stages or services cannot be merged",
      oneLine(`One is for ${a.stage} at ${a.baseUrl}, another for ${b.stage} at ${b.baseUrl}.`),
    );
  const addresses = new Set(a.changes.map(({ address }) => address));
  if (b.changes.some(({ address }) => addresses.has(address)))
    throw invalid("plans-overlap", "Two of the plans change the same address", "Pass each plan only once.");
  const total = (of: (summary: PlanJson["summary"]) => number): number => of(a.summary) + of(b.summary);
  return {
    plan: {
      ...a,
      createdAt: a.createdAt > b.createdAt ? a.createdAt : b.createdAt,
      summary: {
        create: total(({ create }) => create),
        update: total(({ update }) => update),
        rediscover: total(({ rediscover }) => rediscover),
        disable: total(({ disable }) => disable),
        unchanged: total(({ unchanged }) => unchanged),
        orphaned: total(({ orphaned }) => orphaned),
        unmanaged: total(({ unmanaged }) => unmanaged),
        calls: { POST: total(({ calls }) => calls.POST), PATCH: total(({ calls }) => calls.PATCH) },
        followUps: total(({ followUps }) => followUps),
      },
      changes: [...a.changes, ...b.changes].toSorted((x, y) => compareAddresses(x.address, y.address)),
      orphaned: [...a.orphaned, ...b.orphaned],
      diagnostics: [...a.diagnostics, ...b.diagnostics],
    },
    extras: {
      changedBy: { ...ofA.changedBy, ...ofB.changedBy },
      dependsOn: { ...ofA.dependsOn, ...ofB.dependsOn },
      places: { ...ofA.places, ...ofB.places },
      diagnostics: [...(ofA.diagnostics ?? []), ...(ofB.diagnostics ?? [])],
    },
  };
}

/** The advice names another file: this one may be anything, tasc.yaml itself for one. */
function notSaved(file: string, why: string): TascError {
  return invalid("not-a-plan", `${file} is not a saved plan: ${why}`, "Save one:\ntasc plan --out plan.json");
}

/** Whether a file is as it was saved; `unknown` without the key. */
export type Seal = "intact" | "broken" | "unknown";

function checkSeal({ content, seal }: PlanFile, settings: Settings): Seal {
  const right = sealOf(content, settings);
  if (right === undefined) return "unknown";
  const [a, b] = [Buffer.from(right), Buffer.from(typeof seal === "string" ? seal : "")];
  return a.length === b.length && timingSafeEqual(a, b) ? "intact" : "broken";
}

/** Looks for the project of a saved plan, without needing it, to tell whether the file is as it was saved. */
export async function sealState(file: PlanFile, options: ProjectOptions, host: Host): Promise<Seal> {
  const project = { ...options, stage: stageOf(file) ?? options.stage };
  const needs = { allowMissingSecrets: true, needsApiKey: false, mayBeEmpty: true };
  try {
    return await withSession(project, host, async ({ settings }) => checkSeal(file, settings), needs);
  } catch (error) {
    if (error instanceof TascError) return "unknown";
    throw error;
  }
}

/**
 * Opens the project of a saved plan on the plan's stage, and does the work if the plan may be applied there. Where no
 * file is named, it does the work without one.
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

function stageOf({ content: { stage } }: PlanFile): string | undefined {
  return typeof stage === "string" ? stage : undefined;
}

/** The plan in a file, if it may be applied as far as can be told without reading anything else. */
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

function altered({ shown }: PlanFile): TascError {
  return stale(
    "plan-altered",
    "The saved plan was changed after it was saved",
    `${shown} does not fit its seal: somebody edited it, or the key that it was sealed with (state.fingerprintKey, else the stage's API key) has changed since.`,
  );
}

/** What is reviewed is applied while it is current, and, if the policy says so, from the commit that was reviewed. */
function refuseOutdated({ plan, made }: SavedPlan, { host, settings, root }: Session): void {
  const { planExpiry, sameCommit = false } = settings.policy;
  const byPolicy = planExpiry === undefined ? Infinity : Date.parse(plan.createdAt) + planExpiry;
  const expires = Math.min(byPolicy, made?.expires === undefined ? Infinity : Date.parse(made.expires));
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

export function stale(code: string, summary: string, detail: string): TascError {
  return stop(
    "stale",
    code,
    summary,
    `${detail}\nNothing was applied. Plan again and review that:\ntasc plan --out FILE`,
  );
}

function isPlan(value: Json): value is Json & PlanJson {
  return validate(value);
}

function isApply(value: unknown): value is Omit<SavedPlan, "plan" | "digest"> {
  return validateApply(value);
}

/** A saved plan carries its narrowing: an option that says otherwise is refused, not ignored. */
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
