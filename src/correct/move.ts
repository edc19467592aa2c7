import { addressOf, parseAddress, targetAddress } from "../model/address.ts";
import type { Address } from "../model/address.ts";
import type { State } from "../model/state.ts";
import { formatDocument } from "../state/document.ts";
import { applyEvent } from "../state/reduce.ts";
import { corrected, refusedArgument, refusedByState } from "./correction.ts";
import type { Correction } from "./correction.ts";
import { isBlank, knows } from "./knows.ts";

/** Carries what is known of an address over to another one of the same target. */
export function moveAddress(state: State, from: Address, to: Address): Correction {
  if (!knows(state, from)) return unknown(from);
  if (knows(state, to)) return occupied(to);
  return corrected(applyEvent(state, { type: "moved", from, to }));
}

/**
 * The whole document under another target's key. Fingerprints are made from ids and not from addresses, so they hold
 * on. A document that is there already is taken for an earlier try that was cut off half-way, if it says the same.
 *
 * @param there the document of the new key, if there is one
 */
export function moveTarget(state: State, to: string, there: State | undefined): Correction {
  const from = targetAddress(state.target);
  if (isBlank(state)) return unknown(from);
  const moved = underKey(state, to);
  if (there !== undefined && !isBlank(there) && formatDocument(there) !== formatDocument(moved))
    return occupied(targetAddress(to));
  return corrected(moved);
}

function underKey(state: State, target: string): State {
  const rename = <V>(map: ReadonlyMap<Address, V>): ReadonlyMap<Address, V> =>
    new Map([...map].map(([address, value]) => [inTarget(address, target), value]));
  return {
    ...state,
    target,
    bindings: rename(state.bindings),
    batchGenerations: rename(state.batchGenerations),
    intents: rename(state.intents),
  };
}

function inTarget(address: Address, target: string): Address {
  const parts = parseAddress(address);
  if (parts === undefined) throw new TypeError(`not an address: ${address}`);
  return parts.kind === "target" ? targetAddress(target) : addressOf(parts.kind, target, parts.key);
}

function unknown(address: Address): Correction {
  return refusedArgument(
    `State knows nothing of ${address}`,
    "There is nothing to move. What is known:\n  tasc state list",
  );
}

function occupied(address: Address): Correction {
  return refusedByState(
    `${address} is taken`,
    `State knows something of it already, and would forget that. If it may:\n  tasc state rm ${address}`,
  );
}
