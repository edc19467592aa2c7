import type { Address } from "../model/address.ts";
import type { DesiredTarget } from "../model/desired.ts";
import type { State, StateEvent } from "../model/state.ts";
import { isUnknown } from "../model/value.ts";
import { batchContent } from "../plan/batch-generation.ts";
import type { Fingerprinter } from "../plan/inputs.ts";
import { applyEvents } from "../state/reduce.ts";
import { corrected, refusedByState } from "./correction.ts";
import type { Correction } from "./correction.ts";

export interface Binder {
  /** What the manifests declare of the target, where they do. */
  readonly target: DesiredTarget | undefined;
  readonly fingerprints: Fingerprinter | undefined;
}

/**
 * Binds an address to a live resource. Nothing is recorded of its fields, so write-only ones are sent once more; a
 * binding that was there before goes with its records, or those would speak of another resource.
 *
 * The first binding of a target makes state of it. Batch generations without a record would then count as never run,
 * so they are held: nobody knows whether they ran before.
 */
export function bindAddress(state: State, address: Address, id: string, binder: Binder): Correction {
  const holder = [...state.bindings].find(([other, binding]) => other !== address && binding.id === id);
  if (holder !== undefined) return taken(id, holder[0]);
  return corrected(
    applyEvents(state, [
      ...(state.bindings.size === 0 ? heldBatches(state, binder) : []),
      { type: "unbound", address },
      { type: "bound", address, id, fields: {} },
    ]),
  );
}

/** One live resource cannot answer to two addresses. */
export function taken(id: string, address: Address): Correction {
  return refusedByState(
    `${id} is bound to ${address}`,
    `One live resource cannot answer to two addresses. Free it first:\n  tasc state rm ${address}`,
  );
}

function heldBatches(state: State, { target, fingerprints }: Binder): readonly StateEvent[] {
  const unrecorded = (target?.batchGenerations ?? []).filter(
    ({ address }) => !state.batchGenerations.has(address),
  );
  return unrecorded.map((resource) => {
    const known = fingerprints !== undefined && !Object.values(resource.fields).some(isUnknown);
    const content = known ? { content: batchContent(fingerprints, resource) } : {};
    return { type: "batch", address: resource.address, record: { status: "held", ...content } };
  });
}
