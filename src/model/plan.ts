import type { Address } from "./address.ts";
import type { Diagnostic } from "./diagnostic.ts";
import type { Json, Path } from "./json.ts";
import type { IdOf, IdOfElement, Value } from "./value.ts";

/**
 * The one plan that every output, check and apply reads (design contract, section 3). `PlanJson` below is
 * its public form; what is here beyond that form steers an apply and never leaves the process.
 */
export interface Plan {
  readonly stage: string;
  readonly baseUrl: string;
  readonly summary: Summary;
  /** Sorted by address. */
  readonly changes: readonly Change[];
  readonly orphaned: readonly Orphan[];
  readonly diagnostics: readonly Diagnostic[];
}

export type Action = "create" | "update" | "rediscover" | "disable";

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
  /** For display only. */
  readonly changedBy?: ChangedBy;
}

export type Method = "POST" | "PATCH";

/** A part of a call's path or body: plain data, a secret by name, or an id by address. */
export type BodyValue = Value | IdOf | readonly BodyValue[] | { readonly [key: string]: BodyValue };

export interface PlannedCall {
  readonly method: Method;
  /** Path segments from `/apiKey/v3` on, not yet encoded. */
  readonly path: readonly (string | IdOf | IdOfElement)[];
  readonly body: { readonly [key: string]: BodyValue };
}

export interface Orphan {
  readonly address: Address;
  readonly id: string;
}

export interface Summary {
  readonly create: number;
  readonly update: number;
  readonly rediscover: number;
  readonly unchanged: number;
  readonly orphaned: number;
  readonly unmanaged: number;
  readonly calls: Readonly<Record<Method, number>>;
}

/** The plan as `--format json` prints it and `--out` saves it; keys in this order. */
export interface PlanJson {
  readonly formatVersion: string;
  readonly tool: string;
  readonly stage: string;
  readonly baseUrl: string;
  readonly createdAt: string;
  readonly summary: Summary;
  readonly changes: readonly ChangeJson[];
  readonly orphaned: readonly Orphan[];
  readonly diagnostics: readonly DiagnosticJson[];
}

export interface ChangeJson {
  readonly address: Address;
  readonly action: Action;
  /** `(known after apply)` for what is yet to be made. */
  readonly id: string;
  readonly fields: readonly FieldJson[];
  readonly calls: readonly CallJson[];
  readonly followUps: readonly CallJson[];
}

export interface FieldJson {
  readonly path: Path;
  readonly before?: Json;
  readonly after?: Json;
  readonly sensitive?: true;
}

export interface CallJson {
  readonly method: Method;
  /** From `/apiKey/v3` on; an unknown id reads `(known after apply)`. */
  readonly path: string;
  readonly body: Json;
}

export interface DiagnosticJson {
  readonly severity: Diagnostic["severity"];
  readonly address?: Address;
  readonly summary: string;
  readonly detail: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
}
