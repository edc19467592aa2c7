import { type Address, compareText, parseAddress, targetAddress } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { DELETED, type Field, type Shape, fieldsOf } from "../model/fields.ts";
import { type Json, type Path, defined, sameJson, isArray } from "../model/json.ts";
import type { Live, LiveResource } from "../model/live.ts";
import type { ChangedBy } from "../model/plan.ts";
import {
  type Binding,
  type FieldRecord,
  type Fingerprint,
  type Intent,
  type State,
  type StateEvent,
  secretFieldsOf,
} from "../model/state.ts";
import { type Value, isUnknown, isSensitive, isValueObject, reveal } from "../model/value.ts";
import { type Fingerprinter, normalise, orderedParts } from "./input.ts";
import { type NamedKind, type Names, levelName, liveNames, namesOf } from "./match.ts";

/** What state remembers of one live resource. */
export interface Memory {
  readonly id: string;
  /** Nothing where the address is not bound, or is bound to another id by now. */
  readonly binding: Binding | undefined;
  /** Fields that may hold a secret of before, whatever address it was written under. */
  readonly secrets: readonly string[];
  /** Folder name → id, of the whole target. */
  readonly folders: ReadonlyMap<string, string>;
  /** Absent in a plan without the key. */
  readonly fingerprints: Fingerprinter | undefined;
}

/** Where to remember from. */
interface Remembering {
  readonly state: State | undefined;
  readonly fingerprints: Fingerprinter | undefined;
  readonly secrets?: SecretFields | undefined;
}

/** Records made with another key say nothing, so they read as none. */
export function memoryOf(
  address: Address,
  id: string,
  { state, fingerprints, secrets }: Remembering,
): Memory {
  const bound = state?.bindings.get(address);
  const binding = bound?.id === id ? bound : undefined;
  const trusted = fingerprints === undefined || keyHolds(state, fingerprints);
  return {
    id,
    binding: binding && (trusted ? binding : { id, fields: {}, ...withSecrets(binding.secrets ?? []) }),
    secrets: (binding ? secretFieldsOf(binding) : secrets?.get(id)) ?? [],
    folders: state?.folders ?? new Map(),
    fingerprints,
  };
}

/** Whether the records of a state were made with the current key. */
export function keyHolds(state: State | undefined, fingerprints: Fingerprinter): boolean {
  return state?.keyCheck === undefined || state.keyCheck === fingerprints.keyCheck;
}

/** The record of a field's value: part by part where parts can change alone, which those of a list cannot. */
export function recordField(
  fingerprints: Fingerprinter,
  id: string,
  field: Field,
  value: Value,
): FieldRecord {
  if (!isValueObject(value) || (field.shape.type !== "object" && field.shape.type !== "map"))
    return wholeRecord(fingerprints, id, field, reveal(withoutWriteOnly(field.shape, value)));
  const parts = Object.entries(value).map(([part, own]): [string, Fingerprint] => [
    part,
    fingerprints.of(`${id}/${field.name}/${part}`, reveal(own)),
  ]);
  return Object.fromEntries(parts);
}

/** The part of a record that names the fields which carry a secret: left out where none does. */
export function withSecrets(names: readonly string[]): { readonly secrets?: readonly string[] } {
  return names.length === 0 ? {} : { secrets: names.toSorted(compareText) };
}

/** The same of what a call carries of a resource. */
export function secretsAmong(
  resource: DesiredResource,
  fields: Readonly<Record<string, FieldRecord>>,
): { readonly secrets?: readonly string[] } {
  return withSecrets(Object.keys(fields).filter((name) => isSensitive(resource.fields[name] ?? null)));
}

/** A value as far as the service shows it; what it does not show of elements has records of its own. */
export function withoutWriteOnly(shape: Shape, value: Value): Value {
  if (shape.type === "list" && isArray(value)) return value.map((item) => withoutWriteOnly(shape.of, item));
  if (shape.type !== "object" || !isValueObject(value)) return value;
  const shown = Object.entries(value).filter(([part]) => shape.parts[part]?.writeOnly !== true);
  return Object.fromEntries(shown);
}

