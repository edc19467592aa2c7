import { type Json, isArray, mapValues } from "./json.ts";
import type { Address } from "./address.ts";

/** Text shown instead of a sensitive value. */
export const SENSITIVE = "(sensitive)";
/** Text shown instead of an id that the service has not assigned yet. */
export const KNOWN_AFTER_APPLY = "(known after apply)";

const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/**
 * A value that always prints as `(sensitive)`: in string conversion, in JSON and in the debugger.
 */
class SensitiveValue {
  toString(): string {
    return SENSITIVE;
  }

  toJSON(): string {
    return SENSITIVE;
  }

  [INSPECT](): string {
    return SENSITIVE;
  }
}

/**
 * A value that must not be shown. Code calls `reveal` only to use it: to send, fingerprint, compare
 * or check it.
 */
export class Secret extends SensitiveValue {
  readonly #text: string;
  readonly #literal: string | undefined;

  constructor(text: string, literal?: string) {
    super();
    this.#text = text;
    this.#literal = literal;
  }

  /**
   * The text with `(sensitive)` in place of everything that its manifest does not spell out; unset
   * if that is unknown.
   */
  get literal(): string | undefined {
    return this.#literal;
  }

  reveal(): string {
    return this.#text;
  }
}

/** A value whose secret is missing (`--allow-missing-secrets`). It is neither compared nor sent. */
export class Unknown extends SensitiveValue {}

export const UNKNOWN = new Unknown();

/**
 * The texts that must not show. They may still occur in addresses: those consist of keys that the
 * manifests show anyway, and without them nobody could tell one resource from another.
 */
export class Secrets extends Set<string> {
  /** Called only if a secret occurs in something that looks like an address. */
  readonly addresses: (() => Iterable<Address>)[] = [];
}

/**
 * A placeholder for an id in a planned call: of a resource, by its address, or of an element, by
 * its position.
 */
export class IdOf {
  readonly of: Address | number;

  constructor(of: Address | number) {
    this.of = of;
  }

  toJSON(): string {
    return KNOWN_AFTER_APPLY;
  }
}

/** A declared value: plain data in which a leaf may be secret or unknown. */
export type Value =
  null | boolean | number | string | Secret | Unknown | readonly Value[] | ValueObject;
export type ValueObject = { readonly [key: string]: Value };

export function isLeafObject(value: unknown): value is Secret | Unknown {
  return value instanceof SensitiveValue;
}

export function isValueObject(value: Value | undefined): value is ValueObject {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !isLeafObject(value)
  );
}

/** Whether any leaf of the value satisfies the test. */
function hasLeaf(value: Value, test: (leaf: Secret | Unknown) => boolean): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (isLeafObject(value)) return test(value);
  if (isArray(value)) {
    for (const item of value) if (hasLeaf(item, test)) return true;
    return false;
  }
  for (const name in value) if (hasLeaf(value[name] ?? null, test)) return true;
  return false;
}

export function isSensitive(value: Value): boolean {
  return !isPlain(value);
}

function isPlain(value: Value): value is Json {
  return !hasLeaf(value, isLeafObject);
}

export function isUnknown(value: Value): boolean {
  return hasLeaf(value, isUnknownLeaf);
}

function isUnknownLeaf(leaf: Secret | Unknown): boolean {
  return leaf instanceof Unknown;
}

/**
 * Returns a value as plain data, with its secrets.
 * @throws TypeError if the value contains an unknown one
 */
export function reveal(value: Value): Json {
  if (isPlain(value)) return value;
  if (value instanceof Secret) return value.reveal();
  if (value instanceof Unknown) throw new TypeError("an unknown value was to be revealed");
  if (isArray(value)) return value.map(reveal);
  return mapValues(value, reveal);
}
