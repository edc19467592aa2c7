import { isArray, isObject, sameJson } from "../model/json.ts";
import type { Json, JsonObject } from "../model/json.ts";
import type { LiveElement, LiveSelector } from "../model/live.ts";
import type { Fingerprint } from "../model/state.ts";
import type { Value, ValueObject } from "../model/value.ts";
import { isValueList, isValueObject, reveal } from "../model/value.ts";
import type { BodyValue } from "../model/plan.ts";
import type { Memory } from "./memory.ts";

/**
 * Elements are the steps of a test case. They compare by position, part by part as declared. When the lists differ
 * the service must be sent all of them, and an element keeps its identity on the service only if its id is sent with
 * it: so the declared list is laid alongside the live one first, and what is found on both sides keeps its id and
 * whatever the manifest does not declare of it.
 */
export interface ElementMatch {
  readonly declared: ValueObject;
  /** Position in the manifest's list. */
  readonly at: number;
  /** The live element that it continues; none for a new one. */
  readonly live: LiveElement | undefined;
}

export function declaredElements(value: Value | undefined): readonly ValueObject[] {
  return isValueList(value) ? value.filter(isValueObject) : [];
}

/** Whether the live list says what is declared, locator lines apart: those are write-only. */
export function sameElements(declared: readonly ValueObject[], live: readonly LiveElement[]): boolean {
  return declared.length === live.length && declared.every((element, at) => sameElement(element, live[at]));
}

/** Whether a live element has every declared part. */
export function sameElement(declared: ValueObject, live: LiveElement | undefined): boolean {
  return live !== undefined && sameJson(shownOf(declared), projectElement(declared, live));
}

/** The declared parts that the service shows, as plain data. */
function shownOf(declared: ValueObject): JsonObject {
  const { locatorLine: _, ...shown } = declared;
  const plain = reveal(shown);
  return isObject(plain) ? plain : {};
}

/** The live element cut down to the parts that are declared, in the manifest's form. */
export function projectElement(declared: ValueObject, live: LiveElement): JsonObject {
  const parts: Record<string, Json> = {};
  for (const name of Object.keys(declared)) {
    if (name === "interaction") parts[name] = project(declared[name], shown(live.interaction));
    else if (name === "assertion") parts[name] = project(declared[name], shown(live.assertion));
    else if (name === "selectors") parts[name] = projectSelectors(declared[name], live.selectors);
    else if (name === "ignoreFailure") parts[name] = live.ignoreFailure ?? false;
  }
  return parts;
}

function shown(part: LiveElement["interaction"] | LiveElement["assertion"]): Json {
  if (part === null) return null;
  const parts: Record<string, Json> = {};
  for (const [key, value] of Object.entries(part))
    if (value !== undefined && value !== null) parts[key] = value;
  return parts;
}

/** Keeps of a live object the keys that are declared; a key that is not shown stays out and so differs. */
function project(declared: Value | undefined, live: Json): Json {
  if (!isValueObject(declared) || !isObject(live)) return live;
  return Object.fromEntries(Object.entries(live).filter(([key]) => Object.hasOwn(declared, key)));
}

function projectSelectors(declared: Value | undefined, live: readonly LiveSelector[]): Json {
  const wanted = isValueList(declared) ? declared : [];
  return live.map((selector, at) => project(wanted[at] ?? {}, selectorJson(selector)));
}

function selectorJson(selector: LiveSelector): JsonObject {
  return {
    ...(selector.selectorType === undefined ? {} : { selectorType: selector.selectorType }),
    ...(selector.selector === undefined ? {} : { selector: selector.selector }),
    options: selector.options ?? {},
  };
}

/** What is kept of the selectors that the service made of a locator line, to see later that they were changed. */
export function selectorsDigest(memory: Memory, live: LiveElement): Fingerprint | undefined {
  return memory.fingerprints?.of(`${live.id ?? ""}/selectors`, live.selectors.map(selectorJson));
}

/** The record of a locator line, for the element that bears it. */
export function locatorDigest(memory: Memory, elementId: string, line: Value): Fingerprint | undefined {
  return memory.fingerprints?.of(`${elementId}/locatorLine`, reveal(line));
}

/** Whether an element's locator line is to be written: never written, changed, or its selectors were. */
export function locatorDiffers(match: ElementMatch, memory: Memory): boolean {
  const line = match.declared["locatorLine"];
  if (line === undefined || memory.fingerprints === undefined) return false;
  const id = match.live?.id;
  const record = id === undefined ? undefined : memory.binding?.locators?.[id];
  if (record === undefined || id === undefined || match.live === undefined) return true;
  return (
    record.line !== locatorDigest(memory, id, line) ||
    record.selectors !== selectorsDigest(memory, match.live)
  );
}

/**
 * Lays the declared list alongside the live one: first what is equal on both sides, in order (a longest common
 * subsequence), then, between two equal ones, what stands at the same place.
 */
