import type { State } from "../model/state.ts";

/**
 * What becomes of a state that somebody corrects by hand, or why it cannot be. `argument`: what was asked for means
 * nothing here; `state`: it would do harm to what is remembered.
 */
export type Correction =
  | { readonly ok: true; readonly state: State }
  | {
      readonly ok: false;
      readonly fault: "argument" | "state";
      readonly summary: string;
      readonly detail: string;
    };

export function corrected(state: State): Correction {
  return { ok: true, state };
}

export function refusedArgument(summary: string, detail: string): Correction {
  return { ok: false, fault: "argument", summary, detail };
}

export function refusedByState(summary: string, detail: string): Correction {
  return { ok: false, fault: "state", summary, detail };
}
