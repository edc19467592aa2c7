import type { Node } from "./tree.ts";

const COLLECTION_TAGS: Readonly<Record<string, Node["kind"]>> = { "!!map": "map", "!!seq": "list" };
const SCALAR_TAGS: Readonly<Record<string, string>> = {
  "!!str": "string",
  "!!int": "number",
  "!!float": "number",
  "!!bool": "boolean",
};

/**
 * Whether a node's tag is one of YAML's own and says what the node is; the parser made a value of any other.
 */
export function fitsTag(node: Node, tag: string): boolean {
  if (tag === "!") return true;
  if (node.kind !== "scalar") return COLLECTION_TAGS[tag] === node.kind;
  return tag === "!!null" ? node.value === null : SCALAR_TAGS[tag] === typeof node.value;
}
