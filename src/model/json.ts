/** Plain data as JSON has it: what manifests, answers, plans and state are made of. */
export type Json = null | boolean | number | string | JsonArray | JsonObject;
export type JsonArray = readonly Json[];
export type JsonObject = { readonly [key: string]: Json };

/** Where a value stands inside a document: map keys and list positions, from the root. */
export type Path = readonly (string | number)[];

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A list among what the type allows; `Array.isArray` does not see read-only ones. */
export function isArray<T>(value: T): value is Extract<T, readonly unknown[]> {
  return Array.isArray(value);
}

/** Equality of plain data; the order of an object's keys does not count. */
export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (isArray(a)) return isArray(b) && a.length === b.length && sameItems(a, b);
  if (!isObject(a) || !isObject(b)) return false;
  for (const key in a) if (!Object.hasOwn(b, key) || !sameJson(a[key], b[key])) return false;
  for (const key in b) if (!Object.hasOwn(a, key)) return false;
  return true;
}

/** Apart, so that maps need not make room for what the function in it sees. */
function sameItems(a: JsonArray, b: JsonArray): boolean {
  return a.every((item, at) => sameJson(item, b[at]));
}

/** The same with all of its texts changed; keys are none. */
export function mapTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === "string") return change(value);
  if (isArray(value)) return value.map((item) => mapTexts(item, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, mapTexts(part, change)]));
}

/** An object in which fields that may be undefined are left out instead. */
export type Defined<T> = {
  readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & { readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> };

/** The fields that are not undefined. */
export function defined<const T extends object>(fields: T): Defined<T> {
  const kept: Record<string, unknown> = {};
  for (const name in fields) if (fields[name] !== undefined) kept[name] = fields[name];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the type lets be absent is what was left out
  return kept as Defined<T>;
}

/** What stands at a path; `undefined` where it leads nowhere. */
export function valueAt(root: Json, path: Path): Json | undefined {
  let value: Json | undefined = root;
  for (const step of path)
    if (isArray(value)) value = typeof step === "number" ? value[step] : undefined;
    else value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return value;
}

/** Whether a path is another one, or leads on from it. */
export function startsWith(path: Path, start: Path): boolean {
  return start.every((step, at) => path[at] === step);
}

/** The value of a JSON text; undefined, which no JSON has, if it is none. */
export function jsonIn(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Reads JSON. @throws SyntaxError for anything else */
export const parseJson: (text: string) => Json = JSON.parse;

/** The engine offers nothing that copies a text; this is the fastest that does. */
export function copyOf(text: string): string {
  const copy = parseJson(JSON.stringify(text));
  return typeof copy === "string" ? copy : text;
}
