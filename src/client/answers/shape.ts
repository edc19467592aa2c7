import type { Json, JsonObject } from "../../model/json.ts";
import { isArray, isObject } from "../../model/json.ts";
import type { Misfit } from "../failure.ts";
import { isSegment } from "../request.ts";
import type { Result } from "../result.ts";
import { bad, good } from "../result.ts";

/**
 * Readers of fields for the checks of answers. Inside, a misfit is thrown: it is rare, tens of thousands of
 * fields are read per second, and the place is put together on the way out. `checked` turns it into a value, and
 * nothing else may call readers.
 *
 * One rule for all optional fields: null is taken as absent where service-api.md does not allow it, and a wrong
 * type is a misfit.
 */
export function checked<T>(read: () => T): Result<T, Misfit> {
  try {
    return good(read());
  } catch (error) {
    if (error instanceof MisfitError) return bad(error.misfit);
    throw error;
  }
}

/** As `checked`, for what may be missing altogether: a misfit reads as undefined. */
export function lenient<T>(read: () => T): T | undefined {
  const result = checked(read);
  return result.ok ? result.value : undefined;
}

class MisfitError extends Error {
  readonly misfit: Misfit;

  constructor(where: Misfit) {
    super("an answer has another shape than described");
    this.misfit = where;
  }
}

function misfit(at: string | number | undefined, expected: string, found: Json | undefined): MisfitError {
  return new MisfitError({ at: at === undefined ? [] : [at], expected, found: typeName(found) });
}

function typeName(value: Json | undefined): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return typeof value === "string" && value !== ""
    ? "a string"
    : value === ""
      ? "an empty string"
      : `a ${typeof value}`;
}

/** Reads a part; a misfit in it is placed below `key`. */
export function within<T>(key: string | number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw placed(error, key);
  }
}

function placed(error: unknown, key: string | number): unknown {
  if (!(error instanceof MisfitError)) return error;
  return new MisfitError({ ...error.misfit, at: [key, ...error.misfit.at] });
}

export function anObject(value: Json | undefined): JsonObject {
  if (isObject(value)) return value;
  throw misfit(undefined, "an object", value);
}

/** Reads every item of a list. */
export function aList<T>(value: Json | undefined, read: (item: Json) => T): readonly T[] {
  if (!isArray(value)) throw misfit(undefined, "a list", value);
  const items: T[] = [];
  let at = 0;
  try {
    for (; at < value.length; at++) items.push(read(value[at] ?? null));
  } catch (error) {
    throw placed(error, at);
  }
  return items;
}

/** A required id: one that can stand in a path. */
export function id(holder: JsonObject, field: string): string {
  const value = holder[field];
  if (typeof value === "string" && isSegment(value)) return value;
  throw misfit(field, "an id", value);
}

export function requiredText(holder: JsonObject, field: string): string {
  const value = holder[field];
  if (typeof value === "string") return value;
  throw misfit(field, "a string", value);
}

export function text(holder: JsonObject, field: string): string | undefined {
  return nullableText(holder, field) ?? undefined;
}

/** For fields of type `string or null`. */
export function nullableText(holder: JsonObject, field: string): string | null | undefined {
  const value = holder[field];
  if (typeof value === "string" || value === null || value === undefined) return value;
  throw misfit(field, "a string", value);
}

export function flag(holder: JsonObject, field: string): boolean | undefined {
  const value = holder[field];
  if (typeof value === "boolean") return value;
  if (value === null || value === undefined) return undefined;
  throw misfit(field, "a boolean", value);
}

export function number(holder: JsonObject, field: string): number | undefined {
  const value = holder[field];
  if (typeof value === "number") return value;
  if (value === null || value === undefined) return undefined;
  throw misfit(field, "a number", value);
}

/** A free-form object, as it came. */
export function plainObject(holder: JsonObject, field: string): JsonObject | undefined {
  return object(holder, field, (fields) => fields);
}

export function object<T>(holder: JsonObject, field: string, read: (fields: JsonObject) => T): T | undefined {
  const value = holder[field];
  if (value === null || value === undefined) return undefined;
  return within(field, () => read(anObject(value)));
}

export function list<T>(
  holder: JsonObject,
  field: string,
  read: (item: Json) => T,
): readonly T[] | undefined {
  const value = holder[field];
  if (value === null || value === undefined) return undefined;
  return within(field, () => aList(value, read));
}

/** A list of strings; nulls in it are dropped (service-api.md allows them in a target's tags). */
export function texts(holder: JsonObject, field: string): readonly string[] | undefined {
  return list(holder, field, textOrNull)?.filter((item) => item !== null);
}

function textOrNull(item: Json): string | null {
  if (typeof item === "string" || item === null) return item;
  throw misfit(undefined, "a string", item);
}
