import { fieldsOf } from "../fields/fields.ts";
import type { Field } from "../fields/field.ts";
import { isArray, isObject } from "../model/json.ts";
import type { Json } from "../model/json.ts";
import type { Address } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { PlannedCall } from "../model/plan.ts";
import type { FieldRecord, StateEvent } from "../model/state.ts";
import { isUnknown } from "../model/value.ts";
import type { Value } from "../model/value.ts";
import { declaredElements, locatorDigest, NOT_READ_YET, shownElements } from "../plan/elements.ts";
import type { Fingerprinter } from "../plan/inputs.ts";
import { recordField, wholeRecord } from "../plan/memory.ts";

type Records = Readonly<Record<string, FieldRecord>>;

/**
 * What state remembers once a creation has succeeded: the fields that went with it, and the declared nulls, which a
 * creation leaves out because nothing is there yet.
 */
export function createdRecords(fingerprints: Fingerprinter, resource: DesiredResource, id: string): Records {
  return recordsWhere(
    fingerprints,
    resource,
    id,
    (field, value) => field.create !== undefined || value === null,
  );
}

/** What state remembers of the DEFAULT environment, which is made with its target. */
export function defaultEnvironmentRecords(
  fingerprints: Fingerprinter,
  resource: DesiredResource,
  id: string,
): Records {
  return recordsWhere(
    fingerprints,
    resource,
    id,
    (field, value) => field.name === "discoveryUrl" || value === null,
  );
}

/** What state remembers once a PATCH has succeeded: the fields that it carried. */
export function patchedRecords(
  fingerprints: Fingerprinter,
  resource: DesiredResource,
  id: string,
  body: PlannedCall["body"],
): Records {
  return recordsWhere(
    fingerprints,
    resource,
    id,
    (field) => field.update !== undefined && Object.hasOwn(body, field.update),
  );
}

function recordsWhere(
  fingerprints: Fingerprinter,
  resource: DesiredResource,
  id: string,
  carried: (field: Field<never>, value: Value) => boolean,
): Records {
  const records: Record<string, FieldRecord> = {};
  for (const field of fieldsOf(resource.kind)) {
    const value = resource.fields[field.name];
    if (value === undefined || isUnknown(value) || field.behaviour.kind === "fixed") continue;
    if (carried(field, value)) records[field.name] = recordValue(fingerprints, id, field, value);
  }
  return records;
}

function recordValue(
  fingerprints: Fingerprinter,
  id: string,
  field: Field<never>,
  value: Value,
): FieldRecord {
  if (field.behaviour.kind !== "elements") return recordField(fingerprints, id, field, value);
  return wholeRecord(fingerprints, id, field, shownElements(declaredElements(value)));
}

/** The folder that a call writes by name; state keeps no name that is a secret. */
export function folderName(body: PlannedCall["body"]): string | undefined {
  const name = body["folderName"];
  return typeof name === "string" ? name : undefined;
}

/** The folder's id, where the answer to a call that wrote its name shows it. */
export function folderEvents(body: PlannedCall["body"], answer: Json | undefined): readonly StateEvent[] {
  const name = folderName(body);
  const id = isObject(answer) ? answer["folderId"] : undefined;
  return name !== undefined && typeof id === "string" ? [{ type: "folder", name, id }] : [];
}

/** Ids of the elements in an answer, in the order of their positions; nothing where it does not show them all. */
export function elementIds(answer: Json | undefined): readonly string[] {
  const elements = isObject(answer) && isArray(answer["elements"]) ? answer["elements"].filter(isObject) : [];
  const sorted = elements.toSorted((a, b) => Number(a["index"] ?? 0) - Number(b["index"] ?? 0));
  const ids = sorted.map((element) => element["id"]);
  return ids.every((id) => typeof id === "string") ? ids : [];
}

/**
 * The record of a locator line that was written to an element. Until the element is read, nothing is known of the
 * selectors that the service makes of the line; the list's form of them is what later plans compare with.
 */
export function writtenLocator(
  fingerprints: Fingerprinter,
  address: Address,
  elementId: string,
  line: Value,
): StateEvent {
  const digest = locatorDigest(fingerprints, elementId, line);
  return { type: "located", address, locators: { [elementId]: { line: digest, selectors: NOT_READ_YET } } };
}
