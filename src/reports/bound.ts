import { compareAddresses } from "../model/address.ts";
import type { Address } from "../model/address.ts";
import type { State } from "../model/state.ts";

/** Which address has an id, by all that state binds. */
export type AddressOf = (id: string | undefined) => Address | undefined;

export function addressesIn(states: Iterable<State>): AddressOf {
  const byId = new Map<string, Address>();
  for (const { bindings } of states)
    for (const [address, { id }] of [...bindings].toSorted(([a], [b]) => compareAddresses(b, a)))
      byId.set(id, address);
  return (id) => (id === undefined ? undefined : byId.get(id));
}
