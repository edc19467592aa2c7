import type { DesiredResource } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { type Field, TEST_CASE_FIELDS } from "../model/fields.ts";
import { type Json, type JsonObject, isArray, isObject, sameJson } from "../model/json.ts";
import type { LiveElement, LiveSelector, LiveTestCase } from "../model/live.ts";
import type { BodyValue, ChangedBy, FieldChange } from "../model/plan.ts";
import type { Fingerprint } from "../model/state.ts";
import {
  Secret,
  type Value,
  type ValueObject,
  isSensitive,
  isUnknown,
  isValueList,
  isValueObject,
  reveal,
} from "../model/value.ts";
import { changedBy, readableChanges } from "./compare.ts";
import { type Fingerprinter, caution } from "./input.ts";
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
function shownOf(declared: ValueObject): Json {
  return reveal(withoutLine(declared));
}

export function withoutLine(declared: ValueObject): ValueObject {
  return Object.fromEntries(Object.entries(declared).filter(([part]) => part !== "locatorLine"));
}

/** What the service shows of declared elements, as plain data; locator lines have records of their own. */
export function shownElements(declared: readonly ValueObject[]): Json {
  return declared.map(shownOf);
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

/** Every part that the service shows; what is declared in these words shows a live element whole. */
export const ALL_PARTS: ValueObject = {
  interaction: { action: "", calledWith: "" },
  assertion: { expectation: "", calledWith: "" },
  selectors: [],
  ignoreFailure: false,
};

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
  // One that is declared by nothing differs as a whole.
  return live.map((selector, at) => project(wanted[at], selectorJson(selector)));
}

function selectorJson(selector: LiveSelector): JsonObject {
  return {
    ...(selector.selectorType === undefined ? {} : { selectorType: selector.selectorType }),
    ...(selector.selector === undefined ? {} : { selector: selector.selector }),
    options: selector.options ?? {},
  };
}

/** What is kept of the selectors that the service made of a locator line, to see later that they were changed. */
export function selectorsDigest(fingerprints: Fingerprinter, live: LiveElement): Fingerprint {
  return fingerprints.of(`${live.id ?? ""}/selectors`, live.selectors.map(selectorJson));
}

/** The record of a locator line, for the element that bears it. */
export function locatorDigest(fingerprints: Fingerprinter, elementId: string, line: Value): Fingerprint {
  return fingerprints.of(`${elementId}/locatorLine`, reveal(line));
}

/** In place of a digest until the selectors that the service makes of a line have been read. */
export const NOT_READ_YET = "";

/**
 * Why an element's locator line is to be written: it never was, it has changed, or its selectors have; nothing where
 * it is as it should be, or where the service shows no id by which the element could be called.
 */
