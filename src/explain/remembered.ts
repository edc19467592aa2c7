import type { Field } from "../fields/field.ts";
import type { Address } from "../model/address.ts";
import type { Json } from "../model/json.ts";
import type { State } from "../model/state.ts";
import { isUnknown } from "../model/value.ts";
import type { Value } from "../model/value.ts";
import type { Fingerprinter } from "../plan/inputs.ts";
import { keyHolds, unwrittenParts } from "../plan/memory.ts";
import type { Memory } from "../plan/memory.ts";
import { changedBy } from "../plan/field-diff.ts";

/** Of a batch generation the content as a whole is remembered, and no field by itself. */
export function rememberedBatch(address: Address, state: State | undefined): string {
  const status = state?.batchGenerations.get(address)?.status;
  return status === undefined ? "nothing" : `the content as a whole, ${status}`;
}

/** What state can tell of a field, as a sentence. It holds no values, so it can only tell what is the same. */
export function rememberedOf<L>(
  field: Field<L>,
  value: Value | undefined,
  live: Json | undefined,
  memory: Memory | undefined,
  state: State | undefined,
  fingerprints: Fingerprinter | undefined,
): string {
  if (state === undefined) return "nothing: there is no state of this target";
  if (memory?.binding === undefined) return "nothing: it is not bound yet";
  if (fingerprints !== undefined && !keyHolds(state, fingerprints))
    return "nothing that counts: it was recorded under another key";
  if (memory.binding.fields[field.name] === undefined) return "no record of this field";
  if (fingerprints === undefined) return "a record, and no key here to compare it with";
  if (value === undefined) return "a record, from when it was declared";
  if (isUnknown(value)) return "a record; what is declared is not known, so it cannot be compared";
  if (live !== undefined && field.behaviour.kind === "readable") {
    const by = changedBy(field, value, live, memory);
    if (by === "service") return "what the manifest says was applied; the service has changed since";
    if (by === "both") return "something else was applied; manifest and service have both changed since";
    if (by === "manifest") return "what the service has was applied; the manifest has changed since";
    return "what the manifest says was applied";
  }
  if (field.behaviour.kind === "elements") return "a record of the elements that were last applied";
  const parts = unwrittenParts(field, value, memory);
  if (parts.length === 0) return "what the manifest says was last sent";
  const names = parts.map((part) => part.join(".")).filter((name) => name !== "");
  return names.length === 0
    ? "something else was last sent"
    : `something else was last sent for ${names.join(", ")}`;
}
