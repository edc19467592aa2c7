import { isObject } from "../model/json.ts";
import type { Json, JsonObject, Path } from "../model/json.ts";
import { setOwn } from "../yaml/own.ts";

/**
 * How layers become one value: maps merge key by key, anything else replaces, null too. Layers are never changed,
 * and what only one of them has is shared, not copied.
 */
export function merge(lower: Json, upper: Json): Json {
  return isObject(lower) && isObject(upper) ? mergeMaps(lower, upper) : upper;
}

function mergeMaps(lower: JsonObject, upper: JsonObject): JsonObject {
  const merged: Record<string, Json> = { ...lower };
  for (const [key, value] of Object.entries(upper)) {
    const below = Object.hasOwn(lower, key) ? lower[key] : undefined;
    setOwn(merged, key, below === undefined ? value : merge(below, value));
  }
  return merged;
}

/**
 * What stands at a path when all layers, lowest first, are merged; `undefined` if nothing does. It comes to the same
 * as merging first and looking then, at the price of the one value: most are texts, and found in one layer.
 */
export function mergedAt(layers: readonly { readonly value: JsonObject }[], path: Path): Json | undefined {
  // From the highest layer down to the first that is no map, since that replaces whatever lies below.
  let highest: Json | undefined;
  for (let at = layers.length - 1; at >= 0; at--) {
    const value = look(layers[at]?.value, path);
    if (value === undefined) continue;
    if (value === REPLACED) break;
    if (highest !== undefined) return merge(mergedAt(layers.slice(0, at + 1), path) ?? value, highest);
    highest = value;
    if (!isObject(value)) break;
  }
  return highest;
}

/** On the way to the path stands something that is no map: below, the path is replaced with it. */
const REPLACED = Symbol("replaced");

function look(value: Json | undefined, path: Path): Json | typeof REPLACED | undefined {
  let node = value;
  for (const step of path) {
    if (node === undefined) return undefined;
    if (!isObject(node)) return REPLACED;
    node = Object.hasOwn(node, step) ? node[step] : undefined;
  }
  return node;
}
