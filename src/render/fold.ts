import type { ChangeJson } from "../model/plan.ts";
import type { PlanExtras } from "./extras.ts";
import { groupBy } from "./group.ts";
import { placeOf } from "./words.ts";

/** Changes of one target that say the same, in the order of the plan. */
export interface Fold {
  readonly first: ChangeJson;
  readonly changes: readonly ChangeJson[];
}

/** Fewer alike changes are quicker to read one by one. */
const FEWEST = 4;

/**
 * Puts alike changes together at the place of the first: same kind of resource, same action, same fields with the
 * same values, changed by the same hand. So a tag that is set on a thousand test cases is one thing to read.
 */
export function foldAlike(changes: readonly ChangeJson[], extras: PlanExtras): readonly Fold[] {
  const groups = groupBy(changes, (change) => likeness(change, extras));
  return changes.flatMap((change) => {
    const group = groups.get(likeness(change, extras)) ?? [];
    if (group.length < FEWEST) return [{ first: change, changes: [change] }];
    return group[0] === change ? [{ first: change, changes: group }] : [];
  });
}

function likeness({ address, action, fields }: ChangeJson, extras: PlanExtras): string {
  const { kind, target } = placeOf(address);
  return JSON.stringify([target, kind, action, fields, extras.changedBy?.[address] ?? null]);
}
