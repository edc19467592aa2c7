import type { Address } from "../model/address.ts";
import type { Desired } from "../model/desired.ts";
import type { Json } from "../model/json.ts";
import type { Live } from "../model/live.ts";
import type { Fingerprint, State } from "../model/state.ts";
import type { Scope } from "./scope.ts";

/** Makes the keyed digests that state keeps in place of values. */
export interface Fingerprinter {
  /** Equal for two fingerprinters exactly when their keys are. */
  readonly keyCheck: string;
  /** `context` separates equal values in different places. */
  of(context: string, value: Json): Fingerprint;
}

/** All that a plan follows from. */
export interface PlanInput {
  readonly desired: Desired;
  readonly live: Live;
  /** By target key; a target without state has no entry. */
  readonly states: ReadonlyMap<string, State>;
  /** States of targets that no manifest declares any more: what they bind is orphaned. */
  readonly strays: readonly State[];
  /** Absent in a plan without the key: write-only fields are then unknown, and no changes. */
  readonly fingerprints: Fingerprinter | undefined;
  readonly scope: Scope;
  /** Batch generations to run whatever state says (`apply --run`). */
  readonly run: ReadonlySet<Address>;
  /** Test cases whose prompt is sent whatever state says (`--rediscover`). */
  readonly rediscover: ReadonlySet<Address>;
  readonly baseUrl: string;
  /** The project's policy; a target's own `onRemove` also counts. */
  readonly disableRemoved: boolean;
}
