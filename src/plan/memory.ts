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
import type { Fingerprinter } from "./input.ts";
import { normalise, orderedParts } from "./normalise.ts";
import { type NamedKind, type Names, levelName, liveNames, namesOf } from "./match.ts";

/** The records in state of one live resource. */
export interface Memory {
  readonly id: string;
  /** Undefined if the address is not bound, or is now bound to another id. */
  readonly binding: Binding | undefined;
  /** Fields that may contain an old secret, even if it was written under another address. */
  readonly secrets: readonly string[];
  /** Folder name → id, of the whole target. */
  readonly folders: ReadonlyMap<string, string>;
  /** Undefined in a plan without the key. */
  readonly fingerprints: Fingerprinter | undefined;
}

/** The sources of a memory. */
interface Remembering {
  readonly state: State | undefined;
  readonly fingerprints: Fingerprinter | undefined;
  readonly secrets?: SecretFields | undefined;
}

/**
 * Returns the memory of a live resource. Records made with another key are useless, so they count
 * as missing.
 */
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
    binding:
      binding && (trusted ? binding : { id, fields: {}, ...withSecrets(binding.secrets ?? []) }),
    secrets: (binding ? secretFieldsOf(binding) : secrets?.get(id)) ?? [],
    folders: state?.folders ?? NO_FOLDERS,
    fingerprints,
  };
}

/** One for all, as a plan without state has as many memories as test cases. */
const NO_FOLDERS: Memory["folders"] = new Map();

/** Whether the records of a state were made with the current key. */
export function keyHolds(state: State | undefined, fingerprints: Fingerprinter): boolean {
  return state?.keyCheck === undefined || state.keyCheck === fingerprints.keyCheck;
}

/**
 * Returns the record of a value: one digest per part if parts can change separately (not in a
 * list), otherwise one.
 */
export function recordField(
  fingerprints: Fingerprinter,
  id: string,
  field: Field,
  value: Value,
): FieldRecord {
  if (!isValueObject(value) || (field.shape.type !== "object" && field.shape.type !== "map")) {
    const plain = reveal(withoutWriteOnly(field.shape, value));
    const whole = wholeRecord(fingerprints, id, field, plain);
    if (field.compare !== "elements" || !isArray(plain)) return whole;
    return `${whole}.${plain.map((step) => stepDigest(fingerprints, id, step)).join("")}`;
  }
  const parts = Object.entries(value).map(([part, own]): [string, Fingerprint] => [
    part,
    fingerprints.of(`${id}/${field.name}/${part}`, reveal(own)),
  ]);
  return Object.fromEntries(parts);
}

/**
 * Whether a record is that of a value. An apply asks this for each field of each test case, so of a
 * list of steps only the digest of the whole is made.
 */
export function isRecordOf(
  known: FieldRecord,
  fingerprints: Fingerprinter,
  id: string,
  field: Field,
  value: Value,
): boolean {
  if (field.compare !== "elements" || typeof known !== "string" || !isArray(value))
    return sameJson(known, recordField(fingerprints, id, field, value));
  const whole = wholeRecord(fingerprints, id, field, reveal(withoutWriteOnly(field.shape, value)));
  const length = whole.length + 1 + STEP_DIGEST * value.length;
  return known.length === length && known.startsWith(`${whole}.`);
}

/**
 * Returns the part of a record that names the fields with a secret; it is empty if no field has
 * one.
 */
export function withSecrets(names: readonly string[]): { readonly secrets?: readonly string[] } {
  return names.length === 0 ? {} : { secrets: names.toSorted(compareText) };
}

/** Returns which of the recorded fields carry a secret, as a part of a record. */
export function secretsAmong(
  resource: DesiredResource,
  fields: Readonly<Record<string, FieldRecord>>,
): { readonly secrets?: readonly string[] } {
  return withSecrets(
    Object.keys(fields).filter((name) => isSensitive(resource.fields[name] ?? null)),
  );
}

