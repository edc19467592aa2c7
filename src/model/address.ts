/** The four kinds of resource, in the order in which plans list them and apply creates them. */
export const KINDS = ["target", "environment", "testCase", "batchGeneration"] as const;
export type Kind = (typeof KINDS)[number];

/** The name of a resource in plans, state and commands: `target.shop`, `testCase.shop.login`. */
export type Address = `target.${string}` | `${Exclude<Kind, "target">}.${string}.${string}`;

export interface AddressParts {
  readonly kind: Kind;
  /** Key of the target that the resource belongs to. */
  readonly target: string;
  /** Key of the resource inside its target; for a target, its own key. */
  readonly key: string;
}

/** Pattern of a resource key. An address consists of keys and dots. */
export const KEY_PATTERN = "^[A-Za-z0-9][A-Za-z0-9_-]*$";
const KEY = KEY_PATTERN.slice(1, -1);
const ADDRESS = new RegExp(`^(?:target|(?:${KINDS.slice(1).join("|")})\\.${KEY})\\.${KEY}$`);

export function targetAddress(target: string): Address {
  return `target.${target}`;
}

export function addressOf(kind: Exclude<Kind, "target">, target: string, key: string): Address {
  // Of a template, V8 keeps the parts as well, which takes three times the memory.
  const flat = [kind, target, key].join(".");
  return isAddress(flat) ? flat : `${kind}.${target}.${key}`;
}

/** Splits an address into its parts; returns `undefined` if the text is not an address. */
export function parseAddress(text: string): AddressParts | undefined {
  // Without groups, which cost more than the rest: a plan of thousands of changes asks often.
  if (!ADDRESS.test(text)) return undefined;
  const [first, last] = [text.indexOf("."), text.lastIndexOf(".")];
  const word = text.slice(0, first);
  const key = text.slice(last + 1);
  const kind = KINDS.find((one) => one === word) ?? "target";
  return { kind, target: first === last ? key : text.slice(first + 1, last), key };
}

export function isAddress(value: unknown): value is Address {
  return typeof value === "string" && ADDRESS.test(value);
}

/**
 * Compares two addresses by target, then kind, then key. Every list of addresses is in this order.
 */
export function compareAddresses(a: Address, b: Address): number {
  // The usual case: the same kind and target.
  if (a.slice(0, a.lastIndexOf(".")) === b.slice(0, b.lastIndexOf("."))) return compareText(a, b);
  const left = parseAddress(a);
  const right = parseAddress(b);
  if (left === undefined || right === undefined) return compareText(a, b);
  return (
    compareText(left.target, right.target) ||
    KINDS.indexOf(left.kind) - KINDS.indexOf(right.kind) ||
    compareText(left.key, right.key)
  );
}

/** Compares two strings by code unit, so that the order is the same on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Returns kind and target of an address, for grouping; a text that is not an address is a group of
 * its own.
 */
export function placeOf(address: string): { readonly kind: Kind; readonly target: string } {
  return parseAddress(address) ?? { kind: KINDS[0], target: address };
}

export function targetOf(address: Address): string {
  return address.split(".", 2)[1] ?? "";
}
