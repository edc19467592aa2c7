import { type DesiredResource, sendable } from "../model/desired.ts";
import { type Field, fieldsOf } from "../model/fields.ts";
import type { BodyValue, Change, PlannedCall } from "../model/plan.ts";
import { IdOf, type Value } from "../model/value.ts";
import { declaredChanges } from "./compare.ts";
import type { MatchedTarget } from "./matched-target.ts";
import { ordered } from "./normalise.ts";

/** A declared field with the value that the manifest gives it. */
export interface DeclaredField {
  readonly field: Field;
  readonly value: Value;
}

/** A declared field with the value to send, if any. */
export interface SentField {
  readonly field: Field;
  readonly value: BodyValue | undefined;
}

/** Returns the declared fields that a creation sends, without null and unknown values. */
export function sendableFields(resource: DesiredResource): readonly DeclaredField[] {
  return fieldsOf(resource.kind).flatMap((field) => {
    const value = field.local ? undefined : sendable(resource, field.name);
    return value === undefined ? [] : [{ field, value }];
  });
}

/** Returns the changes to show for fields that are sent without a live value to compare with. */
export function shownFields(declared: readonly DeclaredField[]): Change["fields"] {
  return declared.flatMap(({ field, value }) => declaredChanges(field, value));
}

/**
 * Makes a call below a target (service-api.md, "Endpoints").
 * @param path segments after the target's id
 */
export function callOf(
  method: PlannedCall["method"],
  { live, target }: MatchedTarget,
  path: PlannedCall["path"],
  body: PlannedCall["body"],
): PlannedCall {
  const id = live?.id ?? new IdOf(target.address);
  return {
    method,
    path: ["apiKey", "v3", "test-targets", id, ...path],
    body,
  };
}

/** Returns a PATCH of the fields, or an empty list if nothing is sent. */
export function patchOf(
  matched: MatchedTarget,
  path: PlannedCall["path"],
  sent: readonly SentField[],
): PlannedCall[] {
  return sent.length === 0 ? [] : [callOf("PATCH", matched, path, bodyOf(sent, "update"))];
}

/**
 * Returns a body with each field under its name on the service; objects have all declared parts.
 * Keys inside fields are sorted, so that the bytes do not depend on the manifest; fields are in the
 * order of the field table.
 */
export function bodyOf(sent: readonly SentField[], as: "create" | "update"): PlannedCall["body"] {
  const body: Record<string, BodyValue> = {};
  for (const { field, value } of sent) {
    const key = field[as];
    if (key !== undefined && value !== undefined) body[key] = ordered(value);
  }
  return body;
}
