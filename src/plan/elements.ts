import type { DesiredResource } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { ELEMENT, type Shape } from "../model/fields.ts";
import { type Json, type JsonObject, isArray, isObject, sameJson } from "../model/json.ts";
import type { LiveElement, LiveResource } from "../model/live.ts";
import type { ChangedBy } from "../model/plan.ts";
import type { Fingerprint } from "../model/state.ts";
import { type Value, type ValueObject, isUnknown, isValueObject, reveal } from "../model/value.ts";
import { locatorOf } from "../state/binding.ts";
import { alignLists } from "./align.ts";
import type { Fingerprinter } from "./input.ts";
import { type Memory, withoutWriteOnly } from "./memory.ts";
import { caution } from "./problem.ts";

/**
 * A declared element (a step of a test case) and the live one that it continues. If the lists
 * differ, a PATCH must send all elements, and an element keeps its identity only if its id is sent.
 * So the declared list is aligned with the live one, and elements found in both keep their ids and
 * their undeclared parts.
 */
export interface ElementMatch {
  readonly declared: ValueObject;
  /** Position in the manifest's list. */
  readonly at: number;
  /** The live element that it continues; undefined for a new element. */
  readonly live: LiveElement | undefined;
  /** Position of the live element, if it is equal but at another place. */
  readonly movedFrom?: number;
}

export function declaredElements(value: Value | undefined): readonly ValueObject[] {
  // Manifests have been validated, so this check only narrows the type.
  return isArray(value) && value.every(isValueObject) ? value : [];
}

/**
 * Aligns the declared list with the live one. If they differ, it pairs first the equal elements in
 * the same order, then the equal elements that have moved, and last the remaining elements between
 * two unmoved ones, in order.
 */
export function alignElements(
  declared: readonly ValueObject[],
  live: readonly LiveElement[],
  memory: Memory,
): readonly ElementMatch[] {
  if (sameElements(declared, live))
    return declared.map((element, at) => ({ declared: element, at, live: live[at] }));
  const same = (i: number, j: number): boolean => {
    const element = declared[i];
    return (
      element !== undefined &&
      sameElement(element, live[j]) &&
      sameLocator(element, live[j], memory)
    );
  };
  const isMoved = (i: number, j: number): boolean => same(i, j) && isWhole(declared[i], live[j]);
  const { partners, moved } = alignLists(declared.length, live.length, same, isMoved);
  return declared.map((element, at) => {
    const index = partners.get(at);
    if (index === undefined) return { declared: element, at, live: undefined };
    return {
      declared: element,
      at,
      live: live[index],
      ...(moved.has(at) ? { movedFrom: index } : {}),
    };
  });
}

/**
 * Whether a manifest declares every part of a live element; a partial declaration may match another
 * one by chance.
 */
function isWhole(declared: ValueObject | undefined, live: LiveElement | undefined): boolean {
  if (declared === undefined || live === undefined) return false;
  const says = (part: string): boolean =>
    Object.hasOwn(declared, part) ||
    (part === "selectors" && declared["locatorLine"] !== undefined);
  return Object.keys(elementInWords(live)).every(says);
}

/**
 * Whether a recorded locator line, if any, is the declared one. It distinguishes steps that differ
 * only in the line.
 */
function sameLocator(
  declared: ValueObject,
  live: LiveElement | undefined,
  memory: Memory,
): boolean {
  const line = declared["locatorLine"];
  const id = live?.id;
  const record = id === undefined ? undefined : locatorOf(memory.binding, id);
  if (line === undefined || id === undefined || record === undefined) return true;
  return (
    memory.fingerprints === undefined ||
    record.line === locatorDigest(memory.fingerprints, id, line)
  );
}

/** Whether the live list matches the declared one, without locator lines, which are write-only. */
export function sameElements(
  declared: readonly ValueObject[],
  live: readonly LiveElement[],
): boolean {
  if (declared.length !== live.length) return false;
  for (let at = 0; at < live.length; at++) {
    const element = declared[at];
    if (element === undefined || !sameElement(element, live[at])) return false;
  }
  return true;
}

/** Whether a live element has every declared part. Most have, so the check avoids allocations. */
export function sameElement(declared: ValueObject, live: LiveElement | undefined): boolean {
  return live !== undefined && (live.parts === declared || holds(ELEMENT, live.parts, declared));
}

function holds(shape: Shape, live: Json | undefined, declared: Value): boolean {
  if (shape.type === "object" && isValueObject(declared)) {
    if (!isObject(live)) return false;
    for (const name in declared) {
      const part = shape.parts[name];
      const value = declared[name];
      if (part === undefined || value === undefined || part.writeOnly) continue;
      if (!holds(part.shape, live[name], value)) return false;
    }
    return true;
  }
  if (shape.type === "list" && isArray(declared)) {
    if (!isArray(live) || live.length !== declared.length) return false;
    for (let at = 0; at < live.length; at++)
      if (!holds(shape.of, live[at], declared[at] ?? null)) return false;
    return true;
  }
  if (typeof declared !== "object" || declared === null) return live === declared;
  return !isUnknown(declared) && sameJson(live, reveal(declared));
}

export function withoutLine(declared: ValueObject): Value {
  return withoutWriteOnly(ELEMENT, declared);
}

