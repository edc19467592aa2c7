import { isAddress } from "../../model/address.ts";
import type { Move } from "../../model/desired.ts";
import { isArray, isObject } from "../../model/json.ts";
import type { Layers } from "./layers.ts";

/** The `moved:` entries of a target's documents; whether they make sense together is for the rules to say. */
export function movesOf({ having }: Layers): readonly Move[] {
  const moves: Move[] = [];
  for (const { file, value } of having("moved"))
    for (const [at, entry] of isArray(value.moved) ? value.moved.entries() : [])
      if (isObject(entry)) {
        const { from, to } = entry;
        if (typeof from === "string" && typeof to === "string" && isAddress(from) && isAddress(to))
          moves.push({ from, to, origin: { file, path: ["moved", at] } });
      }
  return moves;
}
