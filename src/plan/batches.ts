import { type Address, addressOf, targetOf } from "../model/address.ts";
import { type DesiredResource, sendable } from "../model/desired.ts";
import { fieldsOf } from "../model/fields.ts";
import type { Json } from "../model/json.ts";
import type { BatchRecord, Fingerprint, State } from "../model/state.ts";
import { reveal } from "../model/value.ts";
import type { MatchedTarget } from "./matched-target.ts";
import type { Fingerprinter } from "./input.ts";

/** Returns the id of a resource of the same target, if it is known. */
type IdOfAddress = (address: Address) => string | undefined;

export function idsIn(state: Pick<State, "bindings"> | undefined): IdOfAddress {
  return (address) => state?.bindings.get(address)?.id;
}

/** Returns the ids of the resources of a target that exist now. */
export function liveIds({ matches }: Pick<MatchedTarget, "matches">): IdOfAddress {
  return (address) => matches.get(address)?.live?.id;
}

/**
 * Returns the digest of what a batch generation sends: a reference counts by the id of its resource,
 * so that a new name of the resource, or of the batch generation, changes nothing.
 */
export function batchContent(
  fingerprints: Fingerprinter,
  resource: DesiredResource,
  idOf: IdOfAddress,
): Fingerprint {
  let isKnown = true;
  const content = fieldsOf(resource.kind).flatMap((field) => {
    const value = sendable(resource, field.name);
    if (value === undefined) return [];
    const plain = reveal(value);
    if (field.shape.type !== "reference" || typeof plain !== "string")
      return [{ name: field.name, sent: plain, declared: plain }];
    const id = idOf(addressOf(field.shape.to, targetOf(resource.address), plain));
    isKnown &&= id !== undefined;
    return [{ name: field.name, sent: { id: id ?? "" }, declared: plain }];
  });
  // Without all ids it is the digest of the keys, which `ranWith` accepts as well.
  const entries = content.map(({ name, sent, declared }): [string, Json] => [
    name,
    isKnown ? sent : declared,
  ]);
  return fingerprints.of("batchGeneration", Object.fromEntries(entries));
}

/**
 * Whether the content of a record is what the batch generation would send now.
 * @param known ids to try: a resource that was deleted and made again has another one than its
 * record, which is no reason to run a second time
 */
export function ranWith(
  { content }: Pick<BatchRecord, "content">,
  fingerprints: Fingerprinter,
  resource: DesiredResource,
  ...known: readonly IdOfAddress[]
): boolean {
  return [...known, () => undefined].some(
    (idOf) => content === batchContent(fingerprints, resource, idOf),
  );
}