/** Reduces a live element to its declared parts; returns it whole if it is not declared. */
export function projectElement(declared: ValueObject | undefined, { parts }: LiveElement): Json {
  return project(ELEMENT, declared, parts);
}

/** Reduces each live element of a list to the parts that are declared at its position. */
export function projectElements(
  declared: readonly ValueObject[],
  live: readonly LiveElement[],
): Json {
  return live.map((element, at) => projectElement(declared[at], element));
}

/**
 * Keeps the declared keys of live objects. A declared key that the service does not show stays
 * missing and so differs.
 */
function project(shape: Shape, declared: Value | undefined, live: Json): Json {
  if (shape.type === "object" && isObject(live) && isValueObject(declared)) {
    const kept: Record<string, Json> = {};
    for (const [name, value] of Object.entries(live)) {
      const part = shape.parts[name];
      if (part !== undefined && Object.hasOwn(declared, name))
        kept[name] = project(part.shape, declared[name], value);
    }
    return kept;
  }
  if (shape.type !== "list" || !isArray(live)) return live;
  const items = isArray(declared) ? declared : [];
  // An undeclared item is kept whole, so all of it differs.
  return live.map((item, at) => project(shape.of, items[at], item));
}

/**
 * Returns a live element as a manifest would declare it, without values that mean the same as
 * absence.
 */
export function elementInWords({ parts }: LiveElement): JsonObject {
  const words = inWords(ELEMENT, parts);
  return isObject(words) ? words : {};
}

function inWords(shape: Shape, live: Json): Json | undefined {
  if (live === null || live === false) return undefined;
  if (shape.type === "json")
    return isObject(live) && Object.keys(live).length === 0 ? undefined : live;
  if (shape.type === "list" && isArray(live))
    return live.length === 0 ? undefined : live.map((item) => inWords(shape.of, item) ?? {});
  if (shape.type !== "object" || !isObject(live)) return live;
  const words: Record<string, Json> = {};
  for (const [name, { shape: part }] of Object.entries(shape.parts)) {
    const value = inWords(part, live[name] ?? null);
    if (value !== undefined) words[name] = value;
  }
  return words;
}

/**
 * Whether a manifest declares everything in the live elements, so that they contain nothing older.
 */
export function saysAll(declared: readonly ValueObject[], live: readonly LiveElement[]): boolean {
  return live.every((element, at) => {
    const own = declared[at] ?? {};
    // With a locator line, the service makes the selectors, so they count as declared.
    const comparable = own["locatorLine"] === undefined ? own : { ...own, selectors: [] };
    return sameJson(
      inWords(ELEMENT, projectElement(comparable, element)) ?? {},
      elementInWords(element),
    );
  });
}

/**
 * Placeholder for the digest of selectors until the service's selectors for a line have been read.
 */
export const NOT_READ_YET = "";

/**
 * Returns the digest of the selectors made from a locator line, which is recorded to detect later
 * changes.
 */
export function selectorsDigest(fingerprints: Fingerprinter, live: LiveElement): Fingerprint {
  return fingerprints.of(`${live.id ?? ""}/selectors`, live.parts["selectors"] ?? []);
}

/** Returns the digest of a locator line of an element, which is recorded. */
export function locatorDigest(
  fingerprints: Fingerprinter,
  elementId: string,
  line: Value,
): Fingerprint {
  return fingerprints.of(`${elementId}/locatorLine`, reveal(line));
}

/**
 * Returns why a locator line must be written; `undefined` if it is up to date, or cannot be
 * compared or written.
 */
export function locatorDifference(
  { declared, live }: ElementMatch,
  memory: Memory,
): "new" | ChangedBy | undefined {
  const line = declared["locatorLine"];
  const { fingerprints } = memory;
  if (line === undefined || fingerprints === undefined || isUnknown(line)) return undefined;
  if (live === undefined) return "new";
  if (live.id === undefined) return undefined;
  const record = locatorOf(memory.binding, live.id);
  if (record === undefined) return "new";
  const manifest = record.line !== locatorDigest(fingerprints, live.id, line);
  const service =
    record.selectors !== NOT_READ_YET && record.selectors !== selectorsDigest(fingerprints, live);
  if (manifest) return service ? "both" : "manifest";
  return service ? "service" : undefined;
}

/**
 * Whether a test case whose elements are as declared has a locator line that must be written, or
 * cannot be.
 */
export function hasOpenLocators(
  { fields }: DesiredResource,
  { elements = [] }: LiveResource,
  memory: Memory,
): boolean {
  return declaredElements(fields["elements"]).some((declared, at) => {
    const live = elements[at];
    if (declared["locatorLine"] === undefined) return false;
    const isNameless = live !== undefined && live.id === undefined;
    return isNameless || locatorDifference({ declared, at, live }, memory) !== undefined;
  });
}

/** Warns if a live element with a declared locator line has no id, which operation 9 needs. */
export function namelessElements(
  resource: DesiredResource,
  live: LiveResource,
): readonly Diagnostic[] {
  const declared = declaredElements(resource.fields["elements"]);
  const nameless = (live.elements ?? []).some(
    ({ id }, at) => id === undefined && declared[at]?.["locatorLine"] !== undefined,
  );
  const summary = "Locator lines cannot be written";
  const why =
    "The service returns no ids of the elements, which are needed to write a locator line.";
  return nameless ? [caution("element-without-id", resource, summary, why, ["elements"])] : [];
}
