import type { Address } from "../model/address.ts";
import type { DesiredResource, DesiredTarget } from "../model/desired.ts";
import type { LiveTarget, LiveTestCase } from "../model/live.ts";
import type { State } from "../model/state.ts";
import type { Fingerprinter, StepsReview } from "./input.ts";
import type { Match } from "./match.ts";
import type { SecretFields } from "./memory.ts";

/** One target as a plan sees it: desired, live and recorded data, and the match of each address. */
export interface MatchedTarget {
  readonly target: DesiredTarget;
  /** All declared resources of the target, including the target itself. */
  readonly resources: ReadonlyMap<Address, DesiredResource>;
  /** Undefined for a target that does not exist yet. */
  readonly live: LiveTarget | undefined;
  /** Live test cases, without deleted ones. */
  readonly testCases: readonly LiveTestCase[];
  /** State after moves and after the recovery of interrupted creations. */
  readonly state: State | undefined;
  readonly fingerprints: Fingerprinter | undefined;
  /** From all states, not only this target's. */
  readonly secrets: SecretFields;
  /**
   * The match of each declared address, including the target's; an address with a problem has no
   * entry.
   */
  readonly matches: ReadonlyMap<Address, Match>;
  /** With `policy.steps`. */
  readonly steps?: StepsReview | undefined;
}
