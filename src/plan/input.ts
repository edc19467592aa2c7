import type { Address } from "../model/address.ts";
import type { Desired, DesiredTarget } from "../model/desired.ts";
import type { Live, LiveTestCase } from "../model/live.ts";
import type { State } from "../model/state.ts";
import type { Acceptance } from "../model/steps.ts";
import type { createFingerprinter } from "../state/fingerprint.ts";
import type { Scope } from "./scope.ts";

/** The generator of the keyed digests that state keeps instead of values. */
export type Fingerprinter = Pick<ReturnType<typeof createFingerprinter>, "keyCheck" | "of"> &
  Partial<Pick<ReturnType<typeof createFingerprinter>, "source">>;

/** What of a live test case its steps are read from. */
export type LiveSteps = Pick<
  LiveTestCase,
  "id" | "elements" | "discovery" | "acceptance" | "hasSteps"
>;

/** What `policy.steps` asks of a plan. */
export interface StepsReview {
  readonly mode: "report" | "reviewed";
  /** Compares a live test case with its file. */
  readonly of: (address: Address, live: LiveSteps) => Acceptance;
  /** Whether steps were accepted for an address; also before it is live. */
  readonly isKnown: (address: Address) => boolean;
}

/** The input of a plan. */
export interface PlanInput {
  readonly desired: Desired;
  readonly live: Live;
  /** By target key; a target without state has no entry. */
  readonly states: ReadonlyMap<string, State>;
  /** States of targets that no manifest declares any more; their bindings are orphaned. */
  readonly strays: readonly State[];
  /**
   * Undefined in a plan without the key. Write-only fields are then unknown and do not become
   * changes.
   */
  readonly fingerprints: Fingerprinter | undefined;
  readonly scope: Scope;
  /** Declared targets that have nothing in scope. */
  readonly elsewhere?: readonly DesiredTarget[] | undefined;
  /** Batch generations to run regardless of state (`apply --run`). */
  readonly run: ReadonlySet<Address>;
  /** Test cases whose prompt is sent regardless of state (`--rediscover`). */
  readonly rediscover: ReadonlySet<Address>;
  readonly baseUrl: string;
  /**
   * Whether the project's policy is `onRemove: disable`; a target's own `onRemove` also applies.
   */
  readonly disableRemoved: boolean;
  /** Milliseconds since 1970; without it, the plan says nothing that depends on the day. */
  readonly now?: number;
  /** With `policy.steps`: the accepted steps. */
  readonly steps?: StepsReview | undefined;
}
