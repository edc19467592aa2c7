import type { Address } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import { ENVIRONMENT_FIELDS, type Field, TARGET_FIELDS, TEST_CASE_FIELDS } from "../model/fields.ts";
import { sameJson } from "../model/json.ts";
import type { LiveElement, LiveTarget, LiveTestCase } from "../model/live.ts";
import type { FieldRecord, LocatorRecord, StateEvent } from "../model/state.ts";
import { type Value, isSensitive, isUnknown, reveal } from "../model/value.ts";
import type { Seen } from "./compare.ts";
import { NOT_READ_YET, declaredElements, sameElements, selectorsDigest, shownElements } from "./elements.ts";
import { type Fingerprinter, sameAsLive } from "./input.ts";
import { type Memory, keyHolds, memoryOf, recordField, secretFields, wholeRecord } from "./memory.ts";
import { listedIds, managedIds } from "./orphans.ts";
import { batchContent } from "./resources.ts";

/**
 * What state is to remember of a target once it has been looked at: which id each address has, and that the fields
 * which are as declared were so. It is how adopted resources come under management, and how a later plan can tell who
 * changed a field. Nothing here follows from a call; records of calls are made where the call is answered.
 *
 * @param isAnew whether the record of a field that has one is made anew; trusted is one that this run has made
 */
export function settleEvents(
  seen: Seen,
  fingerprints: Fingerprinter,
  inScope: (address: Address) => boolean,
  isAnew: IsAnew = () => true,
): readonly StateEvent[] {
  const { state, live } = seen;
  // The key comes first, and also before anything is made: what is recorded from here on is made with it.
  const keyed: readonly StateEvent[] =
    state?.keyCheck === fingerprints.keyCheck ? [] : [{ type: "keyed", keyCheck: fingerprints.keyCheck }];
  if (live === undefined) return keyed;
  return [
    ...keyed,
    // Before the bindings: once there are any, what is not recorded as held counts as never run.
    ...batchEvents(seen, fingerprints),
    // With another key all records of the target are of no more use, so all are made anew at once.
    ...bindingEvents(seen, fingerprints, live, keyHolds(state, fingerprints) ? inScope : () => true, isAnew),
    ...goneEvents(seen),
  ];
}

type IsAnew = (address: Address, field: string) => boolean;

/** The target is bound whatever the scope: nothing in it could be looked up again without its id. */
function bindingEvents(
  seen: Seen,
  fingerprints: Fingerprinter,
  live: LiveTarget,
  inScope: (address: Address) => boolean,
  isAnew: IsAnew,
): readonly StateEvent[] {
  const { target, state, environmentMatches, testCaseMatches } = seen;
  const memory = (address: Address, id: string): Memory => memoryOf(address, id, state, fingerprints);
  const settle = <L>(fields: readonly Field<L>[], resource: DesiredResource, id: string, shown: L) =>
    settled(fields, resource, shown, memory(resource.address, id), seen, isAnew);
  return [
    ...settle(TARGET_FIELDS, target, live.id, live),
    ...target.environments
      .filter(({ address }) => inScope(address))
      .flatMap((resource) => {
        const match = environmentMatches.get(resource.address);
        return match?.found === true ? settle(ENVIRONMENT_FIELDS, resource, match.id, match.live) : [];
      }),
    ...target.testCases
      .filter(({ address }) => inScope(address))
      .flatMap((resource) => {
        const match = testCaseMatches.get(resource.address);
        if (match?.found !== true) return [];
        return [
          ...settle(TEST_CASE_FIELDS, resource, match.id, match.live),
          ...locatorEvents(resource, match.live, memory(resource.address, match.id), fingerprints),
        ];
      }),
  ];
}

function settled<L>(
  fields: readonly Field<L>[],
  resource: DesiredResource,
  live: L,
  memory: Memory,
  seen: Seen,
  isAnew: IsAnew,
): readonly StateEvent[] {
  const records: Record<string, FieldRecord> = { ...memory.binding?.fields };
  for (const field of fields) {
    const value = resource.fields[field.name];
    if (value === undefined || isUnknown(value)) continue;
    if (records[field.name] !== undefined && !isAnew(resource.address, field.name)) continue;
    const record = recordOnSight(field, value, live, memory);
    if (record !== undefined) records[field.name] = record;
  }
  const before = seen.state?.bindings.get(resource.address);
  if (before?.id === memory.id && sameJson(before.fields, records)) return [];
  const { address } = resource;
  return [{ type: "bound", address, id: memory.id, fields: records, ...secretFields(resource, records) }];
}