/**
 * Removes the write-only parts of a value; those of elements (locator lines) have separate records.
 */
export function withoutWriteOnly(shape: Shape, value: Value): Value {
  if (shape.type === "list" && isArray(value))
    return value.map((item) => withoutWriteOnly(shape.of, item));
  if (shape.type !== "object" || !isValueObject(value)) return value;
  const isShown = (part: string): boolean => shape.parts[part]?.writeOnly !== true;
  if (Object.keys(value).every(isShown)) return value;
  return Object.fromEntries(Object.entries(value).filter(([part]) => isShown(part)));
}

/**
 * Returns one digest of a plain value; also of a live value, to compare it with the last applied
 * one.
 */
function wholeRecord(
  fingerprints: Fingerprinter,
  id: string,
  field: Field,
  value: Json,
): Fingerprint {
  return fingerprints.of(`${id}/${field.name}`, normalise(field.compare, value));
}

/**
 * Characters of a step's digest. It only tells who changed the step, so 48 bits are enough; the
 * digest of the whole list has all 96.
 */
const STEP_DIGEST = 8;
const STEPS = new RegExp(`.{${STEP_DIGEST}}`, "g");

/** Returns the digest of one step of a test case, wherever in the list it is. */
export function stepDigest(fingerprints: Fingerprinter, id: string, step: Json): Fingerprint {
  return fingerprints.of(`${id}/elements/step`, step).slice(0, STEP_DIGEST);
}

/**
 * Returns the digests of the steps that were last applied. `undefined` if they are not recorded, or
 * cannot be compared without the key.
 */
export function recordedSteps({ binding, fingerprints }: Memory): readonly string[] | undefined {
  const record = binding?.fields["elements"];
  if (typeof record !== "string" || fingerprints === undefined) return undefined;
  const [, steps] = record.split(".");
  return steps?.match(STEPS) ?? (steps === "" ? [] : undefined);
}

/**
 * By id of a live resource: fields whose live values may still show a secret that no manifest
 * contains any more.
 */
export type SecretFields = Pick<ReadonlyMap<Json | undefined, readonly string[]>, "get">;

/**
 * Collects these fields from all states, because a resource may now have another address, in
 * another target's state. An unbound resource may be the result of an unsettled creation, so it
 * gets the secret fields of all intents.
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

/**
 * Whether a live value may contain a secret that was written earlier, even if the manifest has
 * changed since.
 */
export function mayHoldSecret(field: Field, { secrets }: Memory): boolean {
  return secrets.includes(field.name);
}

/** Returns who changed a field since the last apply, by comparing both sides with its record. */
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
 * Returns the parts of a write-only field that differ from the last written value: `[[]]` for the
 * whole field; an empty list if it is the same, if it contains an unknown value, or if there is no
 * key to compare with.
 */
export function unwrittenParts(field: Field, value: Value, memory: Memory): readonly Path[] {
  const { fingerprints, binding } = memory;
  if (fingerprints === undefined || isUnknown(value)) return [];
  const record = binding?.fields[field.name];
  const wanted = recordField(fingerprints, memory.id, field, value);
  if (typeof wanted === "string") return record === wanted ? [] : [[]];
  const before = typeof record === "object" ? record : {};
  const changed = Object.keys(wanted).filter((part) => before[part] !== wanted[part]);
  // An undeclared part of an object is left alone. A map is managed as a whole, so a key removed
  // from it is a change.
  const gone =
    field.shape.type === "map"
      ? Object.keys(before).filter((part) => !Object.hasOwn(wanted, part))
      : [];
  // An empty map has no part that distinguishes it from null or from a missing record.
  const emptied = Object.keys(wanted).length === 0 && typeof record !== "object" ? [[]] : [];
  return [...orderedParts(field.shape, [...changed, ...gone]).map((part) => [part]), ...emptied];
}

