import type { Desired } from "../model/desired.ts";
import type { LiveTarget } from "../model/live.ts";
import type { State } from "../model/state.ts";
import { EVERYTHING } from "../plan/input.ts";
import { liveTargets } from "../plan/plan.ts";

/** The ids of the declared targets that are live, by key, found as a plan finds them. */
export function liveIds(
  desired: Desired,
  states: ReadonlyMap<string, State>,
  targets: readonly LiveTarget[],
): ReadonlyMap<string, string> {
  return liveTargets(
    {
      desired,
      states,
      strays: [],
      fingerprints: undefined,
      scope: EVERYTHING,
      run: new Set(),
      rediscover: new Set(),
      baseUrl: "",
      disableRemoved: false,
    },
    targets,
  );
}
