import { type Address, addressOf } from "../model/address.ts";
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
import {
  type Fingerprinter,
  caution,
  differences,
  normalise,
  ordered,
  orderedParts,
  sameAsLive,
} from "./input.ts";
import { type Match, matchedIds } from "./match.ts";
import { type Memory, unwrittenParts, wholeRecord } from "./memory.ts";

/** A declared field that differs, with the value to write and the way to show it. */
export interface FieldDiff<L> {
  readonly field: Field<L>;
  readonly value: Value;
  readonly shown: readonly FieldChange[];
}

/** Every declared field of a bound resource that differs; elements are compared in `elements.ts`. */
export function diffFields<L>(
  fields: readonly Field<L>[],
  resource: DesiredResource,
  live: L,
  memory: Memory,
): readonly FieldDiff<L>[] {
  const diffs: FieldDiff<L>[] = [];
  for (const field of fields) {
    const value = resource.fields[field.name];
    if (value === undefined || isUnknown(value)) continue;
    const shown = diffField(field, value, live, memory);
    if (shown.length > 0) diffs.push({ field, value, shown });
  }
  return diffs;
}

function diffField<L>(field: Field<L>, value: Value, live: L, memory: Memory): readonly FieldChange[] {
  switch (field.behaviour.kind) {
    case "readable": {
      const before = field.behaviour.read(live);
      if (before === undefined) return diffHidden(field, value, memory);
      if (sameAsLive(field.behaviour.compare, value, before)) return [];
      return readableChanges(
        field,
        // The order in which a set is shown means nothing.
        field.behaviour.compare === "set" ? normalise("set", before) : before,
        value,
        changedBy(field, value, before, memory),
      );
    }
    case "indirect":
      return diffFolder(field, value, field.behaviour.readId(live), memory);
    case "writeOnly":
      return diffHidden(field, value, memory);
    case "elements":
    case "fixed":
      return [];
  }
}

/**
 * A field whose live value does not show. What the service would generate from is not sent on a mere guess that it
 * differs: without a record of it, the prompt counts as it stands and is only recorded.
 */
function diffHidden<L>(field: Field<L>, value: Value, memory: Memory): readonly FieldChange[] {
  const known = memory.binding?.fields[field.name] !== undefined;
  if (field.generates && !known) return [];
  const shown = declaredChanges(field, value, unwrittenParts(field, value, memory));
  return known ? shown.map((change) => ({ ...change, changedBy: "manifest" })) : shown;
}

/**
 * A folder is written by name and read as an id; as long as a name's id is unknown, only null tells anything. A name
 * that is a secret has no place in state, so its id is never known.
 */
function diffFolder<L>(
  field: Field<L>,
  value: Value,
  liveId: string | null,
  memory: Memory,
): readonly FieldChange[] {
  if (isSensitive(value)) return diffHidden(field, value, memory);
  const name = reveal(value);
  const wantedId = typeof name === "string" ? memory.folders.get(name) : null;
  if (wantedId === liveId) return [];
  const before = liveId === null ? null : folderName(memory.folders, liveId);
  if (before !== undefined)
    return readableChanges(field, before, value, changedBy(field, value, before, memory));
  const movedAway = wantedId !== undefined && changedBy(field, value, liveId, memory) === "service";
  return declaredChanges(field, value).map((change) =>
    movedAway ? { ...change, changedBy: "service" } : change,
  );
}

function folderName(folders: ReadonlyMap<string, string>, id: string): string | undefined {
  for (const [name, known] of folders) if (known === id) return name;
  return undefined;
}

/** Who moved the field away from what was last applied: seen by comparing both sides with its record. */
export function changedBy<L>(
  field: Field<L>,
  declared: Value,
  live: Json,
  { binding, fingerprints, id }: Memory,
): ChangedBy | undefined {
  const record = binding?.fields[field.name];
  if (record === undefined || fingerprints === undefined) return undefined;
  const manifest = wholeRecord(fingerprints, id, field, reveal(declared)) !== record;
  const service = wholeRecord(fingerprints, id, field, live) !== record;
  if (manifest && service) return "both";
  return manifest ? "manifest" : service ? "service" : undefined;
}

/** Warnings for fields that are fixed once the resource is made and differ from what is declared. */
export function fixedWarnings<L>(
  fields: readonly Field<L>[],
  resource: DesiredResource,
  live: L,
  wanted: (field: Field<L>, value: Value) => Json | undefined,
): readonly Diagnostic[] {
  const warnings: Diagnostic[] = [];
  for (const field of fields) {
    const value = resource.fields[field.name];
    if (field.behaviour.kind !== "fixed" || value === undefined || isUnknown(value)) continue;
    const shown = field.behaviour.read(live);
    const expected = wanted(field, value);
    if (shown === undefined || expected === undefined || shown === expected) continue;
    warnings.push(
      caution(
        "fixed-field-differs",
        resource,
        `${field.name} is fixed after creation and differs`,
        `The service has ${shown === null ? "none" : JSON.stringify(shown)}, the manifest says ${JSON.stringify(display(value))}. The interface cannot change it: take the live value into the manifest, or make the test case anew.`,
        field.path,
      ),
    );
  }
  return warnings;
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

/** A readable field's difference: the value as a whole, or, for structures, each place that differs. */
export function readableChanges<L>(
  field: Field<L>,
  before: Json,
  value: Value,
  changedBy: ChangedBy | undefined,
): readonly FieldChange[] {
  const by = changedBy === undefined ? {} : { changedBy };
  if (isSensitive(value)) return [{ path: field.path, sensitive: true, ...by }];
  const after = ordered(reveal(value));
  if (field.behaviour.kind !== "elements") return [{ path: field.path, before, after, ...by }];
  return differences(ordered(before), after).map(({ path, ...sides }) => ({
    path: [...field.path, ...path],
    ...sides,
    ...by,
  }));
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
export interface Seen {
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
export function targetId(seen: Seen): string | IdOf {
  return seen.live?.id ?? new IdOf(seen.target.address);
}

/** Changes that must come first because the target itself is yet to be made. */
export function needsTarget(seen: Seen): readonly Address[] {
  return seen.live === undefined ? [seen.target.address] : [];
}

/** A prerequisite as declared: a key of the target, or the name of a case that nothing here manages. */
export type Reference = { readonly key: Address } | { readonly description: string };

export function testCaseReference(seen: Seen, value: Value | undefined): Reference | undefined {
  if (value === undefined || value === null || isUnknown(value)) return undefined;
  const plain = reveal(value);
  if (typeof plain === "string") return { key: addressOf("testCase", seen.target.key, plain) };
  if (typeof plain !== "object" || plain === null || !("description" in plain)) return undefined;
  return typeof plain.description === "string" ? { description: plain.description } : undefined;
}

/** The live cases of that name which no address means. */
export function unmanagedByName(seen: Seen, description: string): readonly LiveTestCase[] {
  const managed = matchedIds(seen.testCaseMatches);
  return seen.testCases.filter(
    (testCase) => testCase.description === description && !managed.has(testCase.id),
  );
}
