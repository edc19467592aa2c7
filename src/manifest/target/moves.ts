import { isAddress } from "../../model/address.ts";
import type { Move } from "../../model/desired.ts";
import { isArray, isObject } from "../../model/json.ts";
import type { Document } from "../document.ts";

/** The `moved:` entries of a target's documents; whether they make sense together is for the rules to say. */
export function movesOf(documents: readonly Document[]): readonly Move[] {
  return documents.flatMap(({ file, value }) => {
    const entries = isArray(value.moved) ? value.moved : [];
    return entries.flatMap((entry, at): Move[] => {
      if (!isObject(entry)) return [];
      const { from, to } = entry;
      if (typeof from !== "string" || typeof to !== "string" || !isAddress(from) || !isAddress(to)) return [];
      return [{ from, to, origin: { file, path: ["moved", at] } }];
    });
  });
}
