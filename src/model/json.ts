/** Plain JSON data, of which manifests, answers, plans and state consist. */
export type Json = null | boolean | number | string | JsonArray | JsonObject;
export type JsonArray = readonly Json[];
export type JsonObject = { readonly [key: string]: Json };

/** The path of a value inside a document: map keys and list positions, from the root. */
export type Path = readonly (string | number)[];

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value is a list. `Array.isArray` does not narrow the type of read-only lists. */
export function isArray<T>(value: T): value is Extract<T, readonly unknown[]> {
  return Array.isArray(value);
}

/** Whether two pieces of plain data are equal; the order of an object's keys does not matter. */
export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (isArray(a)) return isArray(b) && a.length === b.length && sameItems(a, b);
  if (!isObject(a) || !isObject(b)) return false;
  for (const key in a) if (!Object.hasOwn(b, key) || !sameJson(a[key], b[key])) return false;
  for (const key in b) if (!Object.hasOwn(a, key)) return false;
  return true;
}

/**
 * A separate function: in `sameJson`, comparing maps would also pay for allocating this closure's
 * variables.
 */
function sameItems(a: JsonArray, b: JsonArray): boolean {
  return a.every((item, at) => sameJson(item, b[at]));
}

/**
 * Sets an own property of any name: an assignment to `__proto__` would change the object's
 * prototype.
 */
export function setOwn<T>(map: Record<string, T>, key: string, value: T): void {
  if (key === "__proto__")
    Object.defineProperty(map, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  else map[key] = value;
}

/** Maps the values of an object. `Object.fromEntries` would make a list for each of them. */
export function mapValues<T, R>(
  map: { readonly [key: string]: T },
  change: (value: T, key: string) => R,
): Record<string, R> {
  const mapped: Record<string, R> = {};
  for (const [key, value] of Object.entries(map)) setOwn(mapped, key, change(value, key));
  return mapped;
}

/** Maps every string value of plain data; keys are not changed. */
export function mapTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === "string") return change(value);
  if (isArray(value)) return value.map((item) => mapTexts(item, change));
  if (!isObject(value)) return value;
  return mapValues(value, (part) => mapTexts(part, change));
}

/** An object type in which fields that may be undefined are optional instead. */
export type Defined<T> = {
  readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & { readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> };

/** Returns the object without its undefined fields. */
export function defined<const T extends object>(fields: T): Defined<T> {
  const kept: Record<string, unknown> = {};
  for (const name in fields) if (fields[name] !== undefined) kept[name] = fields[name];
  // Only fields that the type makes optional were left out.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return kept as Defined<T>;
}

/** Returns the value at a path, or `undefined` if there is none. */
export function valueAt(root: Json, path: Path): Json | undefined {
  let value: Json | undefined = root;
  for (const step of path)
    if (isArray(value)) value = typeof step === "number" ? value[step] : undefined;
    else value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return value;
}

/** Whether a path is equal to `start` or continues it. */
export function startsWith(path: Path, start: Path): boolean {
  for (let at = 0; at < start.length; at++) if (path[at] !== start[at]) return false;
  return true;
}

/**
 * Returns the value of a JSON text, or `undefined` (which is not a JSON value) if it is invalid.
 */
export function jsonIn(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Parses JSON. @throws SyntaxError if it is invalid */
export const parseJson: (text: string) => Json = JSON.parse;

/**
 * Copies a slice of a text, which would keep the whole text in memory. No built-in does that; this
 * is the fastest way.
 */
export function copyOf(text: string): string {
  const copy = parseJson(JSON.stringify(text));
  return typeof copy === "string" ? copy : text;
}
