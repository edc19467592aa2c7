import type { Json } from "../model/json.ts";
import type { LiveTarget, LiveTestCase } from "../model/live.ts";
import type { Method } from "../model/plan.ts";

/**
 * What an apply needs of the service. The client gives it; tests give a service that lives in memory.
 */
export interface Service {
  listTargets(): Promise<Answered<readonly LiveTarget[]>>;
  listTestCases(targetId: string): Promise<Answered<readonly LiveTestCase[]>>;
  /** Test cases of the target whose discovery has finished, by what its notifications say. */
  finishedDiscoveries(targetId: string): Promise<Answered<readonly FinishedDiscovery[]>>;
  send(call: SentCall): Promise<Answered<Json | undefined>>;
}

/** A call ready for the wire: ids known, secrets revealed. It must not be printed or kept. */
export interface SentCall {
  readonly method: Method;
  readonly path: readonly string[];
  readonly body: Json;
}

export interface FinishedDiscovery {
  /** Id of the notification. */
  readonly id: string;
  readonly testCaseId: string;
}

export type Answered<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: Failure };

/** Why a call failed, in words for the user; no secret stands in it. */
export interface Failure {
  readonly summary: string;
  readonly detail: string;
  /** Whether the service can have acted on the call: decides how a creation goes on. */
  readonly acted: "no" | "maybe";
  /** The key was refused or the service cannot be reached: every further call would fare the same. */
  readonly fatal: boolean;
}
