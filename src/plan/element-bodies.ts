import { cached, sortedTexts } from "../model/collections.ts";
import { ELEMENT, type ObjectShape, type Shape } from "../model/fields.ts";
import {
  type Json,
  type JsonObject,
  isArray,
  isObject,
  mapValues,
  sameJson,
} from "../model/json.ts";
import type { LiveElement } from "../model/live.ts";
import { type BodyValue, Later } from "../model/plan.ts";
import {
  Secret,
  type Value,
  type ValueObject,
  isSensitive,
  isValueObject,
  reveal,
} from "../model/value.ts";
import type { ElementMatch } from "./elements.ts";
import { ordered } from "./normalise.ts";

/**
 * Returns the `elements` of a PATCH (service-api.md, operation 8), made when they are read: declared
 * parts override live ones; parts and nulls that service-api.md does not describe are left out. If one leaf is
 * sensitive, all text kept from live elements is sensitive, because it may be an old secret.
 *
 * @param mayHold whether live elements may contain an old secret although no leaf is sensitive any
 * more
 */
export function elementBodies(
  matches: readonly ElementMatch[],
  live: readonly LiveElement[],
  mayHold = false,
): Later {
  return new Later(() => ordered(bodiesOf(matches, live, mayHold)));
}

function bodiesOf(
  matches: readonly ElementMatch[],
  live: readonly LiveElement[],
  mayHold: boolean,
): readonly BodyValue[] {
  const isHidden = mayHold || matches.some((match) => isSensitive(match.declared));
  const base = firstIndex(live.map((element) => element.raw));
  return matches.map(({ declared, live: own }, position) => {
    const raw = own?.raw ?? {};
    const kept = isHidden ? hidden(raw) : raw;
    const body: Record<string, BodyValue> = {};
    for (const key of keysOf(ELEMENT, OWN)) {
      const part = ELEMENT.parts[key];
      let value: BodyValue | undefined;
      if (key === "index") value = base + position;
      else if (part === undefined) value = raw[key] ?? undefined;
      else if (!part.writeOnly) value = bodyPart(part.shape, declared[key], kept[key]);
      if (value !== undefined) body[key] = value;
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
    return merged(keysOf(shape, LINKS), raw, declared);
  }
  if (shape.type !== "list" || shape.of.type !== "object") return declared ?? raw ?? undefined;
  const before = isArray(raw) ? raw.filter(isValueObject) : [];
  if (isArray(declared)) return itemBodies(shape.of, declared.filter(isValueObject), before);
  // An undeclared list stays whole.
  const keys = keysOf(shape.of, ITEM_LINKS);
  return isArray(raw) ? before.map((item) => merged(keys, item)) : undefined;
}

/**
 * Returns the items of a declared list. An item keeps the ids and undeclared parts of the live item
 * that it continues.
 */
function itemBodies(
  shape: ObjectShape,
  declared: readonly ValueObject[],
  before: readonly ValueObject[],
): readonly BodyValue[] {
  const { required = [] } = shape;
  const isSame = (item: ValueObject, one: ValueObject | undefined): boolean =>
    required.every((key) => sameJson(reveal(item[key] ?? null), reveal(one?.[key] ?? null)));
  const left = new Set(before);
  const take = (one?: ValueObject) => (one !== undefined && left.delete(one) ? one : undefined);
  // An equal item keeps its own data, even if it moved; a new one continues the item at its
  // position, if that is free.
  const inPlace = declared.map((item, at) =>
    isSame(item, before[at]) ? take(before[at]) : undefined,
  );
  const own = declared.map(
    (item, at) => inPlace[at] ?? take([...left].find((one) => isSame(item, one))),
  );
  const keys = keysOf(shape, ITEM_LINKS);
  const base = firstIndex(before);
  return declared.map((item, at) =>
    merged(keys, own[at] ?? take(before[at]) ?? {}, { ...item, index: base + at }),
  );
}

/** Keys of an element that link it to its list. */
const OWN: readonly string[] = ["id", "testCaseId", "index"];
/** Keys that link a part of an element to its parent. */
const LINKS: readonly string[] = ["id", "testCaseElementId"];
/** The same of an item of a list. */
const ITEM_LINKS: readonly string[] = [...LINKS, "index"];

/** Returns the keys that are sent, in the order of a body. @param links those of the service's own */
function keysOf(shape: ObjectShape, links: readonly string[]): readonly string[] {
  return cached(KEYS, shape, () => sortedTexts([...links, ...Object.keys(shape.parts)]));
}

const KEYS = new Map<ObjectShape, readonly string[]>();

/** Returns the declared values, and those of the live part that are not declared. */
function merged(
  keys: readonly string[],
  raw: ValueObject,
  declared: ValueObject = {},
): ValueObject {
  const body: Record<string, Value> = {};
  for (const key of keys) {
    const value = Object.hasOwn(declared, key) ? declared[key] : (raw[key] ?? undefined);
    if (value !== undefined) body[key] = value;
  }
  return body;
}

/** Wraps all texts as secrets: they are sent unchanged, but shown as sensitive. */
function hidden(value: JsonObject): ValueObject;
function hidden(value: Json): Value;
function hidden(value: Json): Value {
  if (typeof value === "string") return new Secret(value);
  if (isArray(value)) return value.map((item) => hidden(item));
  if (!isObject(value)) return value;
  return mapValues(value, (part, key) => (LINKS.includes(key) ? part : hidden(part)));
}
