import type { Kind } from "../model/address.ts";
import { KINDS, parseAddress } from "../model/address.ts";

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
