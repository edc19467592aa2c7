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

/** The document without what stands at a path. A list keeps its length, so that positions stay true: null remains. */
export function without(document: JsonObject, path: Path): JsonObject {
  const [step, ...rest] = path;
  if (step === undefined) return {};
  const entries = Object.entries(document).flatMap(([key, value]): [string, Json][] => {
    if (key !== step) return [[key, value]];
    return rest.length === 0 ? [] : [[key, withoutIn(value, rest)]];
  });
  return Object.fromEntries(entries);
}

function withoutIn(value: Json, path: Path): Json {
  if (isObject(value)) return without(value, path);
  const [step, ...rest] = path;
  if (!isArray(value) || typeof step !== "number") return value;
  return value.map((item, at) => (at !== step ? item : rest.length === 0 ? null : withoutIn(item, rest)));
}
