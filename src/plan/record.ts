import type { Address } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import { type Field, fieldsOf } from "../model/fields.ts";
import { sameJson } from "../model/json.ts";
import type { LiveDiscovery, LiveResource } from "../model/live.ts";
import type { Binding, FieldRecord, LocatorRecord, StateEvent } from "../model/state.ts";
import { isSensitive, isUnknown } from "../model/value.ts";
import { type MatchedTarget, compareField } from "./compare.ts";
import { NOT_READ_YET, declaredElements, saysAll, selectorsDigest } from "./elements.ts";
import type { Fingerprinter } from "./input.ts";
import { type Memory, keyHolds, memoryOf, recordField, withSecrets } from "./memory.ts";
import { undeclaredBindings } from "./orphans.ts";
import { batchContent } from "./resources.ts";

/**
 * What state is to remember of a target once it was read: which id each address has, and that the fields which are as
 * declared were so. Records of calls are made where the call is answered.
 * @param isAnew whether the record of a field that has one is looked at again
 */
export function refreshEvents(
  matched: MatchedTarget,
  fingerprints: Fingerprinter,
  inScope: (address: Address) => boolean,
  isAnew: (address: Address, field: Field) => boolean = () => true,
): readonly StateEvent[] {
  const { state, live } = matched;
  // The key comes first, and also before anything is made: what is recorded from here on is made with it.
  const keyed: readonly StateEvent[] =
    state?.keyCheck === fingerprints.keyCheck ? [] : [{ type: "keyed", keyCheck: fingerprints.keyCheck }];
  if (live === undefined) return keyed;
  // With another key all records of the target are of no more use, so all are made again at once.
  const isRead = keyHolds(state, fingerprints) ? inScope : () => true;
  const read = new Set<string>();
  return [
    ...keyed,
    // Before the bindings: once there are any, what is not recorded as held counts as never run.
    ...batchEvents(matched, fingerprints),
    // The target is bound whatever the scope: nothing in it could be looked up again without its id.
    ...[...matched.resources.values()].flatMap((resource) => {
      const { address, kind } = resource;
      const own = matched.matches.get(address)?.live;
      if (own === undefined || !(kind === "target" || isRead(address))) return [];
      read.add(own.id);
      const memory = memoryOf(address, own.id, { ...matched, fingerprints });
      const before = memory.binding;
      return [
        ...settled(resource, own, memory, fingerprints, state?.bindings.get(address), isAnew),
        // One that an earlier run started, and that is over by now.
        ...(before?.generating !== undefined && !isUnderWay(own, before)
          ? [{ type: "generated" as const, address }]
          : []),
        ...locatorEvents(address, own, memory, fingerprints),
      ];
    }),
    ...undeclaredBindings(matched).gone.flatMap((address) => {
      // What it says of secrets is lost with it, unless another address has taken that over.
      const { id = "", secrets = [] } = state?.bindings.get(address) ?? {};
      return secrets.length > 0 && !read.has(id) ? [] : [{ type: "unbound" as const, address }];
    }),
  ];
}

