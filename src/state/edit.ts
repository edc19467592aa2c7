import { type Address, addressOf, compareAddresses, parseAddress, targetAddress } from "../model/address.ts";
import { invalid, failed } from "../model/error.ts";
import { type State, type StateEvent, emptyState } from "../model/state.ts";
import { formatDocument } from "./document.ts";
import { applyEvents } from "./events.ts";

/*
 * Edits by hand. Each throws TascError where it must not be: `invalid` if what was asked for means nothing here, `failed`
 * if it would do harm to what is remembered.
 */

/** Whether it remembers an id, a run, or a creation under way. */
export function knows(state: State, address: Address): boolean {
  return state.bindings.has(address) || state.batchGenerations.has(address) || state.intents.has(address);
}

export function knownAddresses(state: State): readonly Address[] {
  const all = [...state.bindings.keys(), ...state.batchGenerations.keys(), ...state.intents.keys()];
  return [...new Set(all)].toSorted(compareAddresses);
}

function isBlank(state: State): boolean {
  return knownAddresses(state).length === 0;
}

/**
 * Forgets all that is known of an address, also a creation whose outcome nobody has looked up yet; of a target, all that
 * is in it: without the target's id, nothing in it could be looked up again.
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
 * The whole document under another target's key; fingerprints are made from ids, so they hold on. A document that is
 * there already is taken for an earlier try that was cut off half-way, if it says the same.
 */
export function moveTarget(state: State, to: string, there: State | undefined): State {
  const from = targetAddress(state.target);
  if (isBlank(state)) throw unknown(from, "move");
  const moves = knownAddresses(state).map((address): StateEvent => {
    const parts = parseAddress(address);
    if (parts === undefined) throw new TypeError(`not an address: ${address}`);
    const inTarget = parts.kind === "target" ? targetAddress(to) : addressOf(parts.kind, to, parts.key);
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
 * Nothing is recorded of the resource's fields, so write-only ones are sent once more; a binding that was there before
 * goes with its records. The first binding of a target makes state of it: batch generations without a record would then
 * count as never run, so they are held. @param held the events that record that
 */
export function bindAddress(state: State, address: Address, id: string, held: readonly StateEvent[]): State {
  const holder = [...state.bindings].find(([other, binding]) => other !== address && binding.id === id);
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
