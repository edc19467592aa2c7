import { compareAddresses } from "../model/address.ts";
import type { Address } from "../model/address.ts";
import type { State } from "../model/state.ts";

/** Whether a state remembers anything of an address: an id, a run, or a creation under way. */
export function knows(state: State, address: Address): boolean {
  return state.bindings.has(address) || state.batchGenerations.has(address) || state.intents.has(address);
}

/** Every address that a state remembers anything of, sorted. */
export function knownAddresses(state: State): readonly Address[] {
  const all = [...state.bindings.keys(), ...state.batchGenerations.keys(), ...state.intents.keys()];
  return [...new Set(all)].toSorted(compareAddresses);
}

export function isBlank(state: State): boolean {
  return knownAddresses(state).length === 0;
}