/** The record of a field that is seen to be as declared, or of a prompt that is taken as it is. */
function recordOnSight<L>(field: Field<L>, value: Value, live: L, memory: Memory): FieldRecord | undefined {
  const { fingerprints } = memory;
  if (fingerprints === undefined) return undefined;
  const record = (): FieldRecord => recordField(fingerprints, memory.id, field, value);
  const { behaviour } = field;
  if (behaviour.kind === "indirect")
    return folderIsLive(value, behaviour.readId(live), memory) ? record() : undefined;
  if (behaviour.kind === "elements") return elementsRecord(field, value, behaviour.read(live), memory);
  if (behaviour.kind !== "readable") return undefined;
  const shown = behaviour.read(live);
  if (shown !== undefined) return sameAsLive(behaviour.compare, value, shown) ? record() : undefined;
  const unrecordedPrompt = field.generates === true && memory.binding?.fields[field.name] === undefined;
  return unrecordedPrompt ? record() : undefined;
}

function folderIsLive(value: Value, liveId: string | null, { folders }: Memory): boolean {
  if (isSensitive(value)) return false;
  const name = reveal(value);
  return typeof name === "string" ? folders.get(name) === liveId && liveId !== null : liveId === null;
}

/** Locator lines have records of their own; this one is of what the service shows. */
function elementsRecord<L>(
  field: Field<L>,
  value: Value,
  live: readonly LiveElement[],
  memory: Memory,
): FieldRecord | undefined {
  const declared = declaredElements(value);
  if (memory.fingerprints === undefined || !sameElements(declared, live)) return undefined;
  return wholeRecord(memory.fingerprints, memory.id, field, shownElements(declared));
}

/**
 * The selectors that the service has made of the locator lines which were written to it, as its list shows them; and
 * nothing is kept of elements that are no more.
 */
function locatorEvents(
  resource: DesiredResource,
  { elements }: LiveTestCase,
  memory: Memory,
  fingerprints: Fingerprinter,
): readonly StateEvent[] {
  const records = memory.binding?.locators ?? {};
  const ids = elements?.flatMap(({ id }) => id ?? []);
  if (ids === undefined || Object.keys(records).length === 0) return [];
  const locators: Record<string, LocatorRecord> = {};
  for (const element of elements ?? []) {
    const record = records[element.id ?? ""];
    if (element.id !== undefined && record?.selectors === NOT_READ_YET)
      locators[element.id] = { ...record, selectors: selectorsDigest(fingerprints, element) };
  }
  const gone = Object.keys(records).some((id) => !ids.includes(id));
  if (!gone && Object.keys(locators).length === 0) return [];
  return [{ type: "located", address: resource.address, locators, elements: ids }];
}

/** Bindings of what no manifest declares have nothing left to say once it is gone, or means another address. */
function goneEvents(seen: Seen): readonly StateEvent[] {
  const listed = listedIds(seen);
  const managed = managedIds(seen);
  const events: StateEvent[] = [];
  for (const [address, { id }] of seen.state?.bindings ?? [])
    if (!seen.resources.has(address) && (!listed.has(id) || managed.has(id)))
      events.push({ type: "unbound", address });
  return events;
}

/**
 * A batch generation of an adopted target is held until the user says whether it ran; also one out of scope, since by
 * the next run nobody will know that the target was adopted.
 */
function batchEvents({ target, state }: Seen, fingerprints: Fingerprinter): readonly StateEvent[] {
  const adopting = state === undefined || state.bindings.size === 0;
  const rekeyed = !keyHolds(state, fingerprints);
  return target.batchGenerations.flatMap((resource): readonly StateEvent[] => {
    const { address } = resource;
    if (Object.values(resource.fields).some(isUnknown)) return [];
    const record = state?.batchGenerations.get(address);
    const content = batchContent(fingerprints, resource);
    if (record === undefined)
      return adopting ? [{ type: "batch", address, record: { status: "held", content } }] : [];
    const unread = record.content === undefined && record.status === "done";
    return rekeyed || unread ? [{ type: "batch", address, record: { ...record, content } }] : [];
  });
}
