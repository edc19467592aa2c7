import { type Address, compareText } from "../model/address.ts";
import type { DesiredResource, DesiredTarget } from "../model/desired.ts";
import { type Field, fieldsOf, isFixed } from "../model/fields.ts";
import { type Json, type Path, parseJson } from "../model/json.ts";
import type { LiveResource, LiveTarget, LiveTestCase } from "../model/live.ts";
import type { ChangedBy, FieldChange } from "../model/plan.ts";
import type { State } from "../model/state.ts";
import { UNKNOWN, type Value, isSensitive, isUnknown, isValueObject, reveal } from "../model/value.ts";
import { declaredElements, elementInWords, projectElements, sameElements } from "./elements.ts";
import { type Fingerprinter, normalise, ordered, orderedParts, sameAsLive } from "./input.ts";
import type { Match } from "./match.ts";
import { type Memory, type SecretFields, changedBy, mayHoldSecret, unwrittenParts } from "./memory.ts";

/** What a live resource shows of a field, in a manifest's words. */
export type FieldReading =
  | { readonly kind: "shown"; readonly value: Json }
  /** Of a folder, as long as no answer has told what it is called. */
  | { readonly kind: "unnamed"; readonly id: string }
  | { readonly kind: "hidden" };

/** @param declared of elements, the parts of them to read; all of an element for which it declares none */
export function readField(
  field: Field,
  live: LiveResource,
  folderName: FolderName,
  declared?: Value,
): FieldReading {
  if (field.compare === "elements")
    return { kind: "shown", value: projectElements(declaredElements(declared), live.elements ?? []) };
  const value = field.read?.(live);
  if (value === undefined) return HIDDEN;
  if (field.compare !== "folder" || typeof value !== "string") return { kind: "shown", value };
  const name = folderName(value);
  return name === undefined ? { kind: "unnamed", id: value } : { kind: "shown", value: name };
}

/** The same in full, as a manifest would declare it: what says no more of an element than its absence is left out. */
export function liveInWords(field: Field, live: LiveResource, folderName: FolderName): FieldReading {
  if (field.compare !== "elements") return readField(field, live, folderName);
  return { kind: "shown", value: (live.elements ?? []).map(elementInWords) };
}

/** The name of a folder by its id, as far as answers have told it. */
type FolderName = (id: string) => string | undefined;

/** Of several names of one folder it is always the same. */
export function folderNames(folders: ReadonlyMap<string, string>): FolderName {
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
const UNCLEAR = { kind: "unknown" } as const;

/** @param expected what the service would show of a fixed field; nothing where that cannot be told */
export function compareField(
  field: Field,
  declared: Value,
  live: LiveResource,
  memory: Memory,
  expected?: Json,
): Comparison {
  if (field.compare === "elements") {
    const parts = declaredElements(declared);
    const elements = live.elements ?? [];
    if (sameElements(parts, elements)) return SAME;
    if (isUnknown(declared)) return UNCLEAR;
    return differs(field, declared, projectElements(parts, elements), memory);
  }
  const before = field.read?.(live);
  // Most are, and of those nothing more is asked.
  if (before === declared && field.compare !== "folder" && !isFixed(field)) return SAME;
  if (isUnknown(declared)) return UNCLEAR;
  if (isFixed(field)) {
    if (before === undefined || expected === undefined) return HIDDEN;
    return before === expected ? SAME : { kind: "differs", before, parts: WHOLE };
  }
  if (before === undefined) return compareRecord(field, declared, memory);
  if (field.compare === "folder") return compareFolder(field, declared, before, memory);
  if (sameAsLive(field.compare, declared, before)) return SAME;
  // The order in which a set is shown means nothing.
  return differs(field, declared, field.compare === "set" ? normalise("set", before) : before, memory);
}

const WHOLE: readonly Path[] = [[]];

function differs(field: Field, declared: Value, before: Json, memory: Memory): Comparison {
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
function compareRecord(field: Field, declared: Value, memory: Memory): Comparison {
  if (memory.fingerprints === undefined) return UNCLEAR;
  const known = memory.binding?.fields[field.name] !== undefined;
  const guess = field.generates || (declared === null && field.read !== undefined);
  if (guess && !known) return HIDDEN;
  const parts = unwrittenParts(field, declared, memory);
  if (parts.length === 0) return HIDDEN;
  return { kind: "differs", parts, ...(known ? { changedBy: "manifest" } : {}) };
}

/**
 * A folder is written by name and read as an id; as long as a name's id is unknown, only null tells anything. A name
 * that is a secret has no place in state, so its id is never known.
 */
function compareFolder(field: Field, declared: Value, live: Json, memory: Memory): Comparison {
  if (isSensitive(declared)) return compareRecord(field, declared, memory);
  const name = reveal(declared);
  const wanted = typeof name === "string" ? memory.folders.get(name) : null;
  if (wanted === live) return SAME;
  const before = typeof live === "string" ? folderNames(memory.folders)(live) : null;
  if (before !== undefined) return differs(field, declared, before, memory);
  const moved = wanted !== undefined && changedBy(field, declared, live, memory) === "service";
  return { kind: "differs", parts: WHOLE, ...(moved ? { changedBy: "service" } : {}) };
}

/** A declared field that differs, with the value to write and the way to show it. */
export interface FieldDiff {
  readonly field: Field;
  readonly value: Value;
  readonly shown: readonly FieldChange[];
}

/** Every declared field of a bound resource that a PATCH is to write; elements have a PATCH of their own making. */
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
    if (found.kind === "differs") diffs.push({ field, value, shown: fieldChanges(field, value, found) });
  }
  return diffs;
}

function fieldChanges(
  field: Field,
  value: Value,
  { before, parts, changedBy: by }: Extract<Comparison, { readonly kind: "differs" }>,
): readonly FieldChange[] {
  const changes: readonly FieldChange[] =
    before === undefined || isSensitive(value)
      ? declaredChanges(field, value, parts)
      : [{ path: field.path, before, after: ordered(reveal(value)) }];
  return by === undefined ? changes : changes.map((change) => ({ ...change, changedBy: by }));
}

/** How a value reads where it is not shown: a creation, or a field that the service never shows. */
export function declaredChanges(
  field: Field,
  value: Value,
  parts: readonly Path[] = [[]],
): readonly FieldChange[] {
  const { path, shape } = field;
  const own = isValueObject(value) ? value : {};
  return parts.flatMap(([key]) => {
    // A header that goes has no value any more; that it goes is all there is to say, and its old value is secret.
    if (key !== undefined) return [afterOnly([...path, key], own[key] ?? UNKNOWN)];
    const names =
      shape.type === "object" || shape.type === "map" ? orderedParts(shape, Object.keys(own)) : [];
    if (names.length === 0) return [afterOnly(path, value)];
    return names.map((part) => afterOnly([...path, part], own[part] ?? null));
  });
}

/** With one sensitive leaf the whole is: what stands around it would tell of it. */
function afterOnly(path: Path, value: Value): FieldChange {
  return isSensitive(value) ? { path, sensitive: true } : { path, after: ordered(reveal(value)) };
}

/** Plain data for showing: what is sensitive reads `(sensitive)`. */
export function display(value: Value): Json {
  return parseJson(JSON.stringify(value));
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
  /** Of all states. */
  readonly secrets: SecretFields;
  /** What each declared address means, the target's own included; one with a problem has no entry. */
  readonly matches: ReadonlyMap<Address, Match>;
}
