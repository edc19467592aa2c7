import { createHmac, hkdfSync, scryptSync, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { validate } from "../manifest/schema/generated/plan.js";
import { validate as validateApply } from "../manifest/schema/generated/saved-plan.js";
import { type Address, compareAddresses } from "../model/address.ts";
import { oneLine } from "../model/diagnostic.ts";
import { TascError, invalid } from "../model/error.ts";
import { type Json, type JsonObject, isObject, parseJson } from "../model/json.ts";
import type { PlanJson } from "../model/plan.ts";
import type { Settings } from "../model/settings.ts";
import type { Secret } from "../model/value.ts";
import type { Shard } from "../plan/scope.ts";
import type { Guard } from "../plan/staleness.ts";
import { inTableOrder } from "../plan/attention.ts";
import { cached } from "../model/collections.ts";
import { type PlanExtras, writeJson } from "../render/json.ts";
import { isDeeper } from "../service/json-stream.ts";
import { MAX_DEPTH } from "../service/request.ts";
import type { Host, ProjectOptions } from "./project.ts";

/*
 * People approve a saved plan, so it must not be possible to change it unnoticed. It is sealed: an HMAC over its whole
 * content, with a key that people who apply it have, and people who only handle the file do not. Its content is not trusted:
 * calls are made again from manifests and live values (`stale-plan.ts`), and the policy is checked again.
 */

/**
 * A plan with what an apply of it needs; in a file, under `apply`. `scripts/saved-plan-schema.ts`
 * defines it.
 */
export interface SavedPlan {
  readonly plan: PlanJson;
  readonly only: readonly string[];
  readonly exclude: readonly string[];
  readonly shard?: Shard | null;
  readonly run: readonly Address[];
  readonly rediscover: readonly Address[];
  /** Ids of the live targets that the plan was made for, by key; null if a target did not exist. */
  readonly targets: Readonly<Record<string, string | null>>;
  readonly made?: Provenance;
  readonly extras: PlanExtras;
  readonly guards: Readonly<Record<string, Guard>>;
  /** Identifies a saved plan in the history of applies. */
  readonly digest?: string;
}

/** The origin of a plan in a file. */
export interface Provenance {
  readonly by: string;
  readonly job?: string;
  readonly commit?: string;
  readonly clean?: boolean;
  readonly expires?: string;
}

/**
 * Returns the seal of a plan's content; `undefined` without a key.
 * @param content without the seal; the order of its keys counts
 */
export function sealOf(
  content: JsonObject,
  { state, apiKey, stage }: Settings,
): string | undefined {
  const secret = state.fingerprintKeyUnknown ? undefined : (state.fingerprintKey ?? apiKey);
  if (secret === undefined) return undefined;
  const key = cached(sealKeys, secret, () => {
    // People may have chosen the key, and the file allows testing guesses, so each guess must cost
    // tens of milliseconds.
    const strong = scryptSync(secret.reveal(), `tasc plan 1\0${stage}`, 32, {
      N: 2 ** 14,
      r: 8,
      p: 1,
    });
    return Buffer.from(hkdfSync("sha256", strong, "tasc plan", "tasc plan 1: seal", 32));
  });
  return createHmac("sha256", key).update(JSON.stringify(content)).digest("base64url");
}

/** Keys of seals. Each secret belongs to the project of one stage, and its key is freed with it. */
const sealKeys = new WeakMap<Secret, Buffer>();

/** A file that claims to be a saved plan. Its content is not trusted yet. */
export interface PlanFile {
  readonly shown: string;
  readonly content: JsonObject;
  readonly seal: Json | undefined;
  /**
   * Whether the file is, but for white space, what tasc writes for this content. The seal covers
   * the content as this parser reads it: of two equal keys the last. A person, or another program,
   * may believe the first.
   */
  readonly isAsWritten: boolean;
}

export function readPlanFile(file: string, { cwd }: Pick<Host, "cwd">): PlanFile {
  let value: Json;
  let bytes: Buffer;
  try {
    bytes = readFileSync(resolve(cwd, file));
    // Values of a manifest are nested more deeply in a plan.
    if (isDeeper(bytes, 2 * MAX_DEPTH)) throw notSaved(file, "it is nested too deeply");
    value = parseJson(bytes.toString("utf8"));
  } catch (error) {
    if (error instanceof TascError) throw error;
    throw notSaved(
      file,
      error instanceof Error && "code" in error ? "it cannot be read" : "it is not JSON",
    );
  }
  if (!isObject(value)) throw notSaved(file, "it is not a plan");
  const { seal, ...content } = value;
  if (seal === undefined && content["apply"] === undefined)
    throw notSaved(
      file,
      isPlan(content) ? "it was printed by `--format json` and not saved by `--out`" : UNKNOWN,
    );
  const text = bytes.toString("utf8");
  const written = writeJson(value);
  // Usually nobody has touched the file, not even its white space.
  const isAsWritten =
    Buffer.from(text).equals(bytes) &&
    (text === written || withoutSpace(text) === withoutSpace(written));
  return { shown: file, content, seal, isAsWritten };
}

/** Removes white space outside of the strings of a JSON text. */
function withoutSpace(json: string): string {
  return json.replace(/("[^"\\]*(?:\\.[^"\\]*)*")|[ \t\r\n]+/g, "$1");
}

const UNKNOWN = "it is not a plan, or of a version that this tasc does not know";

/**
 * Returns the content of a file, without checking who wrote it.
 * @throws TascError if it is not a plan
 */
export function contentOf(file: PlanFile): SavedPlan {
  const { shown, content } = file;
  if (!isPlan(content)) throw notSaved(shown, UNKNOWN);
  const apply: unknown = file.content["apply"];
  if (!isApply(apply)) throw notSaved(shown, "what an apply needs is missing or damaged");
  const {
    formatVersion,
    tool,
    stage,
    baseUrl,
    createdAt,
    summary,
    changes,
    attention,
    orphaned,
    diagnostics,
  } = content;
  const plan = {
    formatVersion,
    tool,
    stage,
    baseUrl,
    createdAt,
    summary,
    changes,
    attention,
    orphaned,
    diagnostics,
  };
  return { plan, ...apply };
}

export type Shown = Pick<SavedPlan, "plan" | "extras">;

const COUNTED = [
  "create",
  "update",
  "rediscover",
  "disable",
  "forget",
  "held",
  "unchanged",
  "orphaned",
  "unmanaged",
] as const;

/**
 * Merges two plans of one stage, with the changes of both. Plans of shards have no target in
 * common.
 */
export function mergePlans(
  { plan: a, extras: ofA }: Shown,
  { plan: b, extras: ofB }: Shown,
): Shown {
  if (a.stage !== b.stage || a.baseUrl !== b.baseUrl)
    throw invalid(
      "plans-differ",
      "Plans of several stages or services cannot be merged",
      oneLine(`One is for ${a.stage} at ${a.baseUrl}, another for ${b.stage} at ${b.baseUrl}.`),
    );
  const addresses = new Set(a.changes.map(({ address }) => address));
  if (b.changes.some(({ address }) => addresses.has(address)))
    throw invalid(
      "plans-overlap",
      "Two of the plans change the same address",
      "Pass each plan only once.",
    );
  const total = (of: (summary: PlanJson["summary"]) => number): number =>
    of(a.summary) + of(b.summary);
  return {
    plan: {
      ...a,
      createdAt: a.createdAt > b.createdAt ? a.createdAt : b.createdAt,
      summary: {
        ...a.summary,
        ...Object.fromEntries(COUNTED.map((key) => [key, total((summary) => summary[key])])),
        calls: { POST: total(({ calls }) => calls.POST), PATCH: total(({ calls }) => calls.PATCH) },
        followUps: total(({ followUps }) => followUps),
      },
      changes: [...a.changes, ...b.changes].toSorted((x, y) =>
        compareAddresses(x.address, y.address),
      ),
      attention: inTableOrder([...a.attention, ...b.attention]),
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

/** The advice names a different file, because this one may be any file, even tasc.yaml. */
function notSaved(file: string, why: string): TascError {
  return invalid(
    "not-a-plan",
    `${file} is not a saved plan: ${why}`,
    "Save one:\ntasc plan --out plan.json",
  );
}

/** Whether a file is unchanged since it was saved; `unknown` without the key. */
export type Seal = "intact" | "broken" | "unknown";

export function checkSeal({ content, seal, isAsWritten }: PlanFile, settings: Settings): Seal {
  if (!isAsWritten) return "broken";
  const right = sealOf(content, settings);
  if (right === undefined || (seal === undefined && !settings.state.fingerprintKey))
    return "unknown";
  const [a, b] = [Buffer.from(right), Buffer.from(typeof seal === "string" ? seal : "")];
  return a.length === b.length && timingSafeEqual(a, b) ? "intact" : "broken";
}

/**
 * Checks whether a file is unchanged since it was saved; `unknown` if its project cannot be opened.
 */
export async function sealState(
  file: PlanFile,
  options: ProjectOptions,
  host: Host,
): Promise<Seal> {
  // Loads and reads only what gives the key: to show a large plan, nothing else of its project is
  // needed.
  if (!file.isAsWritten) return "broken";
  const { openProject } = await import("./project.ts");
  const needs = { allowMissingSecrets: true, needsApiKey: false, targets: "unread" } as const;
  try {
    const opened = await openProject(
      { ...options, stage: stageOf(file) ?? options.stage },
      host,
      needs,
    );
    return checkSeal(file, opened.project.settings);
  } catch (error) {
    if (error instanceof TascError) return "unknown";
    throw error;
  }
}

export function stageOf({ content: { stage } }: PlanFile): string | undefined {
  return typeof stage === "string" ? stage : undefined;
}

function isPlan(value: Json): value is Json & PlanJson {
  return validate(value);
}

function isApply(value: unknown): value is Omit<SavedPlan, "plan" | "digest"> {
  return validateApply(value);
}
