import type { Address } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import { type Field, fieldsOf } from "../model/fields.ts";
import { defined, sameJson } from "../model/json.ts";
import type { LiveResource } from "../model/live.ts";
import type { Binding, FieldRecord, LocatorRecord, StateEvent } from "../model/state.ts";
import { type Value, isSensitive, isUnknown } from "../model/value.ts";
import { batchContent, idsIn, liveIds, ranWith } from "./batches.ts";
import { type Comparison, compareField } from "./compare.ts";
import type { MatchedTarget } from "./matched-target.ts";
import { NOT_READ_YET, declaredElements, saysAll, selectorsDigest } from "./elements.ts";
import { discoveryMark, hasSteps, rememberedGeneration } from "./generation.ts";
import type { Fingerprinter } from "./input.ts";
import {
  type Memory,
  isRecordOf,
  keyHolds,
  memoryOf,
  recordField,
  secretsAmong,
  withSecrets,
} from "./memory.ts";
import { undeclaredBindings } from "./orphans.ts";

/**
 * Whether the existing record of a field is checked again; `undefined` if that of none is, and a
 * bound resource needs no look at all.
 */
export type IsDue = ((field: Field) => boolean) | undefined;

/**
 * Returns the events to record after a target has been read: the id of each address, and the fields
 * that are as declared. The results of calls are recorded elsewhere, when the calls are answered.
 */
export function refreshEvents(
  matched: MatchedTarget,
  fingerprints: Fingerprinter,
  inScope: (address: Address) => boolean,
  dueOf: (address: Address) => IsDue = () => () => true,
): readonly StateEvent[] {
  const { state, live } = matched;
  // The key comes first, even if the target does not exist yet: all later records are made with it.
  const keyed: readonly StateEvent[] =
    state?.keyCheck === fingerprints.keyCheck
      ? []
      : [{ type: "keyed", keyCheck: fingerprints.keyCheck }];
  if (live === undefined) return keyed;
  // After a change of the key, all records of the target are useless, so all are made again,
  // regardless of scope.
  const isRead = keyHolds(state, fingerprints) ? inScope : () => true;
  const read = new Set<string>();
  return [
    ...keyed,
    // Before the bindings: once a target has bindings, batch generations that are not recorded as
    // held count as never run.
    ...batchEvents(matched, fingerprints),
    // The target is bound regardless of scope: nothing in it can be looked up without its id.
    ...[...matched.resources.values()].flatMap((resource) => {
      const { address, kind } = resource;
      const own = matched.matches.get(address)?.live;
      if (own === undefined || !(kind === "target" || isRead(address))) return [];
      read.add(own.id);
      const memory = memoryOf(address, own.id, { ...matched, fingerprints });
      const before = memory.binding;
      return [
        ...settled(
          resource,
          own,
          memory,
          fingerprints,
          state?.bindings.get(address),
          dueOf(address),
        ),
        ...generatedEvents(address, own, before),
        ...locatorEvents(address, own, memory, fingerprints),
      ];
    }),
    ...undeclaredBindings(matched).gone.flatMap((address) => {
      // Its list of secret fields would be lost, unless the live resource has another address now.
      const { id = "", secrets = [] } = state?.bindings.get(address) ?? {};
      return secrets.length > 0 && !read.has(id) ? [] : [{ type: "unbound" as const, address }];
    }),
  ];
}

/**
 * Yields the events that renew records of fields which are as declared, but have no record, or that
 * of another value: they were changed on the service, and then in the manifests. This takes a digest
 * for each field, so it yields once for each bound resource in scope, also without events: the
 * caller may do something else in between. The events change nothing but these fields, so they may
 * be recorded before or after those of calls.
 * @param dueOf excludes fields that a call writes
 */
