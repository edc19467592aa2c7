import type { LockInfo } from "./lock-info.ts";

/** Names a document: one per stage and target. */
export interface StateKey {
  readonly stage: string;
  /** The target's key. */
  readonly target: string;
}

/** A document as a reader expects it. */
export interface DocumentKey extends StateKey {
  /** Base address of the service that the ids are to belong to. */
  readonly service: string;
}

/**
 * Everything that can stand between an apply and its state; `explainProblem` words it. `where` names the file,
 * the row or the address, without credentials.
 */
export type StateProblem =
  /** Not a document of ours, or a damaged one. */
  | { readonly kind: "corrupt"; readonly where: string; readonly reason: string }
  /** Git left its conflict markers, or both sides' lines. */
  | { readonly kind: "conflicted"; readonly where: string; readonly line: number }
  /** Written by a later tasc. */
  | {
      readonly kind: "newer";
      readonly where: string;
      readonly version: number;
      readonly understood: number;
    }
  /** The document of another stage or target stands in this place. */
  | {
      readonly kind: "misplaced";
      readonly where: string;
      readonly expected: StateKey;
      readonly found: StateKey;
    }
  | {
      readonly kind: "other-service";
      readonly where: string;
      readonly expected: string;
      readonly found: string;
    }
  /** A journal of an interrupted run whose document was replaced since by something else. */
  | { readonly kind: "stranded-journal"; readonly where: string; readonly journal: string }
  /** Somebody else holds the lock; `holder` is absent where the backend cannot tell. */
  | { readonly kind: "locked"; readonly key: StateKey; readonly holder?: LockInfo }
  /** The lock was ours and is no more, so nothing was written. */
  | { readonly kind: "lock-lost"; readonly key: StateKey; readonly reason: string }
  /** Somebody else wrote since it was read, so nothing was written. */
  | { readonly kind: "changed"; readonly where: string }
  /** The file system, the database or the server failed. */
  | { readonly kind: "failed"; readonly where: string; readonly reason: string }
  /** `state:` of the project does not fit its backend. */
  | { readonly kind: "misconfigured"; readonly reason: string };

/** What was asked for, or why it could not be had. */
export type Result<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: StateProblem };

export function success<T>(value: T): Result<T> {
  return { ok: true, value };
}

export function refusal(problem: StateProblem): { readonly ok: false; readonly problem: StateProblem } {
  return { ok: false, problem };
}

/**
 * Thrown where going on unawares would do harm: an apply that could not record what it is about to send must
 * not send it.
 */
export class StateFailure extends Error {
  override readonly name = "StateFailure";
  readonly problem: StateProblem;

  constructor(problem: StateProblem) {
    super(`state: ${problem.kind}`);
    this.problem = problem;
  }
}
