import { ACTIONS, type Action } from "../model/plan.ts";

export { ACTIONS } from "../model/plan.ts";

/** The signs of a plan; a legend names those in use. */
export const SIGNS: Readonly<Record<Action, string>> = {
  create: "+",
  update: "~",
  rediscover: "↻",
  disable: "-",
};
export const PROBLEM_SIGN = "!";

export function countActions(
  actions: Iterable<{ readonly action: Action }>,
): Readonly<Record<Action, number>> {
  const counts = { create: 0, update: 0, rediscover: 0, disable: 0 };
  for (const { action } of actions) counts[action] += 1;
  return counts;
}

/** The most important first; among equals the order stays. */
export function byImportance<T extends { readonly action: Action }>(changes: readonly T[]): readonly T[] {
  return changes.toSorted((a, b) => ACTIONS.indexOf(a.action) - ACTIONS.indexOf(b.action));
}
