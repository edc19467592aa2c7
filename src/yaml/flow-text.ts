import { isArray, isObject, type Json } from "../model/json.ts";
import { scalarText } from "./scalar-text.ts";

/** A value on one line: maps in braces, lists in brackets. */
export function flowText(value: Json): string {
  if (isArray(value)) return `[${value.map(flowText).join(", ")}]`;
  if (!isObject(value)) return scalarText(value, "flow");
  const pairs = Object.entries(value).map(([key, inner]) => flowPair(key, inner));
  return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
}

export function flowPair(key: string, value: Json): string {
  return `${scalarText(key, "flow")}: ${flowText(value)}`;
}
