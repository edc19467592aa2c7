import deepDiff from "deep-diff";
import type { Json, Path } from "../model/json.ts";

/** One place where two pieces of plain data differ; a side that has nothing there is absent. */
export interface Difference {
  readonly path: Path;
  readonly before?: Json;
  readonly after?: Json;
}

/** The places where two unequal pieces of plain data differ, in the order of their paths. */
export function differences(before: Json, after: Json): readonly Difference[] {
  return (deepDiff.diff<Json, Json>(before, after) ?? []).map((found) => {
    const path: Path = found.path?.map(step) ?? [];
    switch (found.kind) {
      case "N":
        return { path, after: found.rhs };
      case "D":
        return { path, before: found.lhs };
      case "E":
        return { path, before: found.lhs, after: found.rhs };
      case "A":
        return { path: [...path, found.index], ...itemSides(found.item) };
    }
  });
}

function itemSides(item: {
  readonly kind: string;
  readonly lhs?: Json;
  readonly rhs?: Json;
}): Omit<Difference, "path"> {
  return {
    ...(item.lhs === undefined ? {} : { before: item.lhs }),
    ...(item.rhs === undefined ? {} : { after: item.rhs }),
  };
}

function step(part: unknown): string | number {
  return typeof part === "number" ? part : String(part);
}