export function alignElements(
  declared: readonly ValueObject[],
  live: readonly LiveElement[],
  memory: Memory,
): readonly ElementMatch[] {
  const same = (i: number, j: number): boolean => {
    const element = declared[i];
    return element !== undefined && sameElement(element, live[j]) && sameLocator(element, live[j], memory);
  };
  const partner = new Array<number | undefined>(declared.length).fill(undefined);
  let nextDeclared = 0;
  let nextLive = 0;
  for (const [i, j] of [...commonSubsequence(declared.length, live.length, same), END(declared, live)]) {
    // In the gap before an equal pair, elements changed in place keep their ids one by one.
    for (let k = 0; nextDeclared + k < i && nextLive + k < j; k++) partner[nextDeclared + k] = nextLive + k;
    if (i < declared.length) partner[i] = j;
    nextDeclared = i + 1;
    nextLive = j + 1;
  }
  return declared.map((element, at) => {
    const index = partner[at];
    return { declared: element, at, live: index === undefined ? undefined : live[index] };
  });
}

const END = (declared: readonly unknown[], live: readonly unknown[]): readonly [number, number] => [
  declared.length,
  live.length,
];

/** Steps that differ in nothing but the locator are told apart by the line that was last written to each. */
function sameLocator(declared: ValueObject, live: LiveElement | undefined, memory: Memory): boolean {
  const line = declared["locatorLine"];
  const id = live?.id;
  const record = id === undefined ? undefined : memory.binding?.locators?.[id];
  if (line === undefined || id === undefined || record === undefined) return true;
  return record.line === locatorDigest(memory, id, line);
}

/** Pairs of equal positions, longest first choice, after trimming what is equal at both ends. */
function commonSubsequence(
  n: number,
  m: number,
  same: (i: number, j: number) => boolean,
): readonly (readonly [number, number])[] {
  let start = 0;
  while (start < n && start < m && same(start, start)) start++;
  let tail = 0;
  while (tail < n - start && tail < m - start && same(n - 1 - tail, m - 1 - tail)) tail++;
  const rows = n - start - tail;
  const columns = m - start - tail;
  const length = Array.from({ length: rows + 1 }, () => new Uint32Array(columns + 1));
  const at = (i: number, j: number): number => length[i]?.[j] ?? 0;
  for (let i = rows - 1; i >= 0; i--)
    for (let j = columns - 1; j >= 0; j--) {
      const row = length[i];
      if (row !== undefined)
        row[j] = same(start + i, start + j) ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  const pairs: [number, number][] = Array.from({ length: start }, (_, k) => [k, k]);
  for (let i = 0, j = 0; i < rows && j < columns;)
    if (same(start + i, start + j)) pairs.push([start + i++, start + j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  for (let k = tail; k > 0; k--) pairs.push([n - k, m - k]);
  return pairs;
}

/**
 * The `elements` of a PATCH (service-api.md, operation 8). It carries only what the text describes there, so what
 * the list shows beyond that (scroll states) stays behind.
 */
export function elementBodies(
  matches: readonly ElementMatch[],
  live: readonly LiveElement[],
): readonly BodyValue[] {
  const first = live[0]?.raw["index"];
  const base = typeof first === "number" ? first : 0;
  return matches.map((match, position) => elementBody(match, base + position));
}

function elementBody({ declared, live }: ElementMatch, index: number): BodyValue {
  const raw = live?.raw ?? {};
  return {
    ...pick(raw, ["id"]),
    index,
    ...objectPart("interaction", declared, raw, ["id", "action", "calledWith", "testCaseElementId"]),
    ...objectPart("assertion", declared, raw, ["id", "expectation", "calledWith", "testCaseElementId"]),
    ...selectorsPart(declared, raw),
    ...pick(raw, ["testCaseId"]),
    ...(declared["ignoreFailure"] === undefined
      ? pick(raw, ["ignoreFailure"])
      : { ignoreFailure: declared["ignoreFailure"] }),
  };
}

function objectPart(
  name: "interaction" | "assertion",
  declared: ValueObject,
  raw: JsonObject,
  keys: readonly string[],
): { readonly [key: string]: BodyValue } {
  const value = declared[name];
  const before = raw[name];
  const kept = isObject(before) ? pick(before, keys) : {};
  if (isValueObject(value)) return { [name]: { ...kept, ...value } };
  if (value !== undefined) return { [name]: value };
  if (before === undefined) return {};
  return { [name]: before === null ? null : kept };
}

const SELECTOR_KEYS = ["id", "index", "selector", "selectorType", "options", "testCaseElementId"];

function selectorsPart(declared: ValueObject, raw: JsonObject): { readonly [key: string]: BodyValue } {
  const before = isArray(raw["selectors"]) ? raw["selectors"].filter(isObject) : undefined;
  const value = declared["selectors"];
  if (!isValueList(value))
    return before === undefined ? {} : { selectors: before.map((selector) => pick(selector, SELECTOR_KEYS)) };
  return {
    selectors: value.filter(isValueObject).map((selector, index) => ({
      ...pick(before?.[index] ?? {}, ["id", "testCaseElementId", "options"]),
      index: before?.[index]?.["index"] ?? index,
      ...selector,
    })),
  };
}

function pick(source: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = source[key];
      return value === undefined ? [] : [[key, value]];
    }),
  );
}