function settled(
  resource: DesiredResource,
  live: LiveResource,
  memory: Memory,
  fingerprints: Fingerprinter,
  before: Binding | undefined,
  isAnew: (address: Address, field: Field) => boolean,
): readonly StateEvent[] {
  const { id, binding } = memory;
  const records: Record<string, FieldRecord> = { ...binding?.fields };
  const secrets = new Set(memory.secrets);
  for (const field of fieldsOf(resource.kind)) {
    const { name } = field;
    const value = resource.fields[name];
    if (value === undefined || field.update === undefined) continue;
    const known = records[name];
    if (known !== undefined && !secrets.has(name) && !isAnew(resource.address, field)) continue;
    const isOpen = !isSensitive(value) && !secrets.has(name);
    // Whatever the service shows: one that has this record already keeps it.
    if (known !== undefined && isOpen && sameJson(known, recordField(fingerprints, id, field, value)))
      continue;
    const { kind } = compareField(field, value, live, memory);
    // A prompt that the service does not show is taken as it is, and so is a null.
    if (kind !== "same" && !(kind === "hidden" && known === undefined)) continue;
    records[name] = recordField(fingerprints, id, field, value);
    if (isSensitive(value)) secrets.add(name);
    // A field that is as declared may have parts that are not, and so may be of before; one that is not shown may be, too.
    // And the service may be about to make elements of the prompt, in place of what is declared.
    else if (
      secrets.has(name) &&
      kind === "same" &&
      (field.compare !== "elements" ||
        (!isUnderWay(live, before) && saysAll(declaredElements(value), live.elements ?? [])))
    )
      secrets.delete(name);
  }
  const isKnown = before?.id === id && before.imported !== true && sameJson(before.fields, records);
  if (isKnown && secrets.size === (before.secrets?.length ?? 0)) return [];
  return [{ type: "bound", address: resource.address, id, fields: records, ...withSecrets([...secrets]) }];
}

/** Whether a discovery that tasc has started may still replace the elements. */
function isUnderWay({ discovery }: LiveResource, { generating }: Partial<Binding> = {}): boolean {
  return generating !== undefined && !hasEnded(discovery, generating);
}

/** Whether a field is as declared, but otherwise than it was last applied: changed on the service, and pulled since. */
export function isPulled(resource: DesiredResource, live: LiveResource, memory: Memory): boolean {
  const { id, binding, fingerprints } = memory;
  return fieldsOf(resource.kind).some((field) => {
    const [record, value] = [binding?.fields[field.name], resource.fields[field.name]];
    if (record === undefined || value === undefined || fingerprints === undefined) return false;
    const isSame = compareField(field, value, live, memory).kind === "same";
    return isSame && !sameJson(record, recordField(fingerprints, id, field, value));
  });
}

/** The selectors that the service has made of locator lines; nothing is kept of elements that are no more. */
function locatorEvents(
  address: Address,
  { elements }: LiveResource,
  memory: Memory,
  fingerprints: Fingerprinter,
): readonly StateEvent[] {
  const records = memory.binding?.locators ?? {};
  const ids = elements?.flatMap(({ id }) => id ?? []);
  if (elements === undefined || ids === undefined || Object.keys(records).length === 0) return [];
  const read = elements.flatMap((element): readonly (readonly [string, LocatorRecord])[] => {
    const record = records[element.id ?? ""];
    if (element.id === undefined || record?.selectors !== NOT_READ_YET) return [];
    return [[element.id, { ...record, selectors: selectorsDigest(fingerprints, element) }]];
  });
  const isComplete = Object.keys(records).every((id) => ids.includes(id));
  if (isComplete && read.length === 0) return [];
  return [{ type: "located", address, locators: Object.fromEntries(read), elements: ids }];
}

/** What tells one discovery of a test case from the next, where it is shown: state keeps no text that may be any. */
export function discoveryMark(discovery: LiveDiscovery | undefined): string {
  const { updatedAt: at = "" } = discovery ?? {};
  return /^\d{4}-\d\d[-\d:.,TtZz+ ]{3,30}$/.test(at) ? `${at}${hasEnded(discovery, "") ? " ended" : ""}` : "";
}

/** Whether one is over that began at the mark, shown until it does: by a cause of an abort, or a word for an end. */
export function hasEnded(discovery: LiveDiscovery | undefined, before: string): boolean {
  if (discovery === undefined || (before !== "" && discoveryMark(discovery) === before)) return false;
  if ((discovery.abortCause ?? "") !== "") return true;
  return /finish|complete|success|succeed|done|fail|abort|cancel|error/i.test(discovery.status ?? "");
}

/** A batch generation of an adopted target is held until the user says whether it ran; also one out of scope. */
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