/** The record of a plain value as a whole; also of a live one, to compare it with what was last applied. */
function wholeRecord(fingerprints: Fingerprinter, id: string, field: Field, value: Json): Fingerprint {
  return fingerprints.of(`${id}/${field.name}`, normalise(field.compare, value));
}

/** By id of a live resource: the fields whose live values may still show a secret that no manifest has any more. */
export type SecretFields = Pick<ReadonlyMap<Json | undefined, readonly string[]>, "get">;

/**
 * The same of all that states bind: a resource may have another address by now, in another target's state. What is not
 * bound may be what a creation has made of which nobody knows yet.
 */
export function secretFields(states: Iterable<State>): SecretFields {
  const all = [...states];
  const open = all.flatMap(({ intents }) => [...intents.values()].flatMap(secretFieldsOf));
  const found = new Map<Json | undefined, readonly string[]>();
  for (const { bindings } of all)
    for (const binding of bindings.values())
      if (binding.secrets !== undefined || open.length > 0)
        found.set(binding.id, [...(found.get(binding.id) ?? []), ...secretFieldsOf(binding)]);
  return { get: (id) => found.get(id) ?? open };
}

/** What was last written with a secret in it may still be on the service, whatever the manifest says by now. */
export function mayHoldSecret(field: Field, { secrets }: Memory): boolean {
  return secrets.includes(field.name);
}

