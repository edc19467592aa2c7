import { compareText } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import { type Field, fieldsOf, isFixed } from "../model/fields.ts";
import { type Json, type Path, parseJson } from "../model/json.ts";
import type { LiveResource } from "../model/live.ts";
import type { ChangedBy, FieldChange } from "../model/plan.ts";
import {
  UNKNOWN,
  type Value,
  isSensitive,
  isUnknown,
  isValueObject,
  reveal,
} from "../model/value.ts";
import { elementsChangedBy } from "./element-changes.ts";
import { declaredElements, elementInWords, projectElements, sameElements } from "./elements.ts";
import { normalise, ordered, orderedParts, sameAsLive } from "./normalise.ts";
import { type Memory, changedBy, mayHoldSecret, unwrittenParts } from "./memory.ts";

/** The live value of a field, as a manifest would write it. */
export type FieldReading =
  | { readonly kind: "shown"; readonly value: Json }
  /** A folder whose name no answer has shown yet. */
  | { readonly kind: "unnamed"; readonly id: string }
  | { readonly kind: "hidden" };

/**
 * Reads a live field.
 * @param declared limits elements to their declared parts; undeclared elements are read whole
 */
export function readField(
  field: Field,
  live: LiveResource,
  folderName: FolderName,
  declared?: Value,
): FieldReading {
  if (field.compare === "elements")
    return {
      kind: "shown",
      value: projectElements(declaredElements(declared), live.elements ?? []),
    };
  const value = field.read?.(live);
  if (value === undefined) return HIDDEN;
  if (field.compare !== "folder" || typeof value !== "string") return { kind: "shown", value };
  const name = folderName(value);
  return name === undefined ? { kind: "unnamed", id: value } : { kind: "shown", value: name };
}

/**
 * Reads a live field in full, as a manifest would declare it, without element parts that mean the
 * same as absence.
 */
export function liveInWords(
  field: Field,
  live: LiveResource,
  folderName: FolderName,
): FieldReading {
  if (field.compare !== "elements") return readField(field, live, folderName);
  return { kind: "shown", value: (live.elements ?? []).map(elementInWords) };
}

/** Returns the name of a folder by its id, if an answer has shown it. */
type FolderName = (id: string) => string | undefined;

/**
 * Makes a lookup of folder names. If a folder has several names, it always returns the same one.
 */
export function folderNames(folders: ReadonlyMap<string, string>): FolderName {
  return (id) => {
    let first: string | undefined;
    for (const [name, known] of folders)
      if (known === id && (first === undefined || compareText(name, first) < 0)) first = name;
    return first;
  };
}

/**
 * The result of comparing a field with its declaration. Plans, records, staleness checks and views
 * rely on it.
 */
export type Comparison =
  | { readonly kind: "same" }
  | {
      readonly kind: "differs";
      /** Absent if the service does not show a value, or if that value may be an old secret. */
      readonly before?: Json;
      /**
       * For a field that the service does not show: the parts that differ, or `[[]]` for the whole
       * field.
       */
      readonly parts: readonly Path[];
      /** Says who changed the field. It takes time, and most callers do not ask. */
      readonly changedBy?: () => ChangedBy | undefined;
    }
  /** The service does not show the field, and there is no sign that it differs. */
  | { readonly kind: "hidden" }
  /** A secret or the fingerprint key is missing. */
  | { readonly kind: "unknown" };

const SAME = { kind: "same" } as const;
const HIDDEN = { kind: "hidden" } as const;
const UNCLEAR = { kind: "unknown" } as const;

/**
 * Compares a field with its declaration.
 * @param expected the value that a fixed field would show, if it is known
 */
export function compareField(
  field: Field,
  declared: Value,
  live: LiveResource,
  memory: Memory,
  expected?: Json,
): Comparison {
  if (field.local) return SAME;
  if (field.compare === "elements") {
    const parts = declaredElements(declared);
    const elements = live.elements ?? [];
    if (sameElements(parts, elements)) return SAME;
    if (isUnknown(declared)) return UNCLEAR;
    const by = (): ChangedBy | undefined => elementsChangedBy(declared, elements, memory);
    return differs(field, projectElements(parts, elements), memory, by);
  }
  const before = field.read?.(live);
  // The usual case: equal values need no further checks.
  if (before === declared && field.compare !== "folder" && !isFixed(field)) return SAME;
  if (isUnknown(declared)) return UNCLEAR;
  if (isFixed(field)) {
    if (before === undefined || expected === undefined) return HIDDEN;
    return before === expected ? SAME : { kind: "differs", before, parts: WHOLE };
  }
  if (before === undefined) return compareRecord(field, declared, memory);
  if (field.compare === "folder") return compareFolder(field, declared, before, memory);
  if (sameAsLive(field.compare, declared, before)) return SAME;
  // The order of a set has no meaning, so the live value is shown in normal order.
  const now = field.compare === "set" ? normalise("set", before) : before;
  return differs(field, now, memory, () => changedBy(field, declared, now, memory));
}

