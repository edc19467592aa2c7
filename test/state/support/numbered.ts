import type { DocumentKey } from "../../../src/state/backend.ts";
import { type State, type StateEvent, emptyState } from "../../../src/model/state.ts";
import { applyEvents } from "../../../src/state/events.ts";

/* Separate from code that needs test libraries, because processes that tests start use it too. */

export const SERVICE = "https://service.example.com/base";
export const SHOP: DocumentKey = { stage: "staging", target: "shop", service: SERVICE };

/** Event number `n` of a run; each leaves its own trace. */
export function numbered(n: number): StateEvent {
  return {
    type: "bound",
    address: `testCase.shop.case-${n}`,
    id: `id-${n}`,
    fields: { status: `s-${n}` },
  };
}

/** The state after the first `count` numbered events. */
export function stateAfter(count: number): State {
  const events = Array.from({ length: count }, (_, n) => numbered(n));
  return applyEvents(emptyState(SHOP.stage, SHOP.target, SHOP.service), events);
}

/** The state without its random lineage. */
export function plain(state: State): State;
export function plain(state: State | undefined): State | undefined;
export function plain(state: State | undefined): State | undefined {
  if (state === undefined) return state;
  const { lineage: _, ...rest } = state;
  return rest;
}