/** The data that recovery needs in addition to the state. */
interface RecoverySources {
  readonly live: Live;
  readonly fingerprints: Fingerprinter;
  readonly resources: ReadonlyMap<Address, DesiredResource>;
  /** Ids that are bound to an address of any target; recovered ids are added. */
  readonly taken: Set<string>;
}

/** Used instead of the id in records of fields that were sent before the id was known. */
export const NO_ID_YET = "intent";

/**
 * Finds the results of creations with an unknown outcome (design contract, section 5): an intent is
 * written before each POST and settled after it. A live resource that has the intended name and is
 * new is the result of the POST. Ordinary matching by name would fail if the name existed before,
 * or if the manifest has changed since. So an intent keeps the ids of similar older resources, and
 * digests of its names.
 */
export function recover(state: State, around: RecoverySources) {
  const events: StateEvent[] = [];
  const diagnostics: Diagnostic[] = [];
  let targetId = state.bindings.get(targetAddress(state.target))?.id;
  for (const [address, intent] of state.intents) {
    const kind = parseAddress(address)?.kind;
    if (kind === undefined || kind === "batchGeneration") {
      // The API cannot read batch generations, so the outcome stays unknown.
      const { content } = intent;
      events.push({ type: "batch", address, record: defined({ status: "uncertain", content }) });
      continue;
    }
    // Digests made with another key cannot be compared, so the names that are declared now are
    // used.
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
      events.push({
        type: "bound",
        address,
        id: only,
        fields,
        ...withSecrets(intent.secrets ?? []),
      });
      // Resources created in the target are looked up after it: maps keep their order, and targets
      // come first.
      if (kind === "target") targetId = only;
    }
  }
  return { events, diagnostics };
}

/** Returns the ids of all live resources that have the names of an intent. */
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
  const same = named.filter(
    ({ externalId }) => externalId !== undefined && externalId === intent.externalId,
  );
  // As in matching: a resource with an external id of its own is a different one, even if the names
  // are equal.
  const byName = named.filter(
    ({ name, externalId }) => externalId === undefined && name === intent.name,
  );
  return (same.length > 0 ? same : byName).map(({ id }) => id);
}

/**
 * Returns the listed resources of a kind: all targets, or the environments or test cases of one
 * target.
 */
export function listedOf(
  kind: NamedKind,
  live: Live,
  targetId: string | undefined,
): readonly LiveResource[] {
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
 * Returns the records of those fields of the POST whose values the manifest has not changed since.
 * A changed prompt keeps the record made without the id, which never equals one made with the id,
 * so the prompt counts as changed.
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

/** Returns the digests of names for an intent, so that the state file does not reveal the names. */
export function nameDigests(
  fingerprints: Fingerprinter,
  kind: NamedKind,
  { name = "", externalId }: Names,
): Pick<Intent, "name" | "externalId"> {
  return {
    name: fingerprints.of(kind === "environment" ? "url" : "name", levelName(name)),
    ...(externalId === undefined
      ? {}
      : { externalId: fingerprints.of("name", levelName(externalId)) }),
  };
}

/**
 * Makes the error for an unclear creation.
 * @param ids empty if no name matches and the intent's digests are unreadable
 */
function unclearCreation(address: Address, { at }: Intent, ids: readonly string[]): Diagnostic {
  const list = ids.toSorted(compareText).map((id) => `  ${id}`);
  const [summary, why] =
    ids.length === 0
      ? [
          "The outcome of an interrupted creation is unknown",
          `the key of state has changed since, so its name cannot be read.\nIf it was made:     tasc state bind ${address} ID\nIf it was not made: tasc state rm ${address}`,
        ]
      : [
          `${ids.length} live resources may be the result of an interrupted creation`,
          `these have appeared since:\n${list.join("\n")}\nChoose the right one:\ntasc state bind ${address} ID`,
        ];
  const detail = `A creation was interrupted at ${at}, and ${why}`;
  return { severity: "error", code: "creation-unclear", address, summary, detail };
}
