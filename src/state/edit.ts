import {
  type Address,
  addressOf,
  compareAddresses,
  parseAddress,
  targetAddress,
} from "../model/address.ts";
import { invalid, failed } from "../model/error.ts";
import { type State, type StateEvent, emptyState } from "../model/state.ts";
import { formatDocument } from "./document.ts";
import { applyEvents } from "./events.ts";

/*
 * Manual edits of a state. A function throws TascError if an edit is not allowed: `invalid` if the address is unknown,
 * `failed` if the edit would damage what is recorded.
 */

/** Whether state has a binding, a batch record or an intent of the address. */
export function knows(state: State, address: Address): boolean {
  return (
    state.bindings.has(address) || state.batchGenerations.has(address) || state.intents.has(address)
  );
}

export function knownAddresses(state: State): readonly Address[] {
  return recordedAddresses(state).toSorted(compareAddresses);
}

/** Returns the same addresses in any order, which takes less time. */
export function recordedAddresses(state: State): readonly Address[] {
  const { bindings, batchGenerations, intents } = state;
  return [...new Set([...bindings.keys(), ...batchGenerations.keys(), ...intents.keys()])];
}

function isBlank(state: State): boolean {
  return knownAddresses(state).length === 0;
}

/**
 * Removes everything recorded of an address, open intents too; for a target, everything in it,
 * since its id is gone.
 */
export function forgetAddress(state: State, address: Address): State {
  const isTarget = address === targetAddress(state.target);
  if (isTarget ? isBlank(state) : !knows(state, address)) throw unknown(address, "remove");
  if (isTarget) return emptyState(state.stage, state.target, state.service);
  return applyEvents(state, [
    { type: "unbound", address },
    { type: "settled", address },
  ]);
}

function unknown(address: Address, verb: "move" | "remove") {
  return invalid(
    "state-unknown-address",
    `State does not contain ${address}`,
    `There is nothing to ${verb}. List the contents of state:\n  tasc state list`,
  );
}

export function moveAddress(state: State, from: Address, to: Address): State {
  if (!knows(state, from)) throw unknown(from, "move");
  if (knows(state, to)) throw occupied(to);
  return applyEvents(state, [{ type: "moved", from, to }]);
}

/**
 * Moves a whole document to another target's key. Fingerprints are made from ids, so they stay
 * valid. An existing document with the same content is taken for an earlier attempt that was
 * interrupted.
 */
export function moveTarget(state: State, to: string, there: State | undefined): State {
  const from = targetAddress(state.target);
  if (isBlank(state)) throw unknown(from, "move");
  const moves = knownAddresses(state).map((address): StateEvent => {
    const parts = parseAddress(address);
    if (parts === undefined) throw new TypeError(`not an address: ${address}`);
    const inTarget =
      parts.kind === "target" ? targetAddress(to) : addressOf(parts.kind, to, parts.key);
    return { type: "moved", from: address, to: inTarget };
  });
  const moved = { ...applyEvents(state, moves), target: to };
  if (there !== undefined && !isBlank(there) && formatDocument(there) !== formatDocument(moved))
    throw occupied(targetAddress(to));
  return moved;
}

function occupied(address: Address) {
  return failed(
    "state-address-taken",
    `${address} is taken`,
    `State already contains it, and the move would overwrite it. To remove the existing entry:\n  tasc state rm ${address}`,
  );
}

/**
 * Binds an address. No fields are recorded, so write-only ones are sent once more; an existing
 * binding is removed with its records. The first binding of a target creates its state. Batch
 * generations without a record would then count as never run, so they are held. @param held the
 * events that record this
 */
export function bindAddress(
  state: State,
  address: Address,
  id: string,
  held: readonly StateEvent[],
): State {
  const holder = [...state.bindings].find(
    ([other, binding]) => other !== address && binding.id === id,
  );
  if (holder !== undefined) throw idTaken(id, holder[0]);
  return applyEvents(state, [
    ...(state.bindings.size === 0 ? held : []),
    ...(state.bindings.get(address)?.id === id ? [{ type: "unbound", address } as const] : []),
    { type: "bound", address, id, fields: {}, imported: true },
  ]);
}

export function idTaken(id: string, address: Address) {
  return failed(
    "state-id-taken",
    `${id} is bound to ${address}`,
    `One live resource cannot have two addresses. Remove the other binding first:\n  tasc state rm ${address}`,
  );
}
