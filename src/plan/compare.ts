import { type Address, addressOf, compareText } from "../model/address.ts";
import type { DesiredResource, DesiredTarget } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Field } from "../model/fields.ts";
import type { Json, Path } from "../model/json.ts";
import type { LiveEnvironment, LiveTarget, LiveTestCase } from "../model/live.ts";
import type { Change, ChangedBy, FieldChange } from "../model/plan.ts";
import type { State } from "../model/state.ts";
import {
  IdOf,
  SENSITIVE,
  UNKNOWN,
  type Value,
  isLeafObject,
  isSensitive,
  isUnknown,
  isValueList,
  isValueObject,
  reveal,
} from "../model/value.ts";
import { type Fingerprinter, caution, normalise, ordered, orderedParts, sameAsLive } from "./input.ts";
import { declaredElements, elementInWords, projectElement, sameElements } from "./elements.ts";
import { type Match, matchedIds } from "./match.ts";
import { type Memory, changedBy, mayHoldSecret, unwrittenParts } from "./memory.ts";

/** What a live resource shows of a field, in a manifest's words. */
export type FieldReading =
  | { readonly kind: "shown"; readonly value: Json }
  /** Of a folder, as long as no answer has told what it is called. */
  | { readonly kind: "unnamed"; readonly id: string }
  | { readonly kind: "hidden" };

/** @param declared of elements, the parts of them to read; all of an element for which it declares none */
export function readField<L>(
  field: Field<L>,
  live: L,
  folderName: (id: string) => string | undefined,
  declared?: Value,
): FieldReading {
  const { behaviour } = field;
  switch (behaviour.kind) {
    case "readable":
    case "fixed":
      return shownOrHidden(behaviour.read(live));
    case "elements": {
      const parts = declaredElements(declared);
      return { kind: "shown", value: behaviour.read(live).map((one, at) => projectElement(parts[at], one)) };
    }
    case "indirect": {
      const id = behaviour.readId(live);
      const name = id === null ? null : folderName(id);
      return name === undefined ? { kind: "unnamed", id: id ?? "" } : { kind: "shown", value: name };
    }
    case "writeOnly":
      return HIDDEN;
  }
}

/** The same in full, as a manifest would declare it: what says no more of an element than its absence is left out. */
export function liveInWords<L>(
  field: Field<L>,
  live: L,
  folderName: (id: string) => string | undefined,
): FieldReading {
  const { behaviour } = field;
  if (behaviour.kind !== "elements") return readField(field, live, folderName);
  return { kind: "shown", value: behaviour.read(live).map(elementInWords) };
}

function shownOrHidden(value: Json | undefined): FieldReading {
  return value === undefined ? HIDDEN : { kind: "shown", value };
}

/** Names of folders by id, as far as answers have told them. Of several names of one folder it is always the same. */
export function folderNames(folders: ReadonlyMap<string, string>): (id: string) => string | undefined {
  return (id) => {
    let first: string | undefined;
    for (const [name, known] of folders)
      if (known === id && (first === undefined || compareText(name, first) < 0)) first = name;
    return first;
  };
}

/** Whether a field is as declared: the one answer that plans, records, checks for staleness and views follow. */
export type Comparison =
  | { readonly kind: "same" }
  | {
      readonly kind: "differs";
      /** Absent where the service shows none, or what it shows may be a secret of before. */
      readonly before?: Json;
      /** What differs of a field that the service does not show: the parts of an object, or `[[]]` for all of it. */
      readonly parts: readonly Path[];
      readonly changedBy?: ChangedBy;
    }
  /** The service does not show it, and nothing says that it is not as declared. */
  | { readonly kind: "hidden" }
  /** A secret is missing, or the key to compare with. */
  | { readonly kind: "unknown" };

const SAME = { kind: "same" } as const;
const HIDDEN = { kind: "hidden" } as const;

