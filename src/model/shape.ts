import type { Defined } from "./json.ts";

/* Tests of what came from a file, a database or a server and may be anything. The types follow from the tests. */

export type Guard<T> = (value: unknown) => value is T;
/** What passes a test. */
export type Guarded<G> = G extends Guard<infer T> ? T : never;

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** The time to read letters of other alphabets in a host grows with the square of their number; no host has so many. */
export function urlOf(text: string): URL | undefined {
  if (text.length > 2048 && !/^[!-~]*$/.test(text)) return undefined;
  try {
    // `URL.canParse` of Node 20, once it is optimised, refuses letters of Latin-1.
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** The URL parser has brought all spellings of an address (`127.1`, `0x7f.0.0.1`) into one form. */
export function isLoopback(hostname = ""): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** A whole number from zero on. */
export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}

export function oneOf<const T extends string | true>(...values: readonly T[]): Guard<T> {
  return (value): value is T => values.some((one) => one === value);
}

/** A record of nothing but what passes the test. */
export function recordOf<V>(test: Guard<V>): Guard<Readonly<Record<string, V>>> {
  return (value): value is Readonly<Record<string, V>> => {
    if (!isRecord(value)) return false;
    for (const name of Object.keys(value)) if (!test(value[name])) return false;
    return true;
  };
}

/** For a member that may be absent. */
export function maybe<T>(test: Guard<T>): Guard<T | undefined> {
  return (value): value is T | undefined => value === undefined || test(value);
}

export type Tests = Readonly<Record<string, Guard<unknown>>>;
type Members<S> = Defined<{ readonly [K in keyof S]: Guarded<S[K]> }>;
/** A record with the members that are tested. */
export type Shape<S> = { readonly [K in keyof Members<S>]: Members<S>[K] };

/**
 * A record with exactly these members. One more than we know is refused as well, unless `others` lets it be: to read
 * past it would be to lose it at the next write.
 */
export function shape<S extends Tests>(tests: S, others?: "and others"): Guard<Shape<S>> {
  // A map: `__proto__` and `constructor` are names like others.
  const all = new Map(Object.entries(tests));
  return (value): value is Shape<S> => {
    if (!isRecord(value)) return false;
    if (others === undefined) for (const name of Object.keys(value)) if (!all.has(name)) return false;
    for (const [name, test] of all) if (!test(value[name])) return false;
    return true;
  };
}
