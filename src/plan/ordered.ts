import type { Shape } from "../fields/field.ts";
import { compareText } from "../model/address.ts";
import { isArray, isObject } from "../model/json.ts";
import type { Json } from "../model/json.ts";
import type { BodyValue, Change, PlannedCall } from "../model/plan.ts";
import { IdOf, Secret, Unknown } from "../model/value.ts";

/** Plain data with the keys of its objects in order: where a manifest or an answer has them makes no difference. */
export function ordered(value: Json): Json {
  if (isArray(value)) return value.map(ordered);
  if (!isObject(value)) return value;
  return Object.fromEntries(sortedEntries(value).map(([key, part]) => [key, ordered(part)]));
}

/** Names of a field's parts: as its shape has them, or sorted where they are of the user's own choice. */
export function orderedParts(shape: Shape, names: readonly string[]): readonly string[] {
  if (shape.type !== "object") return names.toSorted(compareText);
  return Object.keys(shape.parts).filter((part) => names.includes(part));
}

/** A change whose calls are the same bytes for the same manifest, in whatever order its maps are written. */
export function orderedChange(change: Change): Change {
  return {
    ...change,
    calls: change.calls.map(orderedCall),
    followUps: change.followUps.map(orderedCall),
  };
}

/** The fields of a body stand in the order of the field table already. */
function orderedCall(call: PlannedCall): PlannedCall {
  const body = Object.entries(call.body).map(([key, value]) => [key, orderedBody(value)] as const);
  return { ...call, body: Object.fromEntries(body) };
}

function orderedBody(value: BodyValue): BodyValue {
  if (isList(value)) return value.map(orderedBody);
  if (isLeaf(value)) return value;
  return Object.fromEntries(sortedEntries(value).map(([key, part]) => [key, orderedBody(part)]));
}

function isLeaf(value: BodyValue): value is null | boolean | number | string | Secret | Unknown | IdOf {
  if (typeof value !== "object" || value === null) return true;
  return value instanceof Secret || value instanceof Unknown || value instanceof IdOf;
}

function isList(value: BodyValue): value is readonly BodyValue[] {
  return Array.isArray(value);
}

function sortedEntries<V>(object: Readonly<Record<string, V>>): readonly (readonly [string, V])[] {
  return Object.entries(object).toSorted(([a], [b]) => compareText(a, b));
}
