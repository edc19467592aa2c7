import type { Compare } from "../fields/field.ts";
import { isArray, sameJson } from "../model/json.ts";
import type { Json } from "../model/json.ts";
import type { Value } from "../model/value.ts";
import { isValueList, reveal } from "../model/value.ts";
import { compareText } from "../model/address.ts";

/** Whether a declared value says the same as the live one. */
export function sameAsLive(compare: Compare, declared: Value, live: Json): boolean {
  if (declared === live) return true;
  if (isPrimitive(declared) && isPrimitive(live) && compare !== "url") return false;
  if (isValueList(declared) && isArray(live) && sameItems(declared, live)) return true;
  return sameJson(normalise(compare, reveal(declared)), normalise(compare, live));
}

function isPrimitive(value: Value): boolean {
  return typeof value !== "object" || value === null;
}

/** What is in the same order needs no sorting to be told the same. */
function sameItems(declared: readonly Value[], live: readonly Json[]): boolean {
  return declared.length === live.length && declared.every((item, at) => item === live[at]);
}

/** One form for all values that mean the same, for comparing and for fingerprints. */
export function normalise(compare: Compare, value: Json): Json {
  if (compare === "set" && isArray(value)) return sortedSet(value);
  if (compare === "url" && typeof value === "string") return normalUrl(value);
  return value;
}

function sortedSet(items: readonly Json[]): Json {
  return [...new Set(items.map(String))].toSorted(compareText);
}

/** A service may write `https://shop.example.com` back as `https://shop.example.com/`. */
export function normalUrl(text: string): string {
  return URL.canParse(text) ? new URL(text).href : text;
}

export function sameUrl(a: string, b: string): boolean {
  return a === b || normalUrl(a) === normalUrl(b);
}
