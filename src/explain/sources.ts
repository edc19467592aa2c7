import type { Field } from "../fields/field.ts";
import type { DesiredResource } from "../model/desired.ts";
import { isArray, isObject } from "../model/json.ts";
import type { Json, JsonObject, Path } from "../model/json.ts";
import { SENSITIVE } from "../model/value.ts";
import { isTemplate, parseTemplate } from "../manifest/template/parse.ts";
import type { Source } from "./explanation.ts";

/** The layers of a resource that give a field a value, lowest first. */
export function sourcesOf<L>(resource: DesiredResource, field: Field<L>, hidden: Hidden): readonly Source[] {
  const found = resource.layers.flatMap((layer) => {
    const written = at(layer.value, field.path);
    return written === undefined ? [] : [{ layer, written }];
  });
  return found.map(({ layer, written }, place) => ({
    layer: layer.kind,
    origin: { file: layer.file, path: [...layer.path, ...field.path] },
    written: showWritten(written, hidden),
    role: roleOf(found.slice(place).map((later) => later.written)),
  }));
}

/** A map goes on to count below maps; anything else is replaced by what comes later. */
function roleOf([own, ...later]: readonly Json[]): Source["role"] {
  if (later.length === 0) return "counts";
  return isObject(own) && later.every(isObject) ? "merged" : "replaced";
}

function at(value: JsonObject, path: Path): Json | undefined {
  let node: Json | undefined = value;
  for (const step of path) node = isObject(node) && Object.hasOwn(node, step) ? node[step] : undefined;
  return node;
}

/** Which parts of a field must not show as they are written: all, or those of that name. */
export type Hidden = (part: string | undefined) => boolean;

/**
 * A value as it is written. Of one that must not show, the interpolations may still: they name a secret and do not
 * tell it; what stands around them stays hidden.
 */
function showWritten(written: Json, hidden: Hidden): Json {
  if (!isObject(written)) return hidden(undefined) ? veiled(written) : written;
  return Object.fromEntries(
    Object.entries(written).map(([part, value]) => [
      part,
      hidden(part) || hidden(undefined) ? veiled(value) : value,
    ]),
  );
}

function veiled(written: Json): Json {
  if (typeof written !== "string" || !isTemplate(written)) return SENSITIVE;
  return parseTemplate(written)
    .parts.map((part) => (part.kind === "text" ? SENSITIVE : part.source))
    .join("");
}

/** The written values that count, for the interpolations in them. */
export function countingValues<L>(resource: DesiredResource, field: Field<L>): readonly Json[] {
  const written = resource.layers.flatMap((layer) => at(layer.value, field.path) ?? []);
  return written.filter((_, place) => roleOf(written.slice(place)) !== "replaced");
}

/** Every text in a value. */
export function textsIn(value: Json): readonly string[] {
  if (typeof value === "string") return [value];
  if (isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.values(value).flatMap(textsIn) : [];
}