const WHOLE: readonly Path[] = [[]];

function differs(
  field: Field,
  before: Json,
  memory: Memory,
  by: () => ChangedBy | undefined,
): Comparison {
  return mayHoldSecret(field, memory)
    ? { kind: "differs", parts: WHOLE, changedBy: by }
    : { kind: "differs", before, parts: WHOLE, changedBy: by };
}

/**
 * Compares a field that the service does not show with its record. Two kinds of values without a
 * record are assumed to be as declared and are only recorded: a prompt, because sending it starts a
 * generation, and a null for a readable field, because the service may omit a field that has no
 * value.
 */
function compareRecord(field: Field, declared: Value, memory: Memory): Comparison {
  if (memory.fingerprints === undefined) return UNCLEAR;
  const known = memory.binding?.fields[field.name] !== undefined;
  const guess = field.generates || (declared === null && field.read !== undefined);
  if (guess && !known) return HIDDEN;
  const parts = unwrittenParts(field, declared, memory);
  if (parts.length === 0) return HIDDEN;
  return { kind: "differs", parts, ...(known ? { changedBy: () => "manifest" } : {}) };
}

/**
 * Compares a folder, which is written by name and read as an id. While the id of the declared name
 * is unknown, every live value counts as different. Secret names are not kept in state, so their
 * ids are never known.
 */
function compareFolder(field: Field, declared: Value, live: Json, memory: Memory): Comparison {
  if (isSensitive(declared)) return compareRecord(field, declared, memory);
  const name = reveal(declared);
  const wanted = typeof name === "string" ? memory.folders.get(name) : null;
  if (wanted === live) return SAME;
  const before = typeof live === "string" ? folderNames(memory.folders)(live) : null;
  if (before !== undefined)
    return differs(field, before, memory, () => changedBy(field, declared, before, memory));
  const moved = wanted !== undefined && changedBy(field, declared, live, memory) === "service";
  return { kind: "differs", parts: WHOLE, ...(moved ? { changedBy: () => "service" } : {}) };
}

/** A declared field that differs, with the value to write and the changes to show. */
export interface FieldDiff {
  readonly field: Field;
  readonly value: Value;
  readonly shown: readonly FieldChange[];
}

/**
 * Returns the declared fields of a bound resource that a PATCH must write, except elements (see
 * `diffElements`).
 */
export function diffFields(
  resource: DesiredResource,
  live: LiveResource,
  memory: Memory,
): readonly FieldDiff[] {
  const diffs: FieldDiff[] = [];
  for (const field of fieldsOf(resource.kind)) {
    const value = resource.fields[field.name];
    if (value === undefined || field.update === undefined || field.compare === "elements") continue;
    const found = compareField(field, value, live, memory);
    if (found.kind === "differs")
      diffs.push({ field, value, shown: fieldChanges(field, value, found) });
  }
  return diffs;
}

function fieldChanges(
  field: Field,
  value: Value,
  { before, parts, changedBy: who }: Extract<Comparison, { readonly kind: "differs" }>,
): readonly FieldChange[] {
  const changes: readonly FieldChange[] =
    before === undefined || isSensitive(value)
      ? declaredChanges(field, value, parts)
      : [{ path: field.path, before, after: ordered(reveal(value)) }];
  const by = who?.();
  return by === undefined ? changes : changes.map((change) => ({ ...change, changedBy: by }));
}

/**
 * Returns the changes to show for a value without a live one: in a creation, or of a field that is
 * never shown.
 */
export function declaredChanges(
  field: Field,
  value: Value,
  parts: readonly Path[] = [[]],
): readonly FieldChange[] {
  const { path, shape } = field;
  const own = isValueObject(value) ? value : {};
  return parts.flatMap(([key]) => {
    // A removed header has no new value, and its old one is secret, so only the fact that it
    // changes is shown.
    if (key !== undefined) return [afterOnly([...path, key], own[key] ?? UNKNOWN)];
    const names =
      shape.type === "object" || shape.type === "map" ? orderedParts(shape, Object.keys(own)) : [];
    if (names.length === 0) return [afterOnly(path, value)];
    return names.map((part) => afterOnly([...path, part], own[part] ?? null));
  });
}

/**
 * Makes a change without `before`. One sensitive leaf makes it all sensitive: the rest would reveal
 * something of it.
 */
function afterOnly(path: Path, value: Value): FieldChange {
  return isSensitive(value) ? { path, sensitive: true } : { path, after: ordered(reveal(value)) };
}

/** Converts a value to plain data for display; sensitive leaves become `(sensitive)`. */
export function display(value: Value): Json {
  return parseJson(JSON.stringify(value));
}
