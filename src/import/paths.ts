import { isObject } from "../model/json.ts";
import type { Json, JsonObject, Path } from "../model/json.ts";

/** What stands in maps at a path of keys; `undefined` where there is nothing. */
export function valueIn(map: JsonObject, path: Path): Json | undefined {
  let value: Json | undefined = map;
  for (const step of path) value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return value;
}

/** The map with a value at a path of keys. */
export function withValue(map: JsonObject, [step, ...rest]: Path, value: Json): JsonObject {
  if (step === undefined) return map;
  const below = map[step];
  const inner = rest.length === 0 ? value : withValue(isObject(below) ? below : {}, rest, value);
  return { ...map, [step]: inner };
}

/** The map without what stands at a path, and without the maps that it leaves empty. */
export function withoutValue(map: JsonObject, [step, ...rest]: Path): JsonObject {
  const entries = Object.entries(map).flatMap(([key, value]): [string, Json][] => {
    if (key !== step) return [[key, value]];
    const left = rest.length > 0 && isObject(value) ? withoutValue(value, rest) : {};
    return Object.keys(left).length === 0 ? [] : [[key, left]];
  });
  return Object.fromEntries(entries);
}
