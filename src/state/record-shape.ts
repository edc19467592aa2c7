import type { Address } from "../model/address.ts";
import { KEY_PATTERN, KINDS } from "../model/address.ts";
import type { BatchRecord, Binding, FieldRecord, Intent, LocatorRecord, StateEvent } from "../model/state.ts";
import { hasMembers, isRecord, isRecordOf, isText, isTexts } from "./shape.ts";

/** Whether what a document or a journal holds are records of ours. */

const KEY = KEY_PATTERN.slice(1, -1);
const ADDRESS = new RegExp(`^(?:target|(?:${KINDS.slice(1).join("|")})\\.${KEY})\\.${KEY}$`);

/** As `isAddress` of the model, for as many as a document holds: without taking each one apart. */
export function isAddress(value: unknown): value is Address {
  return isText(value) && ADDRESS.test(value);
}

function isParts(value: unknown): value is Readonly<Record<string, string>> {
  return isRecordOf(value, isText);
}

function isFieldRecord(value: unknown): value is FieldRecord {
  return isText(value) || isParts(value);
}

function isFields(value: unknown): value is Binding["fields"] {
  return isRecordOf(value, isFieldRecord);
}

const LOCATOR = { line: isText, selectors: isText };
function isLocator(value: unknown): value is LocatorRecord {
  return hasMembers(value, LOCATOR);
}

function isLocators(value: unknown): value is Readonly<Record<string, LocatorRecord>> {
  return isRecordOf(value, isLocator);
}

const BINDING = { id: isText, fields: isFields };
const BINDING_OPTIONAL = { locators: isLocators };
export function isBinding(value: unknown): value is Binding {
  return hasMembers(value, BINDING, BINDING_OPTIONAL);
}

const BATCH_STATUSES: readonly unknown[] = [
  "done",
  "held",
  "uncertain",
  "undone",
] satisfies BatchRecord["status"][];
const BATCH = { status: (value: unknown) => BATCH_STATUSES.includes(value) };
const BATCH_OPTIONAL = { content: isText };
export function isBatchRecord(value: unknown): value is BatchRecord {
  return hasMembers(value, BATCH, BATCH_OPTIONAL);
}

const INTENT = { at: isText, existing: isTexts, fields: isFields };
const INTENT_OPTIONAL = { name: isText, externalId: isText, content: isText };
export function isIntent(value: unknown): value is Intent {
  return hasMembers(value, INTENT, INTENT_OPTIONAL);
}

type Members = Readonly<Record<string, (part: unknown) => boolean>>;

/** The members of each type of event, beside `type`. */
const EVENTS: Readonly<Record<StateEvent["type"], readonly [Members, Members?]>> = {
  keyed: [{ keyCheck: isText }],
  bound: [{ address: isAddress, id: isText, fields: isFields }],
  wrote: [{ address: isAddress, fields: isFields }],
  forgot: [{ address: isAddress, fields: isTexts }],
  located: [{ address: isAddress, locators: isLocators }, { elements: isTexts }],
  unbound: [{ address: isAddress }],
  moved: [{ from: isAddress, to: isAddress }],
  folder: [{ name: isText, id: isText }],
  batch: [{ address: isAddress, record: isBatchRecord }],
  intended: [{ address: isAddress, intent: isIntent }],
  settled: [{ address: isAddress }],
};

export function isStateEvent(value: unknown): value is StateEvent {
  if (!isRecord(value) || !isEventType(value["type"])) return false;
  const [required, optional] = EVENTS[value["type"]];
  return hasMembers(value, { type: isText, ...required }, optional);
}

function isEventType(value: unknown): value is StateEvent["type"] {
  return isText(value) && Object.hasOwn(EVENTS, value);
}

export function areStateEvents(value: unknown): value is readonly StateEvent[] {
  return Array.isArray(value) && value.every(isStateEvent);
}
