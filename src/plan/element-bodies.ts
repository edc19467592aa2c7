import { ELEMENT, type Shape } from "../model/fields.ts";
import { type Json, type JsonObject, isArray, isObject, sameJson } from "../model/json.ts";
import type { LiveElement } from "../model/live.ts";
import type { BodyValue } from "../model/plan.ts";
import {
  Secret,
  type Value,
  type ValueObject,
  isSensitive,
  isValueObject,
  reveal,
} from "../model/value.ts";
import type { ElementMatch } from "./elements.ts";

/**
 * Returns the `elements` of a PATCH (service-api.md, operation 8): declared parts override live
 * ones; parts and nulls that service-api.md does not describe are left out. If one leaf is
 * sensitive, all text kept from live elements is sensitive, because it may be an old secret.
 *
 * @param mayHold whether live elements may contain an old secret although no leaf is sensitive any
 * more
 */
export function elementBodies(
  matches: readonly ElementMatch[],
  live: readonly LiveElement[],
  mayHold = false,
): readonly BodyValue[] {
  const isHidden = mayHold || matches.some((match) => isSensitive(match.declared));
  const base = firstIndex(live.map((element) => element.raw));
  return matches.map(({ declared, live: { raw } = { raw: {} } }, position) => {
    const kept = isHidden ? hidden(raw) : raw;
    const body: Record<string, BodyValue> = {
      ...pick(raw, ["id", "testCaseId"]),
      index: base + position,
    };
    for (const [name, { shape, writeOnly }] of Object.entries(ELEMENT.parts)) {
      const value = writeOnly ? undefined : bodyPart(shape, declared[name], kept[name]);
      if (value !== undefined) body[name] = value;
    }
    return body;
  });
}

/**
 * Returns the first live index. It is unknown whether the service counts from 0 or 1, so its own
 * start is reused.
 */
function firstIndex(raw: readonly ValueObject[]): number {
  const first = raw[0]?.["index"];
  return typeof first === "number" ? first : 0;
}

/** Returns a part to send. @param raw the live part as received, or with its texts hidden */
function bodyPart(
  shape: Shape,
  declared: Value | undefined,
  raw: Value | undefined,
): BodyValue | undefined {
  if (shape.type === "object") {
    if (declared !== undefined && !isValueObject(declared)) return declared;
    if (!isValueObject(raw)) return declared ?? (raw === null ? null : undefined);
    return { ...pick(raw, [...LINKS, ...Object.keys(shape.parts)]), ...declared };
  }
  if (shape.type !== "list" || shape.of.type !== "object") return declared ?? raw ?? undefined;
  // A declared item keeps the ids and undeclared parts of the live item that it continues; an
  // undeclared list stays whole.
  const before = isArray(raw) ? raw.filter(isValueObject) : [];
  const { parts, required = [] } = shape.of;
  const keys = [...LINKS, ...Object.keys(parts)];
  if (!isArray(declared))
    return isArray(raw) ? before.map((item) => pick(item, [...keys, "index"])) : undefined;
  const undeclared = keys.filter((key) => !required.includes(key));
  const base = firstIndex(before);
  const items = declared.filter(isValueObject);
  const isSame = (item: ValueObject) => (one: ValueObject) =>
    required.every((key) => sameJson(reveal(item[key] ?? null), reveal(one[key] ?? null)));
  const left = new Set(before);
  const take = (one?: ValueObject) => (one !== undefined && left.delete(one) ? one : undefined);
  // An equal item keeps its own data, even if it moved; a new one continues the item at its
  // position, if that is free.
  const inPlace = items.map((item, at) => take(before.slice(at, at + 1).find(isSame(item))));
  const own = items.map((item, at) => inPlace[at] ?? take([...left].find(isSame(item))));
  return items.map((item, at) => ({
    ...pick(own[at] ?? take(before[at]) ?? {}, undeclared),
    index: base + at,
    ...item,
  }));
}

/** Keys that link a part of an element to its parent. */
const LINKS: readonly string[] = ["id", "testCaseElementId"];

/** Wraps all texts as secrets: they are sent unchanged, but shown as sensitive. */
function hidden(value: JsonObject): ValueObject;
function hidden(value: Json): Value;
function hidden(value: Json): Value {
  if (typeof value === "string") return new Secret(value);
  if (isArray(value)) return value.map((item) => hidden(item));
  if (!isObject(value)) return value;
  const parts = Object.entries(value);
  return Object.fromEntries(
    parts.map(([key, part]) => [key, LINKS.includes(key) ? part : hidden(part)]),
  );
}

function pick(source: ValueObject, keys: readonly string[]): ValueObject {
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = source[key] ?? null;
      return value === null ? [] : [[key, value]];
    }),
  );
}
