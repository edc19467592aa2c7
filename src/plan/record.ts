import type { Address } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import { type Field, fieldsOf } from "../model/fields.ts";
import { sameJson } from "../model/json.ts";
import type { LiveDiscovery, LiveResource } from "../model/live.ts";
import type { Binding, FieldRecord, LocatorRecord, StateEvent } from "../model/state.ts";
import { type Value, isSensitive, isUnknown } from "../model/value.ts";
import { type MatchedTarget, compareField } from "./compare.ts";
import { NOT_READ_YET, declaredElements, saysAll, selectorsDigest } from "./elements.ts";
import type { Fingerprinter } from "./input.ts";
import { type Memory, keyHolds, memoryOf, recordField, withSecrets } from "./memory.ts";
import { undeclaredBindings } from "./orphans.ts";
import { batchContent } from "./resources.ts";

/**
 * What state is to remember of a target once it has been looked at: which id each address has, and that the fields
 * which are as declared were so. It is how adopted resources come under management, and how a later plan can tell who
 * changed a field. Nothing here follows from a call; records of calls are made where the call is answered.
 *
 * @param isAnew whether the record of a field that has one is made again; trusted is one that this run has made
 */
export function refreshEvents(
  matched: MatchedTarget,
  fingerprints: Fingerprinter,
  inScope: (address: Address) => boolean,
  isAnew: IsAnew = () => true,
): readonly StateEvent[] {
  const { state, live } = matched;
  // The key comes first, and also before anything is made: what is recorded from here on is made with it.
  const keyed: readonly StateEvent[] =
    state?.keyCheck === fingerprints.keyCheck ? [] : [{ type: "keyed", keyCheck: fingerprints.keyCheck }];
  if (live === undefined) return keyed;
  return [
    ...keyed,
    // Before the bindings: once there are any, what is not recorded as held counts as never run.
    ...batchEvents(matched, fingerprints),
    // With another key all records of the target are of no more use, so all are made again at once.
    ...bindingEvents(matched, fingerprints, keyHolds(state, fingerprints) ? inScope : () => true, isAnew),
    ...undeclaredBindings(matched).gone.map((address) => ({ type: "unbound" as const, address })),
  ];
}

type IsAnew = (address: Address, field: string) => boolean;

/** The target is bound whatever the scope: nothing in it could be looked up again without its id. */
function bindingEvents(
  matched: MatchedTarget,
  fingerprints: Fingerprinter,
  inScope: (address: Address) => boolean,
  isAnew: IsAnew,
): readonly StateEvent[] {
  return [...matched.resources.values()].flatMap((resource) => {
    const { address, kind } = resource;
    const live = matched.matches.get(address)?.live;
    if (live === undefined || !(kind === "target" || inScope(address))) return [];
    const memory = memoryOf(address, live.id, matched.state, fingerprints, matched.secrets);
    return [
      ...settled(resource, live, memory, matched.state?.bindings.get(address), isAnew),
      ...generatedEvents(address, live, memory),
      ...locatorEvents(address, live, memory, fingerprints),
    ];
  });
}

function settled(
  resource: DesiredResource,
  live: LiveResource,
  memory: Memory,
  before: Binding | undefined,
  isAnew: IsAnew,
): readonly StateEvent[] {
  const { id, binding, fingerprints } = memory;
  if (fingerprints === undefined) return [];
  const records: Record<string, FieldRecord> = { ...binding?.fields };
  const secrets = new Set(binding === undefined ? memory.secrets : binding.secrets);
  for (const field of fieldsOf(resource.kind)) {
    const { name } = field;
    const value = resource.fields[name];
    if (value === undefined || field.update === undefined) continue;
    const known = records[name] !== undefined;
    if (known && !isAnew(resource.address, name)) continue;
    const { kind } = compareField(field, value, live, memory);
    // A prompt that the service does not show is taken as it is.
    if (kind !== "same" && !(kind === "hidden" && field.generates && !known)) continue;
    records[name] = recordField(fingerprints, id, field, value);
    if (isSensitive(value)) secrets.add(name);
    else if (secrets.has(name) && !keepsParts(field, value, live)) secrets.delete(name);
  }
  const isKnown = before?.id === id && sameJson(before.fields, records);
  if (isKnown && secrets.size === (before.secrets?.length ?? 0)) return [];
  return [{ type: "bound", address: resource.address, id, fields: records, ...withSecrets([...secrets]) }];
}

/** Whether a field that is as declared has parts that are not, and so may be of before. */
function keepsParts({ compare }: Field, value: Value, { elements = [] }: LiveResource): boolean {
  return compare === "elements" && !saysAll(declaredElements(value), elements);
}

/**
 * The selectors that the service has made of the locator lines which were written to it, as its list shows them; and
 * nothing is kept of elements that are no more.
 */
function locatorEvents(
  address: Address,
  { elements }: LiveResource,
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
  return [{ type: "located", address, locators, elements: ids }];
}

/** What tells one discovery of a test case from the next, where the service shows anything of it. */
export function discoveryMark(discovery: LiveDiscovery | undefined): string {
  return discovery?.updatedAt === undefined ? "" : `${discovery.updatedAt} ${discovery.status ?? ""}`;
}

/**
 * Whether a discovery is over that was started when the service showed the given mark. The text lists CREATED alone; a
 * cause or a message of an abort, or a word for an end, says that it is over. The end of an earlier generation is shown
 * until the new one begins.
 */
export function hasEnded(discovery: LiveDiscovery | undefined, before: string): boolean {
  if (discovery === undefined || (before !== "" && discoveryMark(discovery) === before)) return false;
  if ((discovery.abortCause ?? "") !== "") return true;
  return /finish|complete|success|succeed|done|fail|abort|cancel|error/i.test(discovery.status ?? "");
}

/** Discoveries that an earlier run started, and that are over by now. */
function generatedEvents(
  address: Address,
  { discovery }: LiveResource,
  { binding }: Memory,
): readonly StateEvent[] {
  const before = binding?.generating;
  return before !== undefined && hasEnded(discovery, before) ? [{ type: "generated", address }] : [];
}

/**
 * A batch generation of an adopted target is held until the user says whether it ran; also one out of scope, since by
 * the next run nobody will know that the target was adopted.
 */
function batchEvents({ target, state }: MatchedTarget, fingerprints: Fingerprinter): readonly StateEvent[] {
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
