import { isArray, isObject } from "../model/json.ts";
import type { Json } from "../model/json.ts";
import { escapeTemplate, isTemplate, parseTemplate } from "../manifest/template/parse.ts";

/** A plain value as a manifest says it, so that nothing in it is taken for a placeholder. */
export function escaped(value: Json): Json {
  if (typeof value === "string") return escapeTemplate(value);
  if (isArray(value)) return value.map(escaped);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, escaped(part)]));
}

/** The placeholders in a written value, as they are written. */
export function placeholdersIn(written: Json): readonly string[] {
  if (typeof written === "string")
    return isTemplate(written)
      ? parseTemplate(written).parts.flatMap((part) => (part.kind === "text" ? [] : [part.source]))
      : [];
  if (isArray(written)) return written.flatMap(placeholdersIn);
  return isObject(written) ? Object.values(written).flatMap(placeholdersIn) : [];
}
