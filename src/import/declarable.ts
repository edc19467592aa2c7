import type { Shape } from "../fields/field.ts";
import { convert } from "../manifest/shape/convert.ts";
import { ANY_KEY } from "../manifest/shape/patterns.ts";
import { escapeTemplate } from "../manifest/template/parse.ts";
import { isArray, isObject } from "../model/json.ts";
import type { Json, JsonObject } from "../model/json.ts";

const IS_KEY = new RegExp(ANY_KEY, "u");
/** YAML of ours nests a hundred deep at most; some of that is above the value. */
const DEEPEST = 80;

/** A live value as a manifest declares it, with `${` escaped; `undefined` where its shape does not allow it. */
export function declarable(shape: Shape, live: Json): Json | undefined {
  switch (shape.type) {
    case "string":
    case "url":
    case "enum":
      return typeof live === "string" && convert(shape, live) !== undefined
        ? escapeTemplate(live)
        : undefined;
    case "integer":
      return typeof live === "number" ? convert(shape, live) : undefined;
    case "boolean":
      return typeof live === "boolean" ? live : undefined;
    case "list":
      return isArray(live) ? every(live.map((item) => declarable(shape.of, item))) : undefined;
    case "object":
      return isObject(live) ? declarableObject(shape, live) : undefined;
    case "map":
      return isObject(live)
        ? everyEntry(live, (key, value) => (IS_KEY.test(key) ? declarable(shape.of, value) : undefined))
        : undefined;
    case "json":
      return isObject(live) ? declarableJson(live, 0) : undefined;
    case "reference":
      return typeof live === "string" ? live : undefined;
  }
}

function declarableObject(
  { parts, required = [] }: Shape & { readonly type: "object" },
  live: JsonObject,
): Json | undefined {
  if (required.some((key) => !Object.hasOwn(live, key))) return undefined;
  return everyEntry(live, (key, value) => {
    const part = Object.hasOwn(parts, key) ? parts[key] : undefined;
    return part === undefined ? undefined : declarable(part.shape, value);
  });
}

function declarableJson(live: Json, depth: number): Json | undefined {
  if (depth > DEEPEST) return undefined;
  if (typeof live === "string") return escapeTemplate(live);
  if (isArray(live)) return every(live.map((item) => declarableJson(item, depth + 1)));
  if (!isObject(live)) return live;
  return everyEntry(live, (key, value) => (IS_KEY.test(key) ? declarableJson(value, depth + 1) : undefined));
}

/** All items, or nothing if one of them is missing. */
function every(items: readonly (Json | undefined)[]): readonly Json[] | undefined {
  const present = items.filter((item) => item !== undefined);
  return present.length === items.length ? present : undefined;
}

function everyEntry(
  live: JsonObject,
  read: (key: string, value: Json) => Json | undefined,
): JsonObject | undefined {
  const entries: [string, Json][] = [];
  for (const [key, value] of Object.entries(live)) {
    const own = read(key, value);
    if (own === undefined) return undefined;
    entries.push([key, own]);
  }
  return Object.fromEntries(entries);
}
