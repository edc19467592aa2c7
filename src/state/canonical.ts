import { compareText } from "../model/address.ts";
import type { Json, JsonObject } from "../model/json.ts";
import { isArray, isObject } from "../model/json.ts";

/**
 * The one JSON text of a value: no white space, an object's keys sorted by code unit. Two values have the same
 * text exactly when `sameJson` calls them equal.
 */
export function canonicalJson(value: Json): string {
  if (isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (isObject(value)) return `{${members(value).join(",")}}`;
  return JSON.stringify(value);
}

function members(value: JsonObject): string[] {
  return Object.entries(value)
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([key, part]) => `${JSON.stringify(key)}:${canonicalJson(part)}`);
}
