import type { Json } from "../model/json.ts";
import { isArray, isObject } from "../model/json.ts";
import { safeLine } from "../output/safe.ts";

/** A value on one line, as its author would write it in YAML: bare where that cannot be misread. */
export function valueText(value: Json): string {
  if (typeof value === "string") return isBare(value) ? value : safeLine(JSON.stringify(value));
  if (isArray(value)) return value.length === 0 ? "[]" : `[${value.map(inner).join(", ")}]`;
  if (!isObject(value)) return String(value);
  const parts = Object.entries(value).map(([key, part]) => `${inner(key)}: ${inner(part)}`);
  return parts.length === 0 ? "{}" : `{ ${parts.join(", ")} }`;
}

/** Inside a list or an object a comma or a bracket would part what belongs together. */
function inner(value: Json): string {
  if (typeof value !== "string") return valueText(value);
  return isBare(value) && !/[,[\]{}]|: |:$/.test(value) ? value : safeLine(JSON.stringify(value));
}

/** Nothing that looks like another kind of value, hides at the edges, or must be escaped. */
function isBare(text: string): boolean {
  return (
    text !== "" &&
    text === text.trim() &&
    text === safeLine(text) &&
    !/^(?:null|true|false|~|-?[\d.][\d.eE+-]*)$/.test(text) &&
    !/^["'[{(]|→|^[-+~!#]\s/.test(text)
  );
}

/** The start of a text that is too long, and how long it is. */
export function clip(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).replace(/[\ud800-\udbff]$/, "")}… (${text.length} characters)`;
}
