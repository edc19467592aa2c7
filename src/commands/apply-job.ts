import type { Outcome } from "../apply/context.ts";
import type { Given } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import type { Opened } from "./opening.ts";
import type { SavedPlan } from "./saved-plan.ts";
import type { ApplyDisplay } from "./say-apply.ts";
import type { States } from "./states.ts";
import type { Stop } from "./stop.ts";

/** What an apply works with from beginning to end. */
export interface Job {
  readonly given: Given;
  readonly world: World;
  readonly opened: Opened;
  readonly states: States;
  readonly stop: Stop;
  /** Milliseconds; nothing: no wait. */
  readonly wait: number | undefined;
  readonly lockTimeout: number;
  readonly saved: SavedPlan | undefined;
  readonly display: ApplyDisplay;
  /** Is told what came of it. */
  readonly ended?: (outcome: Outcome) => void;
}
