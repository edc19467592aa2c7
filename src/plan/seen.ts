import { addressOf } from "../model/address.ts";
import type { Address } from "../model/address.ts";
import type { DesiredResource, DesiredTarget } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { LiveEnvironment, LiveTarget, LiveTestCase } from "../model/live.ts";
import type { Change } from "../model/plan.ts";
import type { State } from "../model/state.ts";
import { IdOf, isUnknown, reveal } from "../model/value.ts";
import type { Value } from "../model/value.ts";
import type { Fingerprinter } from "./inputs.ts";
import { matchedIds } from "./match.ts";
import type { Match } from "./match.ts";

/** One target as a plan sees it: what is wanted, what is there, what is remembered, and which is which. */
export interface Seen {
  readonly target: DesiredTarget;
  /** All that is declared of the target, itself included. */
  readonly resources: ReadonlyMap<Address, DesiredResource>;
  /** Nothing for a target that is yet to be made. */
  readonly live: LiveTarget | undefined;
  /** Live test cases, the deleted ones left out. */
  readonly testCases: readonly LiveTestCase[];
  /** After moves, and after what interrupted creations turned out to have made. */
  readonly state: State | undefined;
  readonly fingerprints: Fingerprinter | undefined;
  readonly environmentMatches: ReadonlyMap<Address, Match<LiveEnvironment>>;
  readonly testCaseMatches: ReadonlyMap<Address, Match<LiveTestCase>>;
}

/** What is to happen to one address, and what is to be said about it. */
export interface Decision {
  readonly change?: Change;
  readonly diagnostics: readonly Diagnostic[];
}

export const UNCHANGED: Decision = { diagnostics: [] };

/** The id of the target in a call's path: as it is, or as it will be. */
export function targetId(seen: Seen): string | IdOf {
  return seen.live?.id ?? new IdOf(seen.target.address);
}

/** Changes that must come first because the target itself is yet to be made. */
export function needsTarget(seen: Seen): readonly Address[] {
  return seen.live === undefined ? [seen.target.address] : [];
}

/** A prerequisite as declared: a key of the target, or the name of a case that nothing here manages. */
export type Reference = { readonly key: Address } | { readonly description: string };

export function testCaseReference(seen: Seen, value: Value | undefined): Reference | undefined {
  if (value === undefined || value === null || isUnknown(value)) return undefined;
  const plain = reveal(value);
  if (typeof plain === "string") return { key: addressOf("testCase", seen.target.key, plain) };
  if (typeof plain !== "object" || plain === null || !("description" in plain)) return undefined;
  return typeof plain.description === "string" ? { description: plain.description } : undefined;
}

/** The live cases of that name which no address means. */
export function unmanagedByName(seen: Seen, description: string): readonly LiveTestCase[] {
  const managed = matchedIds(seen.testCaseMatches);
  return seen.testCases.filter(
    (testCase) => testCase.description === description && !managed.has(testCase.id),
  );
}
