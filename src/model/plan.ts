import type { Address } from "./address.ts";
import type { Diagnostic, Place } from "./diagnostic.ts";
import { type Json, type Path, isArray } from "./json.ts";
import { IdOf, type Secret, type Unknown, type Value, isLeafObject } from "./value.ts";

/** The one plan that every output, check and apply reads (design contract, section 3); `PlanJson` is its public form. */
export interface Plan {
  readonly stage: string;
  readonly baseUrl: string;
  readonly summary: Summary;
  /** Sorted by address. */
  readonly changes: readonly Change[];
  readonly orphaned: readonly Orphan[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * What a change does, most severe first. `disable`: it takes a test case out of runs, whatever else it changes.
 * `rediscover`: the service generates again, whatever else changes with it.
 */
export const ACTIONS = ["disable", "rediscover", "create", "update"] as const;
export type Action = (typeof ACTIONS)[number];

/** What makes a test weaker while it still runs: it checks less, or its failure no longer counts. */
export type Harm = "assertion lost" | "failure ignored";

/** The most severe first, and of one action what is harmful; among equals the order stays. */
export function bySeverity<
  T extends { readonly action: Action; readonly fields: readonly { readonly harmful?: Harm }[] },
>(changes: readonly T[]): readonly T[] {
  const rank = ({ action, fields }: T): number =>
    2 * ACTIONS.indexOf(action) + (fields.some(({ harmful }) => harmful !== undefined) ? 0 : 1);
  return changes.toSorted((a, b) => rank(a) - rank(b));
}

/**
 * Why a change is planned, against a base (`plan --base`): the manifests differ from it, it would make the change itself, or
 * the service differs from the last apply. In the order in which they are shown.
 */
export const CAUSES = ["manifest", "pending", "drift"] as const;
export type Cause = (typeof CAUSES)[number];

export interface Change {
  readonly address: Address;
  readonly action: Action;
  /** Absent for what is yet to be made. */
  readonly id?: string;
  readonly fields: readonly FieldChange[];
  /** Certain to be sent, in this order. */
  readonly calls: readonly PlannedCall[];
  /** Sent only if the service's own values differ once it has generated; not counted. */
  readonly followUps: readonly PlannedCall[];
  /** Changes that must be done first: the target, an environment, a prerequisite. */
  readonly dependsOn: readonly Address[];
  /** With `plan --base` alone, for display. */
  readonly cause?: Cause;
}

/** Who moved a field away from what was last applied, where state can tell. */
export type ChangedBy = "manifest" | "service" | "both";

export interface FieldChange {
  readonly path: Path;
  /** Absent in a creation, for a write-only field, and where it is sensitive. */
  readonly before?: Json;
  /** Absent for a list item that goes, and where it is sensitive. */
  readonly after?: Json;
  readonly sensitive?: true;
  /** Of a list item that stays and changes its place: its position before. */
  readonly movedFrom?: number;
  readonly harmful?: Harm;
  /** For display only. */
  readonly changedBy?: ChangedBy;
}

export type Method = "POST" | "PATCH";

/** A part of a call's path or body: plain data, a secret by name, or an id by address. */
export type BodyValue = Value | IdOf | readonly BodyValue[] | { readonly [key: string]: BodyValue };

/** A part of a body as plain data. @param plainLeaf what stands for a secret and for an id */
export function plainBody(value: BodyValue, plainLeaf: (leaf: Secret | Unknown | IdOf) => Json): Json {
  if (isLeafObject(value) || value instanceof IdOf) return plainLeaf(value);
  if (isArray(value)) return value.map((item) => plainBody(item, plainLeaf));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, plainBody(part, plainLeaf)]));
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

/** `followUps` are sent only where the service's own values differ after it has generated; `calls` are certain to be sent. */
export type Summary = Readonly<
  Record<Action | "unchanged" | "orphaned" | "unmanaged" | "followUps", number>
> & {
  readonly calls: Readonly<Record<Method, number>>;
};

/** The plan as `--format json` prints it and `--out` saves it. */
export interface PlanJson extends Pick<Plan, "stage" | "baseUrl" | "summary" | "orphaned"> {
  readonly formatVersion: string;
  readonly tool: string;
  readonly createdAt: string;
  readonly changes: readonly ChangeJson[];
  readonly diagnostics: readonly DiagnosticJson[];
}

export interface ChangeJson extends Pick<Change, "address" | "action" | "cause"> {
  /** `(known after apply)` for what is yet to be made. */
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
