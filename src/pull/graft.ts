import { isArray, isObject, sameJson } from "../model/json.ts";
import type { Json, JsonArray, JsonObject } from "../model/json.ts";
import { escaped, placeholdersIn } from "../rewrite/written.ts";

/** A value to be written; or the placeholders that the old one came through, which a pull leaves. */
export type Graft =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly placeholders: readonly string[] };

/**
 * The written value changed as little as makes it mean the live one: parts that mean the same already stay as they are
 * written, placeholders and all.
 * @param meant what the written value means: it has the same form
 */
export function graft(written: Json, meant: Json, live: Json): Graft {
  if (sameJson(meant, live)) return { ok: true, value: written };
  if (isArray(written) && isArray(meant) && isArray(live)) return graftList(written, meant, live);
  if (isObject(written) && isObject(meant) && isObject(live)) return graftMap(written, meant, live);
  return replacing(written, live);
}

/** A set of texts: members that stay keep their place, new ones come last. */
export function graftSet(written: JsonArray, meant: JsonArray, live: JsonArray): Graft {
  const stays = (_: Json, at: number): boolean => live.includes(meant[at] ?? null);
  const placeholders = written.filter((item, at) => !stays(item, at)).flatMap(placeholdersIn);
  if (placeholders.length > 0) return { ok: false, placeholders };
  const added = live.filter((item) => !meant.includes(item)).map(escaped);
  return { ok: true, value: [...written.filter(stays), ...added] };
}

function replacing(written: Json, live: Json): Graft {
  const placeholders = placeholdersIn(written);
  return placeholders.length > 0 ? { ok: false, placeholders } : { ok: true, value: escaped(live) };
}

function graftList(written: JsonArray, meant: JsonArray, live: JsonArray): Graft {
  const gone = written.slice(live.length).flatMap(placeholdersIn);
  const items = live.map((item, at): Graft => {
    const [old, means] = [written[at], meant[at]];
    return old === undefined || means === undefined
      ? { ok: true, value: escaped(item) }
      : graft(old, means, item);
  });
  return all(items, gone, (values) => values);
}

function graftMap(written: JsonObject, meant: JsonObject, live: JsonObject): Graft {
  const kept = Object.keys(written).filter((key) => Object.hasOwn(live, key));
  const gone = Object.keys(written).filter((key) => !Object.hasOwn(live, key));
  const added = Object.keys(live).filter((key) => !Object.hasOwn(written, key));
  const keys = [...kept, ...added];
  const parts = keys.map((key): Graft => {
    const [old, means, now = null] = [written[key], meant[key], live[key]];
    return old === undefined || means === undefined
      ? { ok: true, value: escaped(now) }
      : graft(old, means, now);
  });
  return all(
    parts,
    gone.flatMap((key) => placeholdersIn(written[key] ?? null)),
    (values) => Object.fromEntries(keys.map((key, at) => [key, values[at] ?? null])),
  );
}

function all(
  parts: readonly Graft[],
  gone: readonly string[],
  make: (values: readonly Json[]) => Json,
): Graft {
  const placeholders = [...gone, ...parts.flatMap((part) => (part.ok ? [] : part.placeholders))];
  if (placeholders.length > 0) return { ok: false, placeholders };
  return { ok: true, value: make(parts.flatMap((part) => (part.ok ? [part.value] : []))) };
}
