import type { Field, Shape } from "../fields/field.ts";
import type { Address } from "../model/address.ts";
import type { Json, Path } from "../model/json.ts";
import type { Binding, FieldRecord, Fingerprint, State } from "../model/state.ts";
import type { Value } from "../model/value.ts";
import { isUnknown, isValueObject, reveal } from "../model/value.ts";
import { normalise } from "./compare.ts";
import type { Fingerprinter } from "./inputs.ts";
import { orderedParts } from "./ordered.ts";

/** What state remembers of one live resource. */
export interface Memory {
  readonly id: string;
  /** Nothing where the address is not bound, or is bound to another id by now. */
  readonly binding: Binding | undefined;
  /** Folder name → id, of the whole target. */
  readonly folders: ReadonlyMap<string, string>;
  /** Absent in a plan without the key. */
  readonly fingerprints: Fingerprinter | undefined;
}

/**
 * Records made with another key say nothing, so they read as none: write-only fields are then sent once more,
 * and a prompt is recorded anew.
 */
export function memoryOf(
  address: Address,
  id: string,
  state: State | undefined,
  fingerprints: Fingerprinter | undefined,
): Memory {
  const binding = state?.bindings.get(address);
  const trusted = fingerprints === undefined || keyHolds(state, fingerprints);
  return {
    id,
    binding: binding?.id !== id ? undefined : trusted ? binding : { id, fields: {} },
    folders: state?.folders ?? new Map(),
    fingerprints,
  };
}

/** Whether the records of a state were made with the key at hand. */
export function keyHolds(state: State | undefined, fingerprints: Fingerprinter): boolean {
  return state?.keyCheck === undefined || state.keyCheck === fingerprints.keyCheck;
}

/** The record of a field's value: part by part where parts can change alone. */
export function recordField<L>(
  fingerprints: Fingerprinter,
  id: string,
  field: Field<L>,
  value: Value,
): FieldRecord {
  if (!isValueObject(value) || !hasParts(field.shape))
    return wholeRecord(fingerprints, id, field, reveal(value));
  const parts: Record<string, Fingerprint> = {};
  for (const [part, partValue] of Object.entries(value))
    parts[part] = fingerprints.of(`${id}/${field.name}/${part}`, reveal(partValue));
  return parts;
}

/** The record of a plain value as a whole; also of a live one, to compare it with what was last applied. */
export function wholeRecord<L>(
  fingerprints: Fingerprinter,
  id: string,
  field: Field<L>,
  value: Json,
): Fingerprint {
  const compare = field.behaviour.kind === "readable" ? field.behaviour.compare : "plain";
  return fingerprints.of(`${id}/${field.name}`, normalise(compare, value));
}

/** Only of objects and maps can parts change alone; a list is one value. */
function hasParts(shape: Shape): boolean {
  return shape.type === "object" || shape.type === "map";
}

/**
 * The parts of a write-only field that differ from what was last written: `[[]]` for the field as a whole, nothing
 * where it is the same, cannot be told without the key, or holds an unknown value.
 */
export function unwrittenParts<L>(field: Field<L>, value: Value, memory: Memory): readonly Path[] {
  const { fingerprints, binding } = memory;
  if (fingerprints === undefined || isUnknown(value)) return [];
  const record = binding?.fields[field.name];
  const wanted = recordField(fingerprints, memory.id, field, value);
  if (typeof wanted === "string") return record === wanted ? [] : [[]];
  const before = typeof record === "object" ? record : {};
  const changed = Object.keys(wanted).filter((part) => before[part] !== wanted[part]);
  // A part that is no longer declared is left alone; a key of a free-form map is no field, so its absence counts.
  const gone =
    field.shape.type === "map" ? Object.keys(before).filter((part) => !Object.hasOwn(wanted, part)) : [];
  // An empty map has no part that could tell it from null, or from nothing.
  const emptied = Object.keys(wanted).length === 0 && typeof record !== "object" ? [[]] : [];
  return [...orderedParts(field.shape, [...changed, ...gone]).map((part) => [part]), ...emptied];
}
