import type { Address } from "../model/address.ts";
import { emptyState } from "../model/state.ts";
import type { State } from "../model/state.ts";
import { applyEvents } from "../state/reduce.ts";
import { corrected, refusedArgument } from "./correction.ts";
import type { Correction } from "./correction.ts";
import { isBlank, knows } from "./knows.ts";

/** Forgets all that is known of an address, also a creation whose outcome nobody has looked up yet. */
export function forgetAddress(state: State, address: Address): Correction {
  if (!knows(state, address)) return nothing(address);
  return corrected(
    applyEvents(state, [
      { type: "unbound", address },
      { type: "settled", address },
    ]),
  );
}

/** Forgets a target with all that is in it: without the target's id, nothing in it could be looked up again. */
export function forgetTarget(state: State, address: Address): Correction {
  if (isBlank(state)) return nothing(address);
  return corrected(emptyState(state.stage, state.target, state.service));
}

function nothing(address: Address): Correction {
  return refusedArgument(
    `State knows nothing of ${address}`,
    "There is nothing to forget. What is known:\n  tasc state list",
  );
}
