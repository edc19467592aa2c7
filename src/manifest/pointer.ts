import { isArray, isObject } from "../model/json.ts";
import type { Json, JsonObject, Path } from "../model/json.ts";

/** A JSON pointer as a path. Only the document knows whether `0` is a key or a position. */
export function pathOf(pointer: string, document: Json): Path {
  const path: (string | number)[] = [];
  let value: Json | undefined = document;
  for (const raw of pointer.split("/").slice(1)) {
    const step = raw.replaceAll("~1", "/").replaceAll("~0", "~");
    path.push(isArray(value) ? Number(step) : step);
    value = childOf(value, isArray(value) ? Number(step) : step);
  }
  return path;
}

/** What stands at a path; `undefined` where there is nothing. */
export function valueAt(document: Json, path: Path): Json | undefined {
  let value: Json | undefined = document;
  for (const step of path) {
    if (value === undefined) return undefined;
    value = childOf(value, step);
  }
  return value;
}

function childOf(value: Json | undefined, step: string | number): Json | undefined {
  if (isArray(value)) return typeof step === "number" ? value[step] : undefined;
  return isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

/**
 * The document without what is at some paths. A list keeps its length, so that positions stay true: null remains. All
 * paths are taken out in one walk, or thousands of unknown keys would copy a document thousands of times.
 */
export function withoutAll(document: JsonObject, paths: readonly Path[]): JsonObject {
  const removed: Removed = new Map();
  for (const path of paths) {
    let level = removed;
    for (const step of path.slice(0, -1)) {
      const inner = level.get(step) ?? new Map();
      if (inner === GONE) break;
      level.set(step, inner);
      level = inner;
    }
    level.set(path.at(-1) ?? "", GONE);
  }
  return paths.some((path) => path.length === 0) ? {} : withoutIn(document, removed);
}

/** By key or position: what goes as a whole, and what goes of what stays. */
type Removed = Map<string | number, Removed | typeof GONE>;
const GONE = "gone";

function withoutIn(map: JsonObject, removed: Removed): JsonObject {
  const entries = Object.entries(map).flatMap(([key, value]): [string, Json][] => {
    const inner = removed.get(key);
    return inner === GONE ? [] : [[key, inner === undefined ? value : withoutInValue(value, inner)]];
  });
  return Object.fromEntries(entries);
}

function withoutInValue(value: Json, removed: Removed): Json {
  if (isObject(value)) return withoutIn(value, removed);
  if (!isArray(value)) return value;
  return value.map((item, at) => {
    const inner = removed.get(at);
    return inner === GONE ? null : inner === undefined ? item : withoutInValue(item, inner);
  });
}
