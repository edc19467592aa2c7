import type { Address } from "../model/address.ts";
import type { Move } from "../model/desired.ts";
import type { State, StateEvent } from "../model/state.ts";

/**
 * `moved:` as changes to state: each binding that still stands under its old address goes to the new one. A move that
 * is done, or whose new address is bound already, changes nothing, so it may stay in the manifest.
 */
export function pendingMoves(moves: readonly Move[], state: State): readonly StateEvent[] {
  const bound = new Set<Address>([
    ...state.bindings.keys(),
    ...state.batchGenerations.keys(),
    ...state.intents.keys(),
  ]);
  const events: StateEvent[] = [];
  for (const { from, to } of inOrder(moves)) {
    if (!bound.has(from) || bound.has(to)) continue;
    bound.delete(from);
    bound.add(to);
    events.push({ type: "moved", from, to });
  }
  return events;
}

/** Of a chain a → b → c the last link first would free nothing: b must have left before a arrives there. */
function inOrder(moves: readonly Move[]): readonly Move[] {
  const byFrom = new Map(moves.map((move) => [move.from, move]));
  const done = new Set<Address>();
  const ordered: Move[] = [];
  const visit = (move: Move): void => {
    if (done.has(move.from)) return;
    done.add(move.from);
    const next = byFrom.get(move.to);
    if (next !== undefined) visit(next);
    ordered.push(move);
  };
  for (const move of moves) visit(move);
  // What was moved to b long ago goes on to c; what is at a goes to b, and then on as well.
  return [...ordered, ...moves];
}
