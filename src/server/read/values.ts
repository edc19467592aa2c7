import { type JsonObject, isObject } from "../../model/json.ts";
import type { Reader } from "./reader.ts";
import { badValue } from "./refusal.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

/** "`uuid` is a string in UUID format" (Resources and their fields). */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

export const text: Reader<string> = (value, at) => {
  if (typeof value !== "string") throw badValue(at, "must be a string");
  return value;
};

export const nonEmptyText: Reader<string> = checked(
  text,
  (value) => value.trim() !== "",
  "must not be empty",
);

export const uuid: Reader<string> = checked(text, isUuid, "must be a UUID");

export const dateTime: Reader<string> = checked(
  text,
  (value) => DATE_TIME.test(value) && !Number.isNaN(Date.parse(value)),
  "must be an ISO 8601 timestamp",
);

/** URL fields take what a browser could open: absolute, http or https. */
export const webUrl: Reader<string> = checked(
  text,
  (value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
  "must be an absolute http or https URL",
);

export const flag: Reader<boolean> = (value, at) => {
  if (typeof value !== "boolean") throw badValue(at, "must be true or false");
  return value;
};

export const integer: Reader<number> = (value, at) => {
  if (typeof value !== "number" || !Number.isSafeInteger(value)) throw badValue(at, "must be an integer");
  return value;
};

export function integerFrom(least: number, most = Number.MAX_SAFE_INTEGER): Reader<number> {
  const range = (value: number) => value >= least && value <= most;
  return checked(integer, range, `must be from ${least} to ${most}`);
}

/** An object whose keys the text leaves open. */
export const freeForm: Reader<JsonObject> = (value, at) => {
  if (!isObject(value)) throw badValue(at, "must be an object");
  return value;
};

/** An enumeration whose whole list the text gives. */
export function oneOf<const T extends string | number>(...values: readonly T[]): Reader<T> {
  return (value, at) => {
    const found = values.find((each) => each === value);
    if (found === undefined) throw badValue(at, `must be one of ${values.join(", ")}`);
    return found;
  };
}

function checked<T>(read: Reader<T>, holds: (value: T) => boolean, must: string): Reader<T> {
  return (value, at) => {
    const found = read(value, at);
    if (!holds(found)) throw badValue(at, must);
    return found;
  };
}
