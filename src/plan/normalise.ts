import deepDiff from "deep-diff";
import { compareText } from "../model/address.ts";
import { sortedTexts } from "../model/collections.ts";
import type { Compare, Shape } from "../model/fields.ts";
import { type Json, defined, isArray, sameJson, setOwn } from "../model/json.ts";
import { type BodyValue, type FieldChange, isBodyObject } from "../model/plan.ts";
import { urlOf } from "../model/shape.ts";
import { type Value, reveal } from "../model/value.ts";

/**
 * Sorts the keys of all objects in a value, since their order does not matter. Secrets and
 * placeholders stay the same, and so does what is sorted.
 */
export function ordered(value: Json): Json;
export function ordered(value: BodyValue): BodyValue;
export function ordered(value: BodyValue): BodyValue {
  if (isOrdered(value)) return value;
  if (isArray(value)) return value.map((item) => ordered(item));
  if (!isBodyObject(value)) return value;
  const result: Record<string, BodyValue> = {};
  for (const key of sortedTexts(Object.keys(value)))
    setOwn(result, key, ordered(value[key] ?? null));
  return result;
}

function isOrdered(value: BodyValue): boolean {
  if (isArray(value)) return value.every(isOrdered);
  if (!isBodyObject(value)) return true;
  let before = "";
  for (const key in value) {
    if (key < before || !isOrdered(value[key] ?? null)) return false;
    before = key;
  }
  return true;
}

/**
 * Returns the names of a field's parts in the order of its shape, or sorted if the user chooses the
 * names.
 */
export function orderedParts(shape: Shape, names: readonly string[]): readonly string[] {
  if (shape.type !== "object") return names.toSorted(compareText);
  return Object.keys(shape.parts).filter((part) => names.includes(part));
}

/** Whether a declared value means the same as the live one. */
export function sameAsLive(compare: Compare, declared: Value, live: Json): boolean {
  if (declared === live) return true;
  // Fast path: lists in the same order need no sorting.
  if (isArray(declared) && isArray(live) && declared.length === live.length)
    if (declared.every((item, at) => item === live[at])) return true;
  return sameJson(normalise(compare, reveal(declared)), normalise(compare, live));
}

/** Returns one form for all values with the same meaning, for comparisons and fingerprints. */
export function normalise(compare: Compare, value: Json): Json {
  if (compare === "set" && isArray(value)) return sortedTexts([...new Set(value.map(String))]);
  if (compare === "url" && value === "") return null;
  return compare === "url" && typeof value === "string" ? normalUrl(value) : value;
}

/**
 * Normalises a URL: a service may return `https://shop.example.com` as `https://shop.example.com/`.
 */
export function normalUrl(text: string): string {
  return urlOf(text)?.href ?? text;
}

/**
 * A place where two pieces of plain data differ; `before` or `after` is absent if that side has no
 * value there.
 */
export type Difference = Pick<FieldChange, "path" | "before" | "after">;

/**
 * Returns the places where two unequal pieces of plain data differ, in the order of their paths.
 */
export function differences(before: Json, after: Json): readonly Difference[] {
  const found = deepDiff.diff<Json, Json>(before, after) ?? [];
  // The library does not see that a member with an empty name was added.
  if (found.length === 0 && !sameJson(before, after)) return [{ path: [], before, after }];
  // The library reports the additional items of a longer list from its end.
  return found.map(difference).toSorted(({ path: a }, { path: b }) => {
    const at = a.findIndex((part, nth) => part !== b[nth]);
    const [left, right] = [a[at], b[at]];
    // Object keys keep their order.
    return typeof left === "number" && typeof right === "number" ? left - right : 0;
  });
}

function difference(found: deepDiff.Diff<Json, Json>): Difference {
  const path =
    found.path?.map((part: unknown) => (typeof part === "number" ? part : String(part))) ?? [];
  if (found.kind === "A") return { ...difference(found.item), path: [...path, found.index] };
  const [before, after] = [
    "lhs" in found ? found.lhs : undefined,
    "rhs" in found ? found.rhs : undefined,
  ];
  return defined({ path, before, after });
}
