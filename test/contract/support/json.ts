// JSON values and helpers to read them in tests.

export type Json =
  null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

function isJson(value: unknown): value is Json {
  return value === null || ["boolean", "number", "string", "object"].includes(typeof value);
}

export function parseJson(raw: string): Json {
  const value: unknown = JSON.parse(raw);
  if (!isJson(value)) throw new Error(`not JSON: ${raw.slice(0, 200)}`);
  return value;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

export function object(value: Json | undefined): JsonObject {
  if (!isObject(value)) throw new Error(`not an object: ${JSON.stringify(value)}`);
  return value;
}

export function list(value: Json | undefined): readonly Json[] {
  if (!isList(value)) throw new Error(`not a list: ${JSON.stringify(value)}`);
  return value;
}

export function text(value: Json | undefined): string {
  if (typeof value !== "string") throw new Error(`not a text: ${JSON.stringify(value)}`);
  return value;
}

export function at(
  value: Json | undefined,
  ...path: readonly (string | number)[]
): Json | undefined {
  let here: Json | undefined = value;
  for (const step of path) {
    if (typeof step === "number") here = isList(here) ? here[step] : undefined;
    else here = isObject(here) ? here[step] : undefined;
  }
  return here;
}

export function some<T>(value: T | undefined | null, what: string): T {
  if (value === undefined || value === null) throw new Error(`there is no ${what}`);
  return value;
}
