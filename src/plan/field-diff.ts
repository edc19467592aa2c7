import type { Field } from "../fields/field.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Json } from "../model/json.ts";
import type { ChangedBy, FieldChange } from "../model/plan.ts";
import { isSensitive, isUnknown, reveal } from "../model/value.ts";
import type { Value } from "../model/value.ts";
import { normalise, sameAsLive } from "./compare.ts";
import { declaredChanges, display, readableChanges } from "./field-changes.ts";
import { unwrittenParts, wholeRecord } from "./memory.ts";
import type { Memory } from "./memory.ts";
import { caution } from "./problem.ts";

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
