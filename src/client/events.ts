import type { Fault } from "./failure.ts";
import type { Method } from "./request.ts";

/** What the client tells while it works: never bodies, headers or queries. */
export type ClientEvent = CallStarted | CallFinished | CallWaiting | SlowedDown;

/** What all events of a call have in common. */
export interface OfCall {
  /** Numbers calls from 1 in the order in which they were first sent; all tries of a call share it. */
  readonly call: number;
  readonly method: Method;
  /** From `/apiKey/v3` on, without the query. */
  readonly path: string;
  /** 1 for the first send. */
  readonly attempt: number;
}

/** A request goes out. */
export interface CallStarted extends OfCall {
  readonly kind: "started";
}

/** A send is over: answered, or not. */
export interface CallFinished extends OfCall {
  readonly kind: "finished";
  /** Undefined when there was no answer. */
  readonly status: number | undefined;
  readonly ms: number;
  /** Undefined when it went well. */
  readonly fault: Fault["kind"] | undefined;
  /** The service's clock as it answered, for `parseHttpDate`; absent where it did not say. */
  readonly date?: string;
}

/** The call will be sent again after a delay. */
export interface CallWaiting extends OfCall {
  readonly kind: "waiting";
  readonly fault: Fault["kind"];
  readonly status: number | undefined;
  /** Milliseconds. */
  readonly delay: number;
}

/** The service asked for less (429): no call goes out for a while, and fewer at a time afterwards. */
export interface SlowedDown {
  readonly kind: "slowed";
  /** Milliseconds. */
  readonly pause: number;
  readonly concurrency: number;
}