export function* renewalEvents(
  matched: MatchedTarget,
  fingerprints: Fingerprinter,
  inScope: (address: Address) => boolean,
  dueOf: (address: Address) => (field: Field) => boolean,
): Generator<readonly StateEvent[], void, void> {
  for (const resource of matched.resources.values()) {
    const { address } = resource;
    const live = inScope(address) ? matched.matches.get(address)?.live : undefined;
    if (live === undefined) continue;
    const memory = memoryOf(address, live.id, { ...matched, fingerprints });
    const before = matched.state?.bindings.get(address);
    // What is not bound yet, or with another key, has no records.
    if (before === undefined || before !== memory.binding) continue;
    yield renewed(resource, live, memory, before.fields, dueOf(address));
  }
}

function renewed(
  resource: DesiredResource,
  live: LiveResource,
  memory: Memory,
  records: Binding["fields"],
  isDue: (field: Field) => boolean,
): readonly StateEvent[] {
  const { address, kind, fields: declared } = resource;
  const { id, fingerprints, secrets } = memory;
  const fields: Record<string, FieldRecord> = {};
  for (const field of fieldsOf(kind)) {
    const { name } = field;
    const [value, record] = [declared[name], records[name]];
    if (value === undefined || field.update === undefined || fingerprints === undefined) continue;
    // Fields that may show a secret were looked at when the target had been read.
    if (secrets.includes(name) || !isDue(field)) continue;
    const isOpen = record !== undefined && !isSensitive(value);
    if (isOpen && isRecordOf(record, fingerprints, id, field, value)) continue;
    const compared = comparedKind(field, value, live, memory);
    if (isSettled(compared, record)) fields[name] = recordField(fingerprints, id, field, value);
  }
  if (Object.keys(fields).length === 0) return [];
  return [{ type: "wrote", address, fields, ...secretsAmong(resource, fields) }];
}

function settled(
  resource: DesiredResource,
  live: LiveResource,
  memory: Memory,
  fingerprints: Fingerprinter,
  before: Binding | undefined,
  isDue: IsDue,
): readonly StateEvent[] {
  const { id, binding } = memory;
  const isBound = before !== undefined && before === binding && before.imported !== true;
  if (isBound && isDue === undefined && memory.secrets.length === 0) return [];
  const known = binding?.fields ?? {};
  const renewed: Record<string, FieldRecord> = {};
  const secrets = new Set(memory.secrets);
  for (const field of fieldsOf(resource.kind)) {
    const { name } = field;
    const value = resource.fields[name];
    if (value === undefined || field.update === undefined) continue;
    const record = known[name];
    if (record !== undefined && !secrets.has(name) && isDue?.(field) !== true) continue;
    const isOpen = !isSensitive(value) && !secrets.has(name);
    // A record that already has the declared value is kept, regardless of the live value.
    if (record !== undefined && isOpen && isRecordOf(record, fingerprints, id, field, value))
      continue;
    const kind = comparedKind(field, value, live, memory);
    if (!isSettled(kind, record)) continue;
    renewed[name] = recordField(fingerprints, id, field, value);
    if (isSensitive(value)) secrets.add(name);
    // A field stays marked as secret while an old secret may remain: in a hidden field, in
    // undeclared parts of elements, or in elements that the service is still generating from the
    // prompt.
    else if (
      secrets.has(name) &&
      kind === "same" &&
      (field.compare !== "elements" ||
        (!isUnderWay(live, before) && saysAll(declaredElements(value), live.elements ?? [])))
    )
      secrets.delete(name);
  }
  const fields = { ...known, ...renewed };
  const isRenewed = binding !== before || Object.keys(renewed).length > 0;
  const isKnown =
    before?.id === id &&
    before.imported !== true &&
    (!isRenewed || sameJson(before.fields, fields));
  if (isKnown && secrets.size === (before.secrets?.length ?? 0)) return [];
  return [{ type: "bound", address: resource.address, id, fields, ...withSecrets([...secrets]) }];
}

/**
 * Whether a field counts as written. A prompt or null that the service does not show is assumed to
 * be as declared (see `compareRecord`).
 */
function isSettled(compared: Comparison["kind"], record: FieldRecord | undefined): boolean {
  return compared === "same" || (compared === "hidden" && record === undefined);
}