export function locatorDifference(
  { declared, live }: ElementMatch,
  memory: Memory,
): "new" | ChangedBy | undefined {
  const line = declared["locatorLine"];
  const { fingerprints } = memory;
  if (line === undefined || fingerprints === undefined) return undefined;
  if (live === undefined) return "new";
  if (live.id === undefined) return undefined;
  const record = memory.binding?.locators?.[live.id];
  if (record === undefined) return "new";
  const manifest = record.line !== locatorDigest(fingerprints, live.id, line);
  const service =
    record.selectors !== NOT_READ_YET && record.selectors !== selectorsDigest(fingerprints, live);
  if (manifest) return service ? "both" : "manifest";
  return service ? "service" : undefined;
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
  const partner: (number | undefined)[] = declared.map(() => undefined);
  let nextDeclared = 0;
  let nextLive = 0;
  const end = [declared.length, live.length] as const;
  for (const [i, j] of [...commonSubsequence(declared.length, live.length, same), end]) {
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

/** Steps that differ in nothing but the locator are told apart by the line that was last written to each. */
function sameLocator(declared: ValueObject, live: LiveElement | undefined, memory: Memory): boolean {
  const line = declared["locatorLine"];
  const id = live?.id;
  const record = id === undefined ? undefined : memory.binding?.locators?.[id];
  if (line === undefined || id === undefined || record === undefined) return true;
  return memory.fingerprints === undefined || record.line === locatorDigest(memory.fingerprints, id, line);
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

type Body = { readonly [key: string]: BodyValue };

/**
 * The `elements` of a PATCH (service-api.md, operation 8). It carries only what the text describes there, so what
 * the list shows beyond that (scroll states) stays behind, and no null where the text has none.
 *
 * With one sensitive leaf all of them are sensitive: what is kept of a live element may be what was secret before.
 */
export function elementBodies(
  matches: readonly ElementMatch[],
  live: readonly LiveElement[],
): readonly BodyValue[] {
  const keep = matches.some((match) => isSensitive(match.declared)) ? hidden : plain;
  const base = firstIndex(live.map((element) => element.raw));
  return matches.map((match, position) => elementBody(match, base + position, keep));
}

/** Whether the service counts from 0 or 1 is not shown; it goes on as it began. */
function firstIndex(raw: readonly JsonObject[]): number {
  const first = raw[0]?.["index"];
  return typeof first === "number" ? first : 0;
}

function elementBody({ declared, live }: ElementMatch, index: number, keep: Keep): Body {
  const raw = live?.raw ?? {};
  return {
    ...pick(raw, ["id"], plain),
    index,
    ...objectPart("interaction", ["id", "action", "calledWith", "testCaseElementId"], declared, raw, keep),
    ...objectPart("assertion", ["id", "expectation", "calledWith", "testCaseElementId"], declared, raw, keep),
    ...selectorsPart(declared, raw, keep),
    ...pick(raw, ["testCaseId"], plain),
    ...(declared["ignoreFailure"] === undefined
      ? pick(raw, ["ignoreFailure"], plain)
      : { ignoreFailure: declared["ignoreFailure"] }),
  };
}

function objectPart(
  name: "interaction" | "assertion",
  keys: readonly string[],
  declared: ValueObject,
  raw: JsonObject,
  keep: Keep,
): Body {
  const value = declared[name];
  const before = raw[name];
  const kept = isObject(before) ? pick(before, keys, keep) : {};
  if (isValueObject(value)) return { [name]: { ...kept, ...value } };
  if (value !== undefined) return { [name]: value };
  if (before === undefined) return {};
  return { [name]: before === null ? null : kept };
}

const SELECTOR_KEYS = ["id", "index", "selector", "selectorType", "options", "testCaseElementId"];

function selectorsPart(declared: ValueObject, raw: JsonObject, keep: Keep): Body {
  const shown = raw["selectors"];
  const before = isArray(shown) ? shown.filter(isObject) : [];
  const value = declared["selectors"];
  if (!isValueList(value))
    return isArray(shown) ? { selectors: before.map((one) => pick(one, SELECTOR_KEYS, keep)) } : {};
  const base = firstIndex(before);
  return {
    selectors: value.filter(isValueObject).map((selector, at) => ({
      ...pick(before[at] ?? {}, ["id", "testCaseElementId", "options"], keep),
      index: base + at,
      ...selector,
    })),
  };
}

/** How a part of a live element goes back to the service. */
type Keep = (value: Json, key: string) => BodyValue;

function plain(value: Json): BodyValue {
  return value;
}

const IDS: readonly string[] = ["id", "testCaseElementId"];

/** Sent as it is, shown as sensitive. */
function hidden(value: Json, key: string): BodyValue {
  if (IDS.includes(key)) return value;
  if (typeof value === "string") return new Secret(value);
  if (isArray(value)) return value.map((item) => hidden(item, ""));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([part, item]) => [part, hidden(item, part)]));
}

function pick(source: JsonObject, keys: readonly string[], keep: Keep): Body {
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = source[key];
      return value === undefined || value === null ? [] : [[key, keep(value, key)]];
    }),
  );
}

type TestCase = DesiredResource<"testCase">;

/** What differs of the elements, as a part of a PATCH and calls of their own. */
export interface ElementsDiff {
  readonly body: { readonly [key: string]: BodyValue };
  readonly locators: readonly ElementMatch[];
  readonly shown: readonly FieldChange[];
}

const ELEMENTS = TEST_CASE_FIELDS.find((field) => field.name === "elements");

