import type { Json, Path } from "../../model/json.ts";
import type { TextSpan } from "./text.ts";

/**
 * A YAML text as nodes that know their place and their value: the form that the careful reader, the
 * lookup of places and edits use. Offsets are in UTF-16 units. `end` is after the last character:
 * for a block scalar after its last line end, for a block map or list after its last value.
 */
export type Node = ScalarNode | Collection | AliasNode;

/** `start` is the start of the content, after an anchor or a tag. */
export type NodeBase = TextSpan & {
  /** The start of the anchor or the tag; without them the same as `start`. */
  readonly from: number;
  readonly anchor: string | undefined;
  readonly tag: string | undefined;
  /** The value, as far as it is plain data. Aliased parts are shared. */
  readonly value: Json;
};

export type ScalarNode = NodeBase & {
  readonly kind: "scalar";
  readonly style: "plain" | "single" | "double" | "literal" | "folded";
  /** The text after quotes, escapes and folding are undone, before the schema gives it a type. */
  readonly text: string;
};

export type AliasNode = NodeBase & {
  readonly kind: "alias";
  readonly name: string;
  readonly target: Node | undefined;
};

export type Collection = NodeBase & {
  readonly kind: "map" | "list";
  readonly flow: boolean;
  readonly entries: readonly Entry[];
};

/**
 * A pair of a map, from its key or the `? ` before it, or an item of a list, in block style from
 * its dash.
 */
export type Entry = TextSpan & {
  /** `undefined` for an item. */
  readonly key: Node | undefined;
  /** The offset of the `:`; `undefined` for a key without one, and for an item. */
  readonly colon: number | undefined;
  /** An empty plain scalar if there is no value after the colon. */
  readonly value: Node;
};

/** Returns a node and all nodes inside it, in the order of the text. */
export function nodesOf(node: Node, found: Node[] = []): readonly Node[] {
  found.push(node);
  if (node.kind === "scalar" || node.kind === "alias") return found;
  for (const { key, value } of node.entries) {
    if (key !== undefined) nodesOf(key, found);
    nodesOf(value, found);
  }
  return found;
}

/**
 * Caches the entries of maps by key. If a key is repeated, which is an error, the last one wins.
 */
const KEYED = new WeakMap<Collection, ReadonlyMap<string, Entry>>();

function entriesByKey(map: Collection): ReadonlyMap<string, Entry> {
  const byKey = KEYED.get(map) ?? new Map(map.entries.map((entry) => [nameOf(entry), entry]));
  KEYED.set(map, byKey);
  return byKey;
}

/** Returns the key of an entry if it is a text; otherwise an empty text. */
export function nameOf({ key }: Entry): string {
  return key?.kind === "scalar" ? key.text : "";
}

/**
 * Returns the entries along a path, the root first, as far as the tree has them. Aliases on the way
 * are followed.
 */
export function entriesAlong(root: Node, path: Path): Entry[] {
  const entries: Entry[] = [
    { start: root.start, end: root.end, key: undefined, colon: undefined, value: root },
  ];
  let last = root;
  for (const step of path) {
    const node = last.kind === "alias" ? last.target : last;
    const entry =
      node?.kind === "map"
        ? entriesByKey(node).get(String(step))
        : node?.kind === "list" && typeof step === "number"
          ? node.entries[step]
          : undefined;
    if (entry === undefined) break;
    entries.push(entry);
    last = entry.value;
  }
  return entries;
}
