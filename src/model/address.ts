/** The four kinds of resource, in the order in which plans list them and apply makes them. */
export const KINDS = ["target", "environment", "testCase", "batchGeneration"] as const;
export type Kind = (typeof KINDS)[number];

/** A resource's name in plans, state and commands: `target.shop`, `testCase.shop.login`. */
export type Address = `target.${string}` | `${Exclude<Kind, "target">}.${string}.${string}`;

export interface AddressParts {
  readonly kind: Kind;
  /** Key of the target that the resource belongs to. */
  readonly target: string;
  /** Key of the resource inside its target; a target's own key for a target. */
  readonly key: string;
}

/** What a logical key may look like; an address is made of keys and dots. */
export const KEY_PATTERN = "^[A-Za-z0-9][A-Za-z0-9_-]*$";
const KEY = new RegExp(KEY_PATTERN);

export function targetAddress(target: string): Address {
  return `target.${target}`;
}

export function addressOf(kind: Exclude<Kind, "target">, target: string, key: string): Address {
  return `${kind}.${target}.${key}`;
}

/** Takes an address apart; `undefined` where the text is none. */
export function parseAddress(text: string): AddressParts | undefined {
  const dot = text.indexOf(".");
  const next = text.indexOf(".", dot + 1);
  const kind = text.slice(0, Math.max(dot, 0));
  const target = text.slice(dot + 1, next < 0 ? undefined : next);
  if (!KEY.test(target)) return undefined;
  if (kind === "target") return next < 0 ? { kind, target, key: target } : undefined;
  // A key has no dot in it.
  const key = next < 0 ? "" : text.slice(next + 1);
  if (!KEY.test(key)) return undefined;
  if (kind === "environment" || kind === "testCase" || kind === "batchGeneration")
    return { kind, target, key };
  return undefined;
}

export function isAddress(text: string): text is Address {
  return parseAddress(text) !== undefined;
}

/** The order of every list of addresses: by target, then kind, then key. */
export function compareAddresses(a: Address, b: Address): number {
  if (a === b) return 0;
  const left = parseAddress(a);
  const right = parseAddress(b);
  if (left === undefined || right === undefined) return compareText(a, b);
  return (
    compareText(left.target, right.target) ||
    KINDS.indexOf(left.kind) - KINDS.indexOf(right.kind) ||
    compareText(left.key, right.key)
  );
}

/** By code unit, so that the order is the same on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
