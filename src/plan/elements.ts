import type { DesiredResource } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { ELEMENT, ELEMENTS, type Shape } from "../model/fields.ts";
import { type Json, type JsonObject, defined, isArray, isObject, sameJson } from "../model/json.ts";
import type { LiveElement, LiveResource } from "../model/live.ts";
import type { BodyValue, ChangedBy, FieldChange, StepLosses } from "../model/plan.ts";
import type { Fingerprint } from "../model/state.ts";
import {
  Secret,
  type Value,
  type ValueObject,
  isSensitive,
  isUnknown,
  isValueObject,
  reveal,
} from "../model/value.ts";
import { locatorOf } from "../state/binding.ts";
import { alignLists, inOrderPairs } from "./align.ts";
import type { Fingerprinter } from "./input.ts";
import { caution, problem } from "./problem.ts";
import { differences, ordered } from "./normalise.ts";
import { lazy } from "./match.ts";
import {
  type Memory,
  mayHoldSecret,
  recordedSteps,
  stepDigest,
  withoutWriteOnly,
} from "./memory.ts";

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

/** Whether the live list matches the declared one, without locator lines, which are write-only. */
export function sameElements(
  declared: readonly ValueObject[],
  live: readonly LiveElement[],
): boolean {
  return (
    declared.length === live.length &&
    declared.every((element, at) => sameElement(element, live[at]))
  );
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
  if (shape.type === "list" && isArray(declared))
    return (
      isArray(live) &&
      live.length === declared.length &&
      declared.every((item, at) => holds(shape.of, live[at], item))
    );
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
 * Placeholder for the digest of selectors until the service's selectors for a line have been read.
 */
export const NOT_READ_YET = "";

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

export type Body = { readonly [key: string]: BodyValue };

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

/**
 * The differences of elements: a part of a PATCH, and the locator lines that need separate calls.
 */
interface ElementsDiff {
  readonly body: Body;
  readonly locators: readonly ElementMatch[];
  readonly shown: readonly FieldChange[];
  readonly warnings: readonly Diagnostic[];
  readonly losses?: StepLosses | undefined;
}

/**
 * Compares elements. If only locator lines differ, each gets a call; otherwise one PATCH has all,
 * and lines follow.
 */
export function diffElements(
  resource: DesiredResource,
  { elements: current = [] }: LiveResource,
  memory: Memory,
): ElementsDiff {
  const value = resource.fields["elements"];
  if (value === undefined || isUnknown(value))
    return { body: {}, locators: [], shown: [], warnings: [] };
  const declared = declaredElements(value);
  const matches = alignElements(declared, current, memory);
  const locators = matches.filter((match) => locatorDifference(match, memory) !== undefined);
  const lines = locators.map((match): FieldChange => {
    const path = ["elements", match.at, "locatorLine"];
    const by = locatorDifference(match, memory);
    const after = match.declared["locatorLine"] ?? null;
    return {
      path,
      ...(isSensitive(value) ? { sensitive: true } : { after: reveal(after) }),
      ...(by === undefined || by === "new" ? {} : { changedBy: by }),
    };
  });
  if (sameElements(declared, current)) return { body: {}, locators, shown: lines, warnings: [] };
  const mayHold = mayHoldSecret(ELEMENTS, memory);
  const authors = authorsOf(declared, matches, current, memory);
  const changes = elementChanges(matches, current, authors);
  const elements = elementBodies(matches, current, mayHold);
  const tooLarge = "An undeclared number in its elements is too large to be sent back as it is";
  const why =
    "Numbers beyond 2^53 lose digits as they are read. Declare the `options` that have it.";
  const rounded = problem("rounded-number", resource, tooLarge, why, ["elements"]);
  return {
    body: { elements },
    locators,
    shown: [...(isSensitive(value) || mayHold ? [hiddenChange(changes)] : changes), ...lines],
    warnings: [
      ...matches.flatMap((match) => keptParts(resource, match)),
      ...(elements.some(isRounded) ? [rounded] : []),
    ],
    losses: stepLosses(matches, current),
  };
}

/** Returns what the live steps lose by a PATCH; undefined if they lose nothing. */
function stepLosses(
  matches: readonly ElementMatch[],
  current: readonly LiveElement[],
): StepLosses | undefined {
  const kept = new Set(matches.map(({ live }) => live));
  const removed = current.filter((element) => !kept.has(element));
  const losses = { assertions: 0, steps: 0, ignored: 0, emptied: 0 };
  for (const { parts } of removed) losses[parts["assertion"] ? "assertions" : "steps"]++;
  const has = ({ declared, live }: ElementMatch, part: "interaction" | "assertion"): boolean =>
    Boolean(declared[part] === undefined ? live?.parts[part] : declared[part]);
  const isStep = (match: ElementMatch): boolean =>
    has(match, "interaction") || has(match, "assertion");
  for (const match of matches) {
    const { declared, live } = match;
    if (live === undefined) continue;
    if (declared["ignoreFailure"] === true && live.parts["ignoreFailure"] !== true)
      losses.ignored++;
    if (live.parts["assertion"] && !has(match, "assertion")) losses.assertions++;
    else if (live.parts["interaction"] && !isStep(match)) losses.emptied++;
  }
  if (Object.values(losses).every((lost) => lost === 0)) return undefined;
  return { ...losses, all: !matches.some(isStep) };
}

/**
 * Whether a number in a value may have lost digits when it was read. Manifests have no numbers of
 * that size.
 */
function isRounded(value: unknown): boolean {
  if (typeof value === "number") return Math.abs(value) > Number.MAX_SAFE_INTEGER;
  return typeof value === "object" && value !== null && Object.values(value).some(isRounded);
}

/**
 * Warns if an assertion is added to a step with an interaction, or vice versa: the user may want to
 * replace the step.
 */
function keptParts(
  resource: DesiredResource,
  { declared, at, live }: ElementMatch,
): readonly Diagnostic[] {
  return Object.entries({ interaction: "assertion", assertion: "interaction" }).flatMap(
    ([kept, added]) => {
      const had = (part: string): boolean => isObject(live?.parts[part]);
      const isAdded = had(kept) && !had(added) && isValueObject(declared[added]);
      if (!isAdded || declared[kept] !== undefined) return [];
      const detail = `The manifest declares an ${added} for a step that has an ${kept}. What is not declared stays, so the step has both. To replace the step, declare \`${kept}: null\` and \`ignoreFailure\`.`;
      return [
        caution("step-keeps-part", resource, `elements[${at}] keeps its ${kept}`, detail, [
          "elements",
          at,
        ]),
      ];
    },
  );
}

/**
 * Returns the differences step by step, as the PATCH handles them: a step inserted at the front is
 * one insertion.
 */
function elementChanges(
  matches: readonly ElementMatch[],
  current: readonly LiveElement[],
  authors: Authors | undefined,
): readonly FieldChange[] {
  const kept = new Set(matches.map(({ live }) => live));
  const changes: FieldChange[] = [];
  let next = 0;
  const reportRemoved = (until: number): void => {
    for (const element of current.slice(next, until)) {
      const lost = element.parts["assertion"] ? ({ harmful: "assertion lost" } as const) : {};
      const path = ["elements", next++];
      if (kept.has(element)) continue;
      const by =
        authors && (authors.only ?? (authors.keptOnService(element) ? "manifest" : "service"));
      const before = ordered(elementInWords(element));
      changes.push({ path, before, ...lost, ...defined({ changedBy: by }) });
    }
  };
  for (const match of matches) {
    if (match.live !== undefined && match.movedFrom === undefined)
      reportRemoved(current.indexOf(match.live));
    const changedBy = authors && authorOf(match, authors);
    changes.push(
      ...elementChange(match).map((change) => ({ ...change, ...defined({ changedBy }) })),
    );
  }
  reportRemoved(current.length);
  return changes;
}

/** Returns who changed, added or moved a declared step, or removed its live one. */
function authorOf({ at, live, movedFrom }: ElementMatch, authors: Authors): ChangedBy {
  if (authors.only !== undefined) return authors.only;
  const isOld = authors.keptInManifest(at);
  if (live === undefined) return isOld ? "service" : "manifest";
  const isLive = authors.keptOnService(live);
  // A step that both sides still have, but paired with another one, was removed by each.
  if (isOld === isLive && movedFrom === undefined) return "both";
  return isOld ? "service" : isLive ? "manifest" : "both";
}

/** Returns one change without values in place of all: they may contain a secret. */
function hiddenChange(changes: readonly FieldChange[]): FieldChange {
  const harmful = changes.find((change) => change.harmful !== undefined)?.harmful;
  const changedBy = commonAuthor(changes);
  return { path: ["elements"], sensitive: true, ...defined({ harmful, changedBy }) };
}

function elementChange({ declared, at, live, movedFrom }: ElementMatch): readonly FieldChange[] {
  const path = ["elements", at];
  if (live !== undefined && movedFrom === undefined && sameElement(declared, live)) return [];
  const after = ordered(reveal(withoutLine(declared)));
  if (live === undefined) return [{ path, after }];
  if (movedFrom !== undefined) return [{ path, after, movedFrom }];
  return differences(ordered(projectElement(declared, live)), after).map((difference) => {
    const [part] = difference.path;
    const isLost = part === "assertion" && live.parts["assertion"] && difference.after === null;
    const isIgnored = part === "ignoreFailure" && difference.after === true;
    const harmful = isLost ? "assertion lost" : isIgnored ? "failure ignored" : undefined;
    return { ...difference, path: [...path, ...difference.path], ...defined({ harmful }) };
  });
}

/**
 * Says who changed each step since the last apply. Both lists are compared with the steps that were
 * recorded, in their order. A step that is in the record is unchanged on its side.
 */
interface Authors {
  /** The side that changed, if the other one is as recorded. */
  readonly only: ChangedBy | undefined;
  /** Of a declared step. */
  readonly keptInManifest: (at: number) => boolean;
  /** Of a live step. */
  readonly keptOnService: (element: LiveElement) => boolean;
}

function authorsOf(
  declared: readonly ValueObject[],
  matches: readonly ElementMatch[],
  current: readonly LiveElement[],
  memory: Memory,
): Authors | undefined {
  const recorded = recordedSteps(memory);
  const { fingerprints, id } = memory;
  if (recorded === undefined || fingerprints === undefined) return undefined;
  const digest = (step: Json): string => stepDigest(fingerprints, id, step);
  const now = declared.map((step) => digest(reveal(withoutLine(step))));
  const inManifest = new Set(
    inOrderPairs(now.length, recorded.length, (i, k) => now[i] === recorded[k]).map(([i]) => i),
  );
  // A record does not say which parts of a step were declared. A live step counts as recorded if
  // it equals the record for any choice of parts.
  const declaredFor = new Map(matches.map(({ live, declared: own }) => [live, own]));
  const before = current.map((element) => {
    const digests = (choices: typeof PART_CHOICES) =>
      new Set(choices.map((choice) => digest(projectElement(choice(element), element))));
    const own = declaredFor.get(element);
    return {
      // The parts declared now are the first guess, and nearly always right.
      asNow: own === undefined ? undefined : digest(projectElement(own, element)),
      anyChoice: lazy(() => digests(PART_CHOICES)),
    };
  });
  const isRecorded = (j: number, k: number): boolean => {
    const [live, known = ""] = [before[j], recorded[k]];
    return live?.asNow === known || live?.anyChoice().has(known) === true;
  };
  const onService = new Set(
    inOrderPairs(current.length, recorded.length, isRecorded).map(([j]) => current[j]),
  );
  const isWhole = ({ size }: ReadonlySet<unknown>, steps: readonly unknown[]): boolean =>
    size === steps.length && size === recorded.length;
  return {
    only: isWhole(onService, current)
      ? "manifest"
      : isWhole(inManifest, declared)
        ? "service"
        : undefined,
    keptInManifest: (at) => inManifest.has(at),
    keptOnService: (element) => onService.has(element),
  };
}

/** Returns who changed the list of steps as a whole; `undefined` if state cannot tell. */
export function elementsChangedBy(
  declared: Value,
  current: readonly LiveElement[],
  memory: Memory,
): ChangedBy | undefined {
  const steps = declaredElements(declared);
  const matches = alignElements(steps, current, memory);
  const authors = authorsOf(steps, matches, current, memory);
  return commonAuthor(elementChanges(matches, current, authors));
}

function commonAuthor(changes: readonly FieldChange[]): ChangedBy | undefined {
  const [first, ...others] = new Set(changes.map(({ changedBy }) => changedBy));
  return others.length === 0 ? first : "both";
}

/**
 * Every choice of parts that an element can be declared with; objects and list items are whole or
 * have only the required keys.
 */
const PART_CHOICES = Object.entries(ELEMENT.parts).reduce<
  readonly ((element: LiveElement) => ValueObject)[]
>(
  (choices, [name, { shape, writeOnly }]) => {
    if (writeOnly === true) return choices;
    const item = shape.type === "list" ? shape.of : shape;
    const required = item.type === "object" ? (item.required ?? []) : [];
    const least = Object.fromEntries(required.map((key) => [key, ""]));
    const leastOf = (live: Json | undefined) => (isArray(live) ? live.map(() => least) : least);
    return choices.flatMap((choice) => [
      choice,
      (element) => ({ ...choice(element), [name]: "" }),
      ...(required.length === 0
        ? []
        : [
            (element: LiveElement) => ({
              ...choice(element),
              [name]: leastOf(element.parts[name]),
            }),
          ]),
    ]);
  },
  [() => ({})],
);

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
