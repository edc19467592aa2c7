import type { Layout } from "./block-lines.ts";
import type { LineText } from "./line-text.ts";
import { type Node, nodesOf } from "./tree.ts";

/** How a text indents: as its first map in a map does, and its first list under a key. */
export function layoutOf(root: Node, source: LineText): Layout {
  let step: number | undefined;
  let listStep: number | undefined;
  for (const node of nodesOf(root)) {
    if (node.kind !== "map" || node.flow) continue;
    for (const { start, value } of node.pairs) {
      if (value.kind === "scalar" || value.kind === "alias" || value.flow) continue;
      const deeper = source.column(value.start) - source.column(start);
      if (value.kind === "map") step ??= deeper;
      else listStep ??= deeper;
    }
    if (step !== undefined && listStep !== undefined) break;
  }
  return { step: step ?? 2, listStep: listStep ?? step ?? 2 };
}
