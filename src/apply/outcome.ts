import type { Address } from "../model/address.ts";
import type { Path } from "../model/json.ts";
import type { Method } from "../model/plan.ts";
import type { Failure } from "./service.ts";

/** What became of an apply; exit codes and the end report follow from it. */
export interface Outcome {
  readonly done: readonly Address[];
  readonly failed: readonly Failed[];
  readonly skipped: readonly Skipped[];
  /** What was written and reads otherwise at the end. */
  readonly notTaken: readonly NotTaken[];
  /** Discoveries that had not finished when the wait ended. */
  readonly unfinished: readonly Address[];
  readonly calls: Readonly<Record<Method, number>>;
  /** A signal ended it before all was tried. */
  readonly interrupted: boolean;
  /** The service could not be read, so nothing is known beyond the above. */
  readonly fatal: Failure | undefined;
}

export interface Failed {
  readonly address: Address;
  readonly failure: Pick<Failure, "summary" | "detail">;
}

export interface Skipped {
  readonly address: Address;
  readonly reason: SkipReason;
}

/** `needs`: what it depends on did not come about. */
export type SkipReason =
  | { readonly kind: "needs"; readonly address: Address }
  | { readonly kind: "interrupted" }
  | { readonly kind: "fatal" };

export interface NotTaken {
  readonly address: Address;
  readonly paths: readonly Path[];
}
