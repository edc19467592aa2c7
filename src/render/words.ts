import { KINDS, type Kind, parseAddress } from "../model/address.ts";
import type { Action, PlanJson, Summary } from "../model/plan.ts";

/** `1 change`, `2 changes`. */
export function count(amount: number, noun: string, nouns = `${noun}s`): string {
  return `${amount} ${amount === 1 ? noun : nouns}`;
}

/** `a`, `a and b`, `a, b and c`. */
export function list(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

const NOUNS: Readonly<Record<Kind, string>> = {
  target: "target",
  environment: "environment",
  testCase: "test case",
  batchGeneration: "batch generation",
};

export function kindNoun(kind: Kind): string {
  return NOUNS[kind];
}

/** Kind and target of an address, for grouping; an address that is none stands by itself. */
export function placeOf(address: string): { readonly kind: Kind; readonly target: string } {
  const parts = parseAddress(address);
  if (parts !== undefined) return parts;
  return { kind: KINDS[0], target: address };
}

/** Most important first: what makes the service generate anew, then what takes out of use. */
export const ACTIONS = ["rediscover", "disable", "create", "update"] as const satisfies readonly Action[];

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

/** The one line that scripts look for; its parts never leave, so that each can be found. */
export function planLine({ create, update, rediscover, unchanged, calls }: Summary): string {
  return (
    `Plan: ${create} to create, ${update} to update, ${rediscover} to rediscover, ${unchanged} unchanged` +
    ` (${calls.POST} POST, ${calls.PATCH} PATCH)`
  );
}

/** What stands on the service beside the plan; `undefined` if nothing does. */
export function besidesLine({ orphaned, unmanaged }: Summary): string | undefined {
  const parts = [
    orphaned === 0 ? [] : [`${orphaned} orphaned`],
    unmanaged === 0 ? [] : [`${unmanaged} unmanaged`],
  ].flat();
  return parts.length === 0 ? undefined : `Besides: ${list(parts)}`;
}

export function hasErrors(plan: PlanJson): boolean {
  return plan.diagnostics.some((diagnostic) => diagnostic.severity === "error");
}

/** Errors and warnings by number: `2 errors, 1 warning`. */
export function diagnosticCounts(plan: Pick<PlanJson, "diagnostics">): string {
  const errors = plan.diagnostics.filter(({ severity }) => severity === "error").length;
  const warnings = plan.diagnostics.length - errors;
  return [errors === 0 ? [] : [count(errors, "error")], warnings === 0 ? [] : [count(warnings, "warning")]]
    .flat()
    .join(", ");
}

/** A time span in words: `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`. */
export function durationText(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 9.95) return `${(Math.round(seconds * 10) / 10).toString()} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A stop watch: `00:42`, `12:05`, `1:02:03`. */
export function clockText(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const parts = [Math.floor(seconds / 60) % 60, seconds % 60].map((part) => String(part).padStart(2, "0"));
  const hours = Math.floor(seconds / 3600);
  return hours === 0 ? parts.join(":") : `${hours}:${parts.join(":")}`;
}

/** Items by key, keys in the order in which they first turn up. */
export function groupBy<T>(
  items: Iterable<T>,
  keyOf: (item: T) => string,
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