/** When only locator lines differ, an element call each; else one PATCH of all elements, and lines after it. */
export function diffElements(resource: TestCase, live: LiveTestCase, memory: Memory): ElementsDiff {
  const value = resource.fields["elements"];
  if (ELEMENTS === undefined || value === undefined || isUnknown(value))
    return { body: {}, locators: [], shown: [] };
  const declared = declaredElements(value);
  const current = live.elements ?? [];
  const same = sameElements(declared, current);
  const matches = same
    ? declared.map((element, at) => ({ declared: element, at, live: current[at] }))
    : alignElements(declared, current, memory);
  const locators = matches.filter((match) => locatorDifference(match, memory) !== undefined);
  const lines = locators.flatMap((match) => locatorChanges(ELEMENTS, value, match, memory));
  if (same) return { body: {}, locators, shown: lines };
  const before = current.map((element, at) => projectElement(declared[at] ?? ALL_PARTS, element));
  const after = declared.map(withoutLine);
  return {
    body: { elements: elementBodies(matches, current) },
    locators,
    shown: [
      ...readableChanges(
        ELEMENTS,
        before,
        after,
        elementsChangedBy(ELEMENTS, { before, after, matches, current }, memory),
      ),
      ...lines,
    ],
  };
}

interface BothLists {
  /** The live list cut down to what is declared at the same places. */
  readonly before: Json;
  readonly after: Value;
  readonly matches: readonly ElementMatch[];
  readonly current: readonly LiveElement[];
}

/**
 * Who changed the list. An element that the manifest has no more shows no longer which of its parts were declared, and
 * so not whether it is as it was applied: that holds if it is so for any choice of parts.
 */
function elementsChangedBy(
  field: Field<LiveTestCase>,
  { before, after, matches, current }: BothLists,
  memory: Memory,
): ChangedBy | undefined {
  const first = changedBy(field, after, before, memory);
  if (first !== "both" || matches.length === current.length) return first;
  const parts = new Map(matches.map(({ declared, live }) => [live, declared]));
  for (const choice of PART_CHOICES) {
    const was = current.map((element) => projectElement(parts.get(element) ?? choice(element), element));
    if (changedBy(field, after, was, memory) === "manifest") return "manifest";
  }
  return first;
}

/** Every choice of parts that an element can be declared with; selectors whole, or without their options. */
const PART_CHOICES: readonly ((element: LiveElement) => ValueObject)[] = subsets(
  Object.keys(ALL_PARTS),
).flatMap((names) => {
  const chosen = Object.fromEntries(Object.entries(ALL_PARTS).filter(([name]) => names.includes(name)));
  const plain = { selectorType: "", selector: "" };
  return names.includes("selectors")
    ? [() => chosen, ({ selectors }: LiveElement) => ({ ...chosen, selectors: selectors.map(() => plain) })]
    : [() => chosen];
});

function subsets(names: readonly string[]): readonly (readonly string[])[] {
  return names.reduce<readonly (readonly string[])[]>(
    (sets, name) => [...sets, ...sets.map((set) => [...set, name])],
    [[]],
  );
}

function locatorChanges(
  field: Field<LiveTestCase>,
  elements: Value,
  match: ElementMatch,
  memory: Memory,
): readonly FieldChange[] {
  const line = match.declared["locatorLine"];
  const path = [...field.path, match.at, "locatorLine"];
  const difference = locatorDifference(match, memory);
  const by = difference === undefined || difference === "new" ? {} : { changedBy: difference };
  if (line === undefined) return [];
  return [isSensitive(elements) ? { path, sensitive: true, ...by } : { path, after: reveal(line), ...by }];
}

/** A live element that bears a locator line and has no id cannot be called (operation 9). */
export function namelessElements(resource: TestCase, live: LiveTestCase): readonly Diagnostic[] {
  const declared = declaredElements(resource.fields["elements"]);
  const nameless = (live.elements ?? []).some(
    ({ id }, at) => id === undefined && declared[at]?.["locatorLine"] !== undefined,
  );
  if (!nameless) return [];
  return [
    caution(
      "element-without-id",
      resource,
      "Locator lines cannot be written",
      "The service shows no id of the elements, and the interface writes a locator line by it.",
      ["elements"],
    ),
  ];
}