/** Compares a field; of a test case whose values were dropped, the result is known. */
function comparedKind(
  field: Field,
  value: Value,
  live: LiveResource,
  memory: Memory,
): Comparison["kind"] {
  if (live.hidden === undefined) return compareField(field, value, live, memory).kind;
  if (isUnknown(value)) return "unknown";
  return live.hidden.includes(field.name) ? "hidden" : "same";
}

/** Whether a discovery that tasc started may still replace the elements. */
function isUnderWay(live: LiveResource, binding: Binding | undefined): boolean {
  return binding?.generating !== undefined && rememberedGeneration(live, binding).kind === "open";
}

/** Returns the event that a discovery has ended, or that the last one left no steps. */
function generatedEvents(
  address: Address,
  live: LiveResource,
  binding: Binding | undefined,
): readonly StateEvent[] {
  const found = rememberedGeneration(live, binding);
  if (found.kind === "open") return [];
  const { generating, failed } = binding ?? {};
  const now = found.kind === "failed" ? discoveryMark(live.discovery) : undefined;
  // A failure that tasc did not cause counts only if it leaves nothing to run.
  const isOwn = generating !== undefined || failed !== undefined || hasSteps(live) === false;
  if (!isOwn || (generating === undefined && failed === now)) return [];
  return [{ type: "generated", address, ...defined({ failed: now }) }];
}

/**
 * Whether any field is as declared but differs from the last apply: it was changed on the service,
 * then pulled.
 */
export function isPulled(resource: DesiredResource, live: LiveResource, memory: Memory): boolean {
  const { id, binding, fingerprints } = memory;
  return fieldsOf(resource.kind).some((field) => {
    const [record, value] = [binding?.fields[field.name], resource.fields[field.name]];
    if (record === undefined || value === undefined || fingerprints === undefined) return false;
    const isSame = compareField(field, value, live, memory).kind === "same";
    return isSame && !sameJson(record, recordField(fingerprints, id, field, value));
  });
}

/**
 * Returns an event that records the selectors made from locator lines and drops elements that no
 * longer exist.
 */
function locatorEvents(
  address: Address,
  { elements }: LiveResource,
  memory: Memory,
  fingerprints: Fingerprinter,
): readonly StateEvent[] {
  const records = memory.binding?.locators;
  if (elements === undefined || records === undefined) return [];
  const ids = elements.flatMap(({ id }) => id ?? []);
  const read = elements.flatMap((element): readonly (readonly [string, LocatorRecord])[] => {
    const record = records[element.id ?? ""];
    if (element.id === undefined || record?.selectors !== NOT_READ_YET) return [];
    return [[element.id, { ...record, selectors: selectorsDigest(fingerprints, element) }]];
  });
  const isComplete = Object.keys(records).every((id) => ids.includes(id));
  if (isComplete && read.length === 0) return [];
  return [{ type: "located", address, locators: Object.fromEntries(read), elements: ids }];
}

/**
 * Returns events that hold batch generations of an adopted target, even out of scope, until the
 * user says if they ran.
 */
function batchEvents(matched: MatchedTarget, fingerprints: Fingerprinter): readonly StateEvent[] {
  const { target, state } = matched;
  const adopting = state === undefined || state.bindings.size === 0;
  const rekeyed = !keyHolds(state, fingerprints);
  return target.batchGenerations.flatMap((resource): readonly StateEvent[] => {
    const { address } = resource;
    if (Object.values(resource.fields).some(isUnknown)) return [];
    const record = state?.batchGenerations.get(address);
    // By key while what it refers to is missing: it will have another id.
    const content = batchContent(fingerprints, resource, liveIds(matched));
    if (record === undefined)
      return adopting ? [{ type: "batch", address, record: { status: "held", content } }] : [];
    const unread = record.content === undefined && record.status === "done";
    // Recorded by an earlier version, before the ids in it were known, or with ids that are gone.
    const isOlder =
      record.content !== content && ranWith(record, fingerprints, resource, idsIn(state));
    return rekeyed || unread || isOlder
      ? [{ type: "batch", address, record: { ...record, content } }]
      : [];
  });
}
