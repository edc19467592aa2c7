import type { Address } from "./address.ts";
import type { Diagnostic, Place } from "./diagnostic.ts";
import { type Json, type Path, isArray, mapValues } from "./json.ts";
import { IdOf, type Secret, type Unknown, type Value, isLeafObject } from "./value.ts";

/**
 * The one plan that every output, check and apply reads (design contract, section 3); `PlanJson` is
 * its public form.
 */
export interface Plan {
  readonly stage: string;
  readonly baseUrl: string;
  readonly summary: Summary;
  /** Sorted by address. */
  readonly changes: readonly Change[];
  /** What a reviewer must see; most severe first, then in the order of `ATTENTION_CODES`. */
  readonly attention: readonly Attention[];
  readonly orphaned: readonly Orphan[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * The actions of a change, most severe first. `disable`: it takes a test case out of runs, and may
 * change more. `rediscover`: the service generates the test case again, and more may change.
 * `forget`: state loses the address, and the service is not touched.
 */
export const ACTIONS = ["disable", "rediscover", "create", "update", "forget"] as const;
export type Action = (typeof ACTIONS)[number];

/** How much a row of the attention table matters, most severe first. */
export const ATTENTION_SEVERITIES = ["error", "danger", "caution"] as const;
export type AttentionSeverity = (typeof ATTENTION_SEVERITIES)[number];

/** The rows of the attention table, in display order (design contract, section 3). */
export const ATTENTION_CODES = [
  "stops-running",
  "destination",
  "credentials-sent",
  "checks-less",
  "other-start",
  "generates",
  "likely-duplicate",
  "leaves-management",
  "renamed",
  "policy-loosened",
  "generation-failed",
  "no-steps",
  "secret-in-open",
  "steps-weakened",
  "steps-changed",
  "steps-new",
  "steps-selector",
  "quarantine-over",
  "not-judged",
] as const;
export type AttentionCode = (typeof ATTENTION_CODES)[number];

/** What a plan does, or what it found, that a reviewer must see. */
export interface Attention {
  readonly code: AttentionCode;
  readonly severity: AttentionSeverity;
  /** Changed resources first. */
  readonly addresses: readonly Address[];
  /** The number of addresses. */
  readonly count: number;
  /** One sentence, the same in every format; it names few addresses and counts many per target. */
  readonly text: string;
}

/**
 * A change that weakens a test that still runs: it checks less, or its failure no longer counts.
 */
export type Harm = "assertion lost" | "failure ignored";

/**
 * Sorts changes: the most severe action first, harmful changes first within an action. The sort is
 * stable.
 */
export function bySeverity<
  T extends { readonly action: Action; readonly fields: readonly { readonly harmful?: Harm }[] },
>(changes: readonly T[]): readonly T[] {
  const rank = ({ action, fields }: T): number =>
    2 * ACTIONS.indexOf(action) + (fields.some(({ harmful }) => harmful !== undefined) ? 0 : 1);
  return changes.toSorted((a, b) => rank(a) - rank(b));
}

/**
 * Why a change is planned, in display order: the manifests differ from the base, the base would
 * make it, or drift.
 */
export const CAUSES = ["manifest", "pending", "drift"] as const;
export type Cause = (typeof CAUSES)[number];

export interface Change {
  readonly address: Address;
  readonly action: Action;
  /** Absent for a resource that does not exist yet. */
  readonly id?: string;
  readonly fields: readonly FieldChange[];
  /** The calls that are always sent, in this order. */
  readonly calls: readonly PlannedCall[];
  /**
   * Calls sent only if the service's values differ after generation; not counted in
   * `summary.calls`.
   */
  readonly followUps: readonly PlannedCall[];
  /** Changes that must be done first: the target, an environment, a prerequisite. */
  readonly dependsOn: readonly Address[];
  /** Only with `plan --base`, for display. */
  readonly cause?: Cause;
  /** What the change takes from the steps of a test case, also where the steps are secret. */
  readonly losses?: StepLosses;
}

/** What a change takes from the steps of a test case, as numbers of steps. */
export interface StepLosses {
  /** Assertions removed, with their step or without it. */
  readonly assertions: number;
  /** Removed steps without an assertion. */
  readonly steps: number;
  /** Steps whose `ignoreFailure` is switched on. */
  readonly ignored: number;
  /** Steps that stay and no longer do or check anything. */
  readonly emptied: number;
  /** Whether no step is left that does or checks anything. */
  readonly all: boolean;
}

/** Who changed a field since the last apply, if state can tell. */
export type ChangedBy = "manifest" | "service" | "both";

export interface FieldChange {
  readonly path: Path;
  /** Absent in a creation, for a write-only field, and if sensitive. */
  readonly before?: Json;
  /** Absent for a removed list item, and if sensitive. */
  readonly after?: Json;
  readonly sensitive?: true;
  /** The former position of a list item that moved. */
  readonly movedFrom?: number;
  readonly harmful?: Harm;
  /** For display only. */
  readonly changedBy?: ChangedBy;
}

export type Method = "POST" | "PATCH";

/** A part of a call's path or body: plain data, a secret, or an id that may not be known yet. */
export type BodyValue =
  Value | IdOf | Later | readonly BodyValue[] | { readonly [key: string]: BodyValue };

/**
 * A part of a body that is made when it is read: a page of thousands of changes shows no bodies.
 */
export class Later {
  readonly read: () => BodyValue;

  constructor(read: () => BodyValue) {
    this.read = read;
  }

  toJSON(): BodyValue {
    return this.read();
  }
}

export function isBodyObject(value: BodyValue): value is { readonly [key: string]: BodyValue } {
  if (typeof value !== "object" || value === null || isArray(value)) return false;
  return !isLeafObject(value) && !(value instanceof IdOf) && !(value instanceof Later);
}

/**
 * Converts a part of a body to plain data; most of it is.
 * @param plainLeaf returns the value for a secret or an id
 */
export function plainBody(
  value: BodyValue,
  plainLeaf: (leaf: Secret | Unknown | IdOf) => Json,
): Json {
  if (value instanceof Later) return plainBody(value.read(), plainLeaf);
  if (isPlainBody(value)) return value;
  if (isArray(value)) return value.map((item) => plainBody(item, plainLeaf));
  if (!isBodyObject(value)) return plainLeaf(value);
  return mapValues(value, (part) => plainBody(part, plainLeaf));
}

function isPlainBody(value: BodyValue): value is Json {
  if (isArray(value)) return value.every(isPlainBody);
  if (!isBodyObject(value)) return typeof value !== "object" || value === null;
  for (const key in value) if (!isPlainBody(value[key] ?? null)) return false;
  return true;
}

export interface PlannedCall {
  readonly method: Method;
  /** Path segments from `/apiKey/v3` on, not yet encoded. */
  readonly path: readonly (string | IdOf)[];
  readonly body: { readonly [key: string]: BodyValue };
}

export interface Orphan {
  readonly address: Address;
  readonly id: string;
}

/**
 * The counts of a plan. `calls` are always sent, `followUps` only if the service's values differ
 * after generation. `held` are test cases that are not switched on until their steps are accepted.
 */
export type Summary = Readonly<
  Record<Action | "held" | "unchanged" | "orphaned" | "unmanaged" | "followUps", number>
> & {
  readonly calls: Readonly<Record<Method, number>>;
};

/** The plan as `--format json` prints it and `--out` saves it. */
export interface PlanJson extends Pick<
  Plan,
  "stage" | "baseUrl" | "summary" | "attention" | "orphaned"
> {
  readonly formatVersion: string;
  readonly tool: string;
  readonly createdAt: string;
  readonly changes: readonly ChangeJson[];
  readonly diagnostics: readonly DiagnosticJson[];
}

export interface ChangeJson extends Pick<Change, "address" | "action" | "cause"> {
  /** `(known after apply)` for a resource that does not exist yet. */
  readonly id: string;
  readonly fields: readonly FieldJson[];
  readonly calls: readonly CallJson[];
  readonly followUps: readonly CallJson[];
}

export type FieldJson = Omit<FieldChange, "changedBy">;

export interface CallJson {
  readonly method: Method;
  /** From `/apiKey/v3` on; an unknown id reads `(known after apply)`. */
  readonly path: string;
  readonly body: Json;
}

export interface DiagnosticJson
  extends Pick<Diagnostic, "severity" | "address" | "summary" | "detail">, Partial<Place> {}