/** Who moved the field away from what was last applied: seen by comparing both sides with its record. */
export function changedBy(
  field: Field,
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

/**
 * The parts of a write-only field that differ from what was last written: `[[]]` for all of it, nothing where it is the
 * same, cannot be told without the key, or holds an unknown value.
 */
export function unwrittenParts(field: Field, value: Value, memory: Memory): readonly Path[] {
  const { fingerprints, binding } = memory;
  if (fingerprints === undefined || isUnknown(value)) return [];
  const record = binding?.fields[field.name];
  const wanted = recordField(fingerprints, memory.id, field, value);
  if (typeof wanted === "string") return record === wanted ? [] : [[]];
  const before = typeof record === "object" ? record : {};
  const changed = Object.keys(wanted).filter((part) => before[part] !== wanted[part]);
  // A part that is no longer declared is left alone; a key of a free-form map is not a field, so its absence counts.
  const gone =
    field.shape.type === "map" ? Object.keys(before).filter((part) => !Object.hasOwn(wanted, part)) : [];
  // An empty map has no part that could tell it from null, or from nothing.
  const emptied = Object.keys(wanted).length === 0 && typeof record !== "object" ? [[]] : [];
  return [...orderedParts(field.shape, [...changed, ...gone]).map((part) => [part]), ...emptied];
}

/** Where to look, and what is known in addition to the state itself. */
interface RecoverySources {
  readonly live: Live;
  readonly fingerprints: Fingerprinter;
  readonly resources: ReadonlyMap<Address, DesiredResource>;
  /** Ids that some address has, of whatever target: what is found is added. */
  readonly taken: Set<string>;
}

/** The place of an id in records of fields that were sent before the id was known. */
export const NO_ID_YET = "intent";

/**
 * What became of creations whose outcome is not known (design contract, section 5): an intent is written before each POST
 * and settled after it. What bears the intended name and was not there before is what the POST made. To match by name as
 * for any other resource fails where the name was there before or the manifest has changed since; so an intent keeps the
 * ids that it must not be taken for, and digests of its names.
 */
export function recover(state: State, around: RecoverySources) {
  const events: StateEvent[] = [];
  const diagnostics: Diagnostic[] = [];
  let targetId = state.bindings.get(targetAddress(state.target))?.id;
  for (const [address, intent] of state.intents) {
    const kind = parseAddress(address)?.kind;
    if (kind === undefined || kind === "batchGeneration") {
      // The interface cannot read batch generations.
      const { content } = intent;
      events.push({ type: "batch", address, record: defined({ status: "uncertain", content }) });
      continue;
    }
    // Names that were written with another key can only be those that are declared now.
    const isReadable = intent.name !== undefined && keyHolds(state, around.fingerprints);
    const resource = around.resources.get(address);
    const named =
      isReadable || resource === undefined
        ? intent
        : { ...intent, ...nameDigests(around.fingerprints, kind, namesOf(resource)) };
    const candidates = madeBy(named, kind, around, targetId).filter(
      (id) => !intent.existing.includes(id) && !around.taken.has(id),
    );
    const [only] = candidates;
    if (candidates.length === 0 && isReadable) events.push({ type: "settled", address });
    else if (only === undefined || candidates.length > 1)
      diagnostics.push(unclearCreation(address, intent, candidates));
    else {
      around.taken.add(only);
      const fields = isReadable ? sentFields(address, intent, only, around) : {};
      events.push({ type: "bound", address, id: only, fields, ...withSecrets(intent.secrets ?? []) });
      // What was made in it is looked for next: maps keep order, and targets come first.
      if (kind === "target") targetId = only;
    }
  }
  return { events, diagnostics };
}

/** Ids of all that bears the names which the intent gave. */
function madeBy(
  intent: Intent,
  kind: NamedKind,
  { live, fingerprints }: RecoverySources,
  targetId: string | undefined,
): readonly string[] {
  const listed = listedOf(kind, live, targetId).filter(
    ({ type, status }) => status !== DELETED && (kind !== "environment" || type !== "DEFAULT"),
  );
  const named = listed.map((one) => ({
    id: one.id,
    ...nameDigests(fingerprints, kind, liveNames(kind, one)),
  }));
  const same = named.filter(({ externalId }) => externalId !== undefined && externalId === intent.externalId);
  // As in matching: one with an external id of its own is another one, however alike the names.
  const byName = named.filter(({ name, externalId }) => externalId === undefined && name === intent.name);
  return (same.length > 0 ? same : byName).map(({ id }) => id);
}

/** What the service lists of a kind: targets, or what is in one of them. */
export function listedOf(kind: NamedKind, live: Live, targetId: string | undefined): readonly LiveResource[] {
  switch (kind) {
    case "target":
      return live.targets;
    case "environment":
      return live.targets.find(({ id }) => id === targetId)?.environments ?? [];
    case "testCase":
      return live.testCases.get(targetId ?? "") ?? [];
  }
}

/**
 * The records of what the POST carried, as far as the manifest still says the same. A prompt that it does not keeps the
 * record made without the id, which equals none made with it: so it counts as changed.
 */
function sentFields(
  address: Address,
  intent: Intent,
  id: string,
  { fingerprints, resources }: RecoverySources,
): Readonly<Record<string, FieldRecord>> {
  const resource = resources.get(address);
  const records: Record<string, FieldRecord> = {};
  for (const field of resource === undefined ? [] : fieldsOf(resource.kind)) {
    const sent = intent.fields[field.name];
    const value = resource?.fields[field.name];
    if (sent === undefined || value === undefined || isUnknown(value)) continue;
    if (sameJson(recordField(fingerprints, NO_ID_YET, field, value), sent))
      records[field.name] = recordField(fingerprints, id, field, value);
    else if (field.generates) records[field.name] = sent;
  }
  return records;
}

/** The digests under which an intent keeps names, so that the file alone does not tell them. */
export function nameDigests(
  fingerprints: Fingerprinter,
  kind: NamedKind,
  { name = "", externalId }: Names,
): Pick<Intent, "name" | "externalId"> {
  return {
    name: fingerprints.of(kind === "environment" ? "url" : "name", levelName(name)),
    ...(externalId === undefined ? {} : { externalId: fingerprints.of("name", levelName(externalId)) }),
  };
}

/** None where nothing is called as declared now, and what the creation was called stands in state under a key that is gone. */
function unclearCreation(address: Address, { at }: Intent, ids: readonly string[]): Diagnostic {
  const list = ids.toSorted(compareText).map((id) => `  ${id}`);
  const [summary, why] =
    ids.length === 0
      ? [
          "Unknown what became of an interrupted creation",
          `the key of state has changed since, so its name cannot be read.\nIf it was made:     tasc state bind ${address} ID\nIf it was not made: tasc state rm ${address}`,
        ]
      : [
          `${ids.length} live resources may be the result of an interrupted creation`,
          `these have appeared since:\n${list.join("\n")}\nChoose the right one:\ntasc state bind ${address} ID`,
        ];
  const detail = `A creation was interrupted at ${at}, and ${why}`;
  return { severity: "error", code: "creation-unclear", address, summary, detail };
}
