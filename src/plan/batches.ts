import { type Address, addressOf, targetOf } from "../model/address.ts";
import { type DesiredResource, sendable } from "../model/desired.ts";
import { type Field, fieldsOf } from "../model/fields.ts";
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

/** Returns the ids of a target in a plan: a live one counts before a recorded one. */
export function idsOf({ matches, state }: Pick<MatchedTarget, "matches" | "state">): IdOfAddress {
  return (address) => matches.get(address)?.live?.id ?? state?.bindings.get(address)?.id;
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
    const referred = referredBy(resource, field);
    if (referred === undefined) return [{ name: field.name, sent: plain, declared: plain }];
    const id = idOf(referred);
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

/** Returns the addresses of the same target that a resource refers to. */
export function referencesOf(resource: DesiredResource): readonly Address[] {
  return fieldsOf(resource.kind).flatMap((field) => referredBy(resource, field) ?? []);
}

function referredBy(resource: DesiredResource, { name, shape }: Field): Address | undefined {
  const value = sendable(resource, name);
  if (shape.type !== "reference" || value === undefined) return undefined;
  const key = reveal(value);
  return typeof key === "string" ? addressOf(shape.to, targetOf(resource.address), key) : undefined;
}

/** Whether the content of a record is what the batch generation would send now. */
export function ranWith(
  { content }: Pick<BatchRecord, "content">,
  fingerprints: Fingerprinter,
  resource: DesiredResource,
  idOf: IdOfAddress,
): boolean {
  return (
    content === batchContent(fingerprints, resource, idOf) ||
    content === batchContent(fingerprints, resource, () => undefined)
  );
}
