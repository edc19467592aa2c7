import type { Address } from "./address.ts";
import type { Path } from "./json.ts";
import type { Action, Method } from "./plan.ts";

/** The events of the client. They never contain bodies, headers or queries. */
export type ClientEvent =
  | (OfCall & { readonly kind: "started" })
  | CallFinished
  /** The call will be sent again after a delay; `attempts` is the maximum. */
  | (OfCall &
      Pick<CallFinished, "status"> & {
        readonly kind: "waiting";
        readonly fault: string;
        readonly attempts: number;
        /** Milliseconds. */
        readonly delay: number;
      })
  /**
   * The service answered 429: no call is sent for `pause` milliseconds, then at most `concurrency`
   * at a time.
   */
  | { readonly kind: "slowed"; readonly pause: number; readonly concurrency: number };

export interface OfCall {
  /** Number of the call, from 1 in the order of first sends; all attempts of a call share it. */
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
  /** The client's kind of fault; undefined on success. */
  readonly fault: string | undefined;
  /** The `Date` of the answer, for `parseHttpDate`; undefined if the service did not send one. */
  readonly date?: string | undefined;
}

/** The reason why a call failed, in words for the user. It contains no secret. */
export interface Failure {
  readonly summary: string;
  readonly detail: string;
  /** Whether the service may have acted on the call. It decides how a creation continues. */
  readonly acted: "no" | "maybe";
  /**
   * True if the key was refused or the service cannot be reached: every further call would fail,
   * too.
   */
  readonly fatal: boolean;
}

/** The events of an apply. The apply itself prints nothing. */
export type ApplyEvent =
  | { readonly type: "started"; readonly changes: number }
  | {
      readonly type: "changeStarted" | "changeDone";
      readonly address: Address;
      readonly action: Action;
    }
  | ({ readonly type: "changeFailed" } & Failed)
  | ({ readonly type: "changeSkipped" } & Skipped)
  /** A creation had no readable answer, so tasc reads the service before it repeats anything. */
  | { readonly type: "lookingUp"; readonly address: Address; readonly why: string }
  | { readonly type: "adopted"; readonly address: Address; readonly id: string }
  | {
      readonly type: "reading";
      readonly why: "after creations" | "after generations" | "final check";
    }
  | {
      readonly type: "waiting";
      readonly unfinished: number;
      readonly what?: "batch generation";
    };

/** The result of an apply; it determines the exit code and the final report. */
export interface Outcome {
  readonly done: readonly Address[];
  readonly failed: readonly Failed[];
  readonly skipped: readonly Skipped[];
  /** Fields that were written but have a different value at the end. */
  readonly notTaken: readonly { readonly address: Address; readonly paths: readonly Path[] }[];
  /** Generations that had not finished when the wait ended. */
  readonly unfinished: readonly Address[];
  /** Their statuses that service-api.md does not list. */
  readonly words: ReadonlyMap<Address, string>;
  /** Batch generations that were not waited for, because no notification names them. */
  readonly notWaited: readonly Address[];
  readonly calls: Readonly<Record<Method, number>>;
  /** Whether a signal ended the apply before everything was tried. */
  readonly interrupted: boolean;
  /**
   * The failure that ended the apply early (service, API key or state); nothing is known beyond the
   * fields above.
   */
  readonly fatal: Failure | undefined;
}

export interface Failed {
  readonly address: Address;
  readonly failure: Pick<Failure, "summary" | "detail">;
  /** All its calls were answered, but what the service generated of them failed. */
  readonly generation?: true;
}

type Skipped = { readonly address: Address; readonly reason: SkipReason };

/** `needs`: a resource that the change depends on was not created. */
export type SkipReason =
  | { readonly kind: "needs"; readonly address: Address }
  | { readonly kind: "interrupted" }
  | { readonly kind: "fatal" };