/** @param expected what the service would show of a fixed field; nothing where that cannot be told */
export function compareField<L>(
  field: Field<L>,
  declared: Value,
  live: L,
  memory: Memory,
  expected?: Json,
): Comparison {
  if (isUnknown(declared)) return { kind: "unknown" };
  const { behaviour } = field;
  switch (behaviour.kind) {
    case "readable": {
      const before = behaviour.read(live);
      if (before === undefined) return compareRecord(field, declared, memory);
      if (sameAsLive(behaviour.compare, declared, before)) return SAME;
      // The order in which a set is shown means nothing.
      const shown = behaviour.compare === "set" ? normalise("set", before) : before;
      return differs(field, declared, shown, memory);
    }
    case "elements": {
      const parts = declaredElements(declared);
      const current = behaviour.read(live);
      if (sameElements(parts, current)) return SAME;
      return differs(
        field,
        declared,
        current.map((one, at) => projectElement(parts[at], one)),
        memory,
      );
    }
    case "indirect":
      return compareFolder(field, declared, behaviour.readId(live), memory);
    case "writeOnly":
      return compareRecord(field, declared, memory);
    case "fixed": {
      const before = behaviour.read(live);
      if (before === undefined || expected === undefined) return HIDDEN;
      return before === expected ? SAME : { kind: "differs", before, parts: WHOLE };
    }
  }
}

const WHOLE: readonly Path[] = [[]];

function differs<L>(field: Field<L>, declared: Value, before: Json, memory: Memory): Comparison {
  const by = changedBy(field, declared, before, memory);
  return {
    kind: "differs",
    ...(mayHoldSecret(field, memory) ? {} : { before }),
    parts: WHOLE,
    ...(by === undefined ? {} : { changedBy: by }),
  };
}

/**
 * A field whose live value does not show. What the service would generate from is not sent on a mere guess that it
 * differs: without a record of it, the prompt counts as it stands and is only recorded. Nor is a null for what the
 * service may leave out because there is none.
 */
function compareRecord<L>(field: Field<L>, declared: Value, memory: Memory): Comparison {
  if (memory.fingerprints === undefined) return { kind: "unknown" };
  const known = memory.binding?.fields[field.name] !== undefined;
  const guess = field.generates || (declared === null && field.behaviour.kind === "readable");
  if (guess && !known) return HIDDEN;
  const parts = unwrittenParts(field, declared, memory);
  if (parts.length === 0) return HIDDEN;
  return { kind: "differs", parts, ...(known ? { changedBy: "manifest" } : {}) };
}

/**
 * A folder is written by name and read as an id; as long as a name's id is unknown, only null tells anything. A name
 * that is a secret has no place in state, so its id is never known.
 */
function compareFolder<L>(
  field: Field<L>,
  declared: Value,
  liveId: string | null,
  memory: Memory,
): Comparison {
  if (isSensitive(declared)) return compareRecord(field, declared, memory);
  const name = reveal(declared);
  const wanted = typeof name === "string" ? memory.folders.get(name) : null;
  if (wanted === liveId) return SAME;
  const before = liveId === null ? null : folderNames(memory.folders)(liveId);
  if (before !== undefined) return differs(field, declared, before, memory);
  const moved = wanted !== undefined && changedBy(field, declared, liveId, memory) === "service";
  return { kind: "differs", parts: WHOLE, ...(moved ? { changedBy: "service" } : {}) };
}

/** A declared field that differs, with the value to write and the way to show it. */
export interface FieldDiff<L> {
  readonly field: Field<L>;
  readonly value: Value;
  readonly shown: readonly FieldChange[];
}

/** Every declared field of a bound resource that a PATCH is to write; elements have a PATCH of their own making. */
export function diffFields<L>(
  fields: readonly Field<L>[],
  resource: DesiredResource,
  live: L,
  memory: Memory,
): readonly FieldDiff<L>[] {
  const diffs: FieldDiff<L>[] = [];
  for (const field of fields) {
    const value = resource.fields[field.name];
    if (value === undefined || field.update === undefined || field.name === "elements") continue;
    const found = compareField(field, value, live, memory);
    if (found.kind === "differs") diffs.push({ field, value, shown: fieldChanges(field, value, found) });
  }
  return diffs;
}

function fieldChanges<L>(
  field: Field<L>,
  value: Value,
  { before, parts, changedBy: by }: Extract<Comparison, { readonly kind: "differs" }>,
): readonly FieldChange[] {
  const changes: readonly FieldChange[] =
    before === undefined || isSensitive(value)
      ? declaredChanges(field, value, parts)
      : [{ path: field.path, before, after: ordered(reveal(value)) }];
  return by === undefined ? changes : changes.map((change) => ({ ...change, changedBy: by }));
}

