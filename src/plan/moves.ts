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
  const ordered = lastLinksFirst(moves);
  for (let done = -1; done < events.length;) {
    done = events.length;
    for (const { from, to } of ordered) {
      if (!bound.has(from) || bound.has(to)) continue;
      bound.delete(from);
      bound.add(to);
      events.push({ type: "moved", from, to });
    }
  }
  return events;
}

/**
 * Of a chain a → b → c the last link comes first, since b must have left before a arrives there. What was left at a
 * when b had long gone on to c goes all the way in further turns.
 */
function lastLinksFirst(moves: readonly Move[]): readonly Move[] {
  const byFrom = new Map(moves.map((move) => [move.from, move]));
  const seen = new Set<Address>();
  return moves.flatMap((start) => {
    const chain: Move[] = [];
    for (let move = byFrom.get(start.from); move !== undefined && !seen.has(move.from);) {
      seen.add(move.from);
      chain.push(move);
      move = byFrom.get(move.to);
    }
    return chain.toReversed();
  });
}
