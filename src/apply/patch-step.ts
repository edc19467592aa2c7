import { GENERATING_KEYS } from "../fields/fields.ts";
import type { Address } from "../model/address.ts";
import type { Change } from "../model/plan.ts";
import type { Planned } from "../plan/plan.ts";
import { isRediscovering, onlyReviewed, withBodyKeys } from "../plan/reviewed.ts";
import type { Run } from "./context.ts";
import type { Step } from "./phase.ts";

export function changesOf({ plan }: Planned): ReadonlyMap<Address, Change> {
  return new Map(plan.changes.map((change) => [change.address, change]));
}

/** The part of a reviewed change that is carried out in this phase, as things are now. */
export function patchStep(run: Run, reviewed: Change, current: Change | undefined): Step {
  const patches = { ...reviewed, calls: [], dependsOn: [] };
  if (current === undefined) return { change: patches, after: [] };
  if (run.progress.halfway.has(reviewed.address))
    return { change: { ...patches, calls: withoutGenerating(current).calls }, after: [] };
  const change = { ...patches, fields: current.fields, calls: onlyReviewed(current, reviewed.calls).calls };
  if (!isRediscovering(reviewed)) return { change, after: [] };
  // The service may make new elements now, so locator lines wait until it can be seen which.
  return { change: withoutLocators(change), after: [], partOf: reviewed };
}

/** What was generated a moment ago must not be generated again because the service shows its prompt otherwise. */
export function withoutGenerating(change: Change): Change {
  return withBodyKeys(change, (key) => !GENERATING_KEYS.includes(key));
}

function withoutLocators(change: Change): Change {
  return { ...change, calls: change.calls.filter((call) => !Object.hasOwn(call.body, "locatorLine")) };
}
