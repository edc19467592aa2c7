import type { Address } from "./address.ts";
import type { Path } from "./json.ts";
import type { Action, Method } from "./plan.ts";

/** What the client tells while it works: never bodies, headers or queries. */
export type ClientEvent =
  | (OfCall & { readonly kind: "started" })
  | CallFinished
  /** The call will be sent again after a delay, so many times at most. */
  | (OfCall &
      Pick<CallFinished, "status"> & {
        readonly kind: "waiting";
        readonly fault: string;
        readonly attempts: number;
        /** Milliseconds. */
        readonly delay: number;
      })
  /** The service asked for less (429): no call goes out for so many milliseconds, and fewer at a time afterwards. */
  | { readonly kind: "slowed"; readonly pause: number; readonly concurrency: number };

export interface OfCall {
  /** Numbers calls from 1 in the order in which they were first sent; all tries of a call share it. */
  readonly call: number;
  readonly method: "GET" | Method;
  /** From `/apiKey/v3` on, without the query. */
  readonly path: string;
  /** 1 for the first send. */
  readonly attempt: number;
}

export interface CallFinished extends OfCall {
  readonly kind: "finished";
  /** Undefined when there was no answer. */
  readonly status: number | undefined;
  readonly ms: number;
  /** The kind of fault, as the client has it; undefined when it went well. */
  readonly fault: string | undefined;
  /** The service's clock as it answered, for `parseHttpDate`; nothing where it did not say. */
  readonly date?: string | undefined;
}

/** Why a call failed, in words for the user; no secret stands in it. */
export interface Failure {
  readonly summary: string;
  readonly detail: string;
  /** Whether the service can have acted on the call: decides how a creation goes on. */
  readonly acted: "no" | "maybe";
  /** The key was refused or the service cannot be reached: every further call would fare the same. */
  readonly fatal: boolean;
}

/** What an apply tells while it runs. It prints nothing itself. */
export type ApplyEvent =
  | { readonly type: "started"; readonly changes: number }
  | { readonly type: "changeStarted" | "changeDone"; readonly address: Address; readonly action: Action }
  | ({ readonly type: "changeFailed" } & Failed)
  | ({ readonly type: "changeSkipped" } & Skipped)
  /** A creation had no readable answer, so the service is looked at before anything is repeated. */
  | { readonly type: "lookingUp"; readonly address: Address; readonly why: string }
  | { readonly type: "adopted"; readonly address: Address; readonly id: string }
  | { readonly type: "reading"; readonly why: "after creations" | "after generations" | "final check" }
  | { readonly type: "waiting"; readonly unfinished: number };

/** What became of an apply; exit codes and the end report follow from it. */
export interface Outcome {
  readonly done: readonly Address[];
  readonly failed: readonly Failed[];
  readonly skipped: readonly Skipped[];
  /** What was written and reads otherwise at the end. */
  readonly notTaken: readonly { readonly address: Address; readonly paths: readonly Path[] }[];
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

type Skipped = { readonly address: Address; readonly reason: SkipReason };

/** `needs`: what it depends on did not come about. */
export type SkipReason =
  | { readonly kind: "needs"; readonly address: Address }
  | { readonly kind: "interrupted" }
  | { readonly kind: "fatal" };
