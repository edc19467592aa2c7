import type { Defined } from "./json.ts";

/* Tests for data of unknown shape from a file, a database or a server. The types are derived from the tests. */

export type Guard<T> = (value: unknown) => value is T;
/** The type that a test accepts. */
export type Guarded<G> = G extends Guard<infer T> ? T : never;

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isText(value: unknown): value is string {
  return typeof value === "string";
}

/**
 * Parses a URL. Long non-ASCII text is refused: parsing it as a host takes quadratic time, and no
 * host is that long.
 */
export function urlOf(text: string): URL | undefined {
  if (text.length > 2048 && !/^[!-~]*$/.test(text)) return undefined;
  // Without a scheme it is none. A path is the usual case, and an error takes a hundred times as long.
  if (!text.includes(":")) return undefined;
  try {
    // Not `URL.canParse`: in Node 20, once optimised, it refuses Latin-1 letters.
    return new URL(text);
  } catch {
    return undefined;
  }
}

/**
 * Whether a parsed URL's host is this machine. The parser has normalised other spellings (`127.1`,
 * `0x7f.0.0.1`).
 */
export function isLoopback(hostname = ""): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** Whether a value is a non-negative safe integer. */
export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}

export function oneOf<const T extends string | true>(...values: readonly T[]): Guard<T> {
  return (value): value is T => values.some((one) => one === value);
}

/** Makes a test for a record whose values all pass the given test. */
export function recordOf<V>(test: Guard<V>): Guard<Readonly<Record<string, V>>> {
  return (value): value is Readonly<Record<string, V>> => {
    if (!isRecord(value)) return false;
    for (const name of Object.keys(value)) if (!test(value[name])) return false;
    return true;
  };
}

/** Makes a test for an optional member. */
export function maybe<T>(test: Guard<T>): Guard<T | undefined> {
  return (value): value is T | undefined => value === undefined || test(value);
}

export type Tests = Readonly<Record<string, Guard<unknown>>>;
type Members<S> = Defined<{ readonly [K in keyof S]: Guarded<S[K]> }>;
/** The type of a record with the tested members. */
export type Shape<S> = { readonly [K in keyof Members<S>]: Members<S>[K] };

/**
 * Makes a test for a record with exactly these members. Unless `others` allows more, unknown
 * members are refused.
 */
export function shape<S extends Tests>(tests: S, others?: "and others"): Guard<Shape<S>> {
  // A map, so that `__proto__` and `constructor` are ordinary names.
  const all = new Map(Object.entries(tests));
  return (value): value is Shape<S> => {
    if (!isRecord(value)) return false;
    if (others === undefined)
      for (const name of Object.keys(value)) if (!all.has(name)) return false;
    for (const [name, test] of all) if (!test(value[name])) return false;
    return true;
  };
}
