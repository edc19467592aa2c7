import { ENVIRONMENT_FIELDS } from "../fields/environment.ts";
import type { Field } from "../fields/field.ts";
import { TARGET_FIELDS } from "../fields/target.ts";
import { TEST_CASE_FIELDS } from "../fields/test-case.ts";
import type { Address } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import { sameJson } from "../model/json.ts";
import type { Json } from "../model/json.ts";
import type { LiveElement } from "../model/live.ts";
import type { FieldRecord, StateEvent } from "../model/state.ts";
import { isUnknown, reveal } from "../model/value.ts";
import type { Value } from "../model/value.ts";
import { batchContent } from "./batch-generation.ts";
import { sameAsLive } from "./compare.ts";
import { declaredElements, sameElements } from "./elements.ts";
import type { Fingerprinter } from "./inputs.ts";
import { keyHolds, memoryOf, recordField, wholeRecord } from "./memory.ts";
import type { Memory } from "./memory.ts";
import type { Seen } from "./seen.ts";

/**
 * What state is to remember of a target once it has been looked at: which id each address has, and that the fields
 * which are as declared were so. It is how adopted resources come under management, and how a later plan can tell who
 * changed a field. Nothing here follows from a call; records of calls are made where the call is answered.
 */
export function settleEvents(
  seen: Seen,
  fingerprints: Fingerprinter,
  inScope: (address: Address) => boolean,
): readonly StateEvent[] {
  const { state, target, live } = seen;
  if (live === undefined) return [];
  const memory = (address: Address, id: string): Memory => memoryOf(address, id, state, fingerprints);
  const events: StateEvent[] = [];
  const settle = <L>(fields: readonly Field<L>[], resource: DesiredResource, id: string, shown: L): void => {
    if (!inScope(resource.address)) return;
    const event = settled(fields, resource, shown, memory(resource.address, id), seen);
    if (event !== undefined) events.push(event);
  };

  if (state?.keyCheck !== fingerprints.keyCheck)
    events.push({ type: "keyed", keyCheck: fingerprints.keyCheck });
  settle(TARGET_FIELDS, target, live.id, live);
  for (const resource of target.environments) {
    const match = seen.environmentMatches.get(resource.address);
    if (match?.found === true) settle(ENVIRONMENT_FIELDS, resource, match.id, match.live);
  }
  for (const resource of target.testCases) {
    const match = seen.testCaseMatches.get(resource.address);
    if (match?.found === true) settle(TEST_CASE_FIELDS, resource, match.id, match.live);
  }
  return [...events, ...goneEvents(seen), ...batchEvents(seen, fingerprints, inScope)];
}

function settled<L>(
  fields: readonly Field<L>[],
  resource: DesiredResource,
  live: L,
  memory: Memory,
  seen: Seen,
): StateEvent | undefined {
  const records: Record<string, FieldRecord> = { ...memory.binding?.fields };
  for (const field of fields) {
    const value = resource.fields[field.name];
    if (value === undefined || isUnknown(value)) continue;
    const record = recordOnSight(field, value, live, memory);
    if (record !== undefined) records[field.name] = record;
  }
  const before = seen.state?.bindings.get(resource.address);
  if (before?.id === memory.id && sameJson(before.fields, records)) return undefined;
  return { type: "bound", address: resource.address, id: memory.id, fields: records };
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

function shownElements(declared: ReturnType<typeof declaredElements>): Json {
  return declared.map(({ locatorLine: _, ...shown }) => reveal(shown));
}

/** Bindings of what is neither declared nor listed any more have nothing left to say. */
function goneEvents({
  state,
  target,
  live,
  testCases,
  testCaseMatches,
  environmentMatches,
}: Seen): readonly StateEvent[] {
  const declared = new Set<Address>([
    target.address,
    ...environmentMatches.keys(),
    ...testCaseMatches.keys(),
  ]);
  for (const resource of [...target.environments, ...target.testCases]) declared.add(resource.address);
  const listed = new Set([...testCases, ...(live?.environments ?? [])].map((resource) => resource.id));
  const events: StateEvent[] = [];
  for (const [address, { id }] of state?.bindings ?? [])
    if (!declared.has(address) && !listed.has(id)) events.push({ type: "unbound", address });
  return events;
}

/** A batch generation of an adopted target is held until the user says whether it ran. */
function batchEvents(
  { target, state }: Seen,
  fingerprints: Fingerprinter,
  inScope: (address: Address) => boolean,
): readonly StateEvent[] {
  const adopting = state === undefined || state.bindings.size === 0;
  const rekeyed = !keyHolds(state, fingerprints);
  return target.batchGenerations.flatMap((resource): readonly StateEvent[] => {
    if (!inScope(resource.address) || Object.values(resource.fields).some(isUnknown)) return [];
    const record = state?.batchGenerations.get(resource.address);
    const content = batchContent(fingerprints, resource);
    if (record === undefined)
      return adopting
        ? [{ type: "batch", address: resource.address, record: { status: "held", content } }]
        : [];
    const unread = record.content === undefined && record.status === "done";
    return rekeyed || unread
      ? [{ type: "batch", address: resource.address, record: { ...record, content } }]
      : [];
  });
}