/** Warnings for fields that are fixed once the resource is made and differ from what is declared. */
export function fixedWarnings<L>(
  fields: readonly Field<L>[],
  resource: DesiredResource,
  live: L,
  memory: Memory,
  expected: (field: Field<L>, value: Value) => Json | undefined,
): readonly Diagnostic[] {
  return fields.flatMap((field) => {
    const value = resource.fields[field.name];
    if (field.update !== undefined || value === undefined || isUnknown(value)) return [];
    const found = compareField(field, value, live, memory, expected(field, value));
    if (found.kind !== "differs") return [];
    const { before = null } = found;
    return [
      caution(
        "fixed-field-differs",
        resource,
        `${field.name} is fixed after creation and differs`,
        `The service has ${before === null ? "none" : JSON.stringify(before)}, the manifest has ${JSON.stringify(display(value))}. The API cannot change it: declare the live value, or create the test case again under another key.`,
        field.path,
      ),
    ];
  });
}

/** How a value reads where it is not shown: a creation, or a field that the service never shows. */
export function declaredChanges<L>(
  field: Field<L>,
  value: Value,
  parts: readonly Path[] = [[]],
): readonly FieldChange[] {
  return parts.flatMap((part) => {
    const [key] = part;
    if (key === undefined) return wholeChanges(field, value);
    const partValue = isValueObject(value) && typeof key === "string" ? value[key] : undefined;
    // A header that goes has no value any more; that it goes is all there is to say, and its old value is secret.
    return [afterOnly([...field.path, key], partValue ?? UNKNOWN)];
  });
}

function wholeChanges<L>(field: Field<L>, value: Value): readonly FieldChange[] {
  const split = field.shape.type === "object" || field.shape.type === "map";
  if (!split || !isValueObject(value) || Object.keys(value).length === 0)
    return [afterOnly(field.path, value)];
  return orderedParts(field.shape, Object.keys(value)).map((part) =>
    afterOnly([...field.path, part], value[part] ?? null),
  );
}

/** With one sensitive leaf the whole is: what stands around it would tell of it. */
function afterOnly(path: Path, value: Value): FieldChange {
  return isSensitive(value) ? { path, sensitive: true } : { path, after: ordered(reveal(value)) };
}

/** Plain data for showing: what is sensitive reads `(sensitive)`. */
export function display(value: Value): Json {
  if (isLeafObject(value)) return SENSITIVE;
  if (isValueList(value)) return value.map(display);
  if (isValueObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, display(part)]));
  return value;
}

/** One target as a plan sees it: what is wanted, what is there, what is remembered, and which is which. */
export interface MatchedTarget {
  readonly target: DesiredTarget;
  /** All that is declared of the target, itself included. */
  readonly resources: ReadonlyMap<Address, DesiredResource>;
  /** Nothing for a target that is yet to be made. */
  readonly live: LiveTarget | undefined;
  /** Live test cases, the deleted ones left out. */
  readonly testCases: readonly LiveTestCase[];
  /** After moves, and after what interrupted creations turned out to have made. */
  readonly state: State | undefined;
  readonly fingerprints: Fingerprinter | undefined;
  readonly environmentMatches: ReadonlyMap<Address, Match<LiveEnvironment>>;
  readonly testCaseMatches: ReadonlyMap<Address, Match<LiveTestCase>>;
}

/** What is to happen to one address, and what is to be said about it. */
export interface Decision {
  readonly change?: Change;
  readonly diagnostics: readonly Diagnostic[];
}

export const UNCHANGED: Decision = { diagnostics: [] };

/** The id of the target in a call's path: as it is, or as it will be. */
export function targetId(matched: MatchedTarget): string | IdOf {
  return matched.live?.id ?? new IdOf(matched.target.address);
}

/** Changes that must come first because the target itself is yet to be made. */
export function needsTarget(matched: MatchedTarget): readonly Address[] {
  return matched.live === undefined ? [matched.target.address] : [];
}

/** A prerequisite as declared: a key of the target, or the name of a case that nothing here manages. */
export type Reference = { readonly key: Address } | { readonly description: string };

export function testCaseReference(matched: MatchedTarget, value: Value | undefined): Reference | undefined {
  if (value === undefined || value === null || isUnknown(value)) return undefined;
  const plain = reveal(value);
  if (typeof plain === "string") return { key: addressOf("testCase", matched.target.key, plain) };
  if (typeof plain !== "object" || plain === null || !("description" in plain)) return undefined;
  return typeof plain.description === "string" ? { description: plain.description } : undefined;
}

/** The live cases of that name which no address means. */
export function unmanagedByName(matched: MatchedTarget, description: string): readonly LiveTestCase[] {
  const managed = matchedIds(matched.testCaseMatches);
  return matched.testCases.filter(
    (testCase) => testCase.description === description && !managed.has(testCase.id),
  );
}
