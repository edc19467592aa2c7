/**
 * A YAML text as nodes that know where they stand in it: the form in which positions and edits look at a
 * text. Offsets are in UTF-16 units; `end` is past the last character.
 */
export type Node = ScalarNode | MapNode | ListNode | AliasNode;

type Standing = {
  /** Where the content begins, after an anchor or a tag. */
  readonly start: number;
  /** Of a block scalar: past its last line's end. Of a block map or list: past its last value. */
  readonly end: number;
  /** Where the anchor or the tag begins, else `start`. */
  readonly from: number;
  readonly anchor: string | undefined;
  /** As written, e.g. `!!str`. */
  readonly tag: string | undefined;
};

export type ScalarStyle = "plain" | "single" | "double" | "literal" | "folded";

export type ScalarNode = Standing & {
  readonly kind: "scalar";
  readonly style: ScalarStyle;
  /** The text after quotes, escapes and folding are undone, before the schema gives it a type. */
  readonly text: string;
  /** What the core schema makes of it; anything at all if a tag is at work. */
  readonly value: unknown;
};

export type AliasNode = Standing & { readonly kind: "alias"; readonly name: string };

export type MapNode = Standing & {
  readonly kind: "map";
  readonly flow: boolean;
  readonly pairs: readonly Pair[];
};

export type ListNode = Standing & {
  readonly kind: "list";
  readonly flow: boolean;
  readonly items: readonly Item[];
};

export type Pair = {
  /** Where the key begins: its `? `, its anchor, its tag or itself. */
  readonly start: number;
  readonly explicit: boolean;
  readonly key: Node;
  /** Where the `:` stands; undefined for a key without one. */
  readonly colon: number | undefined;
  /** An empty plain scalar where nothing is written after the colon. */
  readonly value: Node;
};

export type Item = {
  /** Where the `-` stands, else the item's node. */
  readonly start: number;
  readonly value: Node;
};

/** One complaint of the parser, with its own code and words. */
export type SyntaxFault = { readonly offset: number; readonly code: string; readonly words: string };

export type Tree = {
  readonly text: string;
  /** The first document's content; an empty plain scalar if there is none. */
  readonly root: Node;
  /** Where second and further documents begin. */
  readonly furtherDocuments: readonly number[];
  readonly directives: readonly { readonly offset: number; readonly text: string }[];
  readonly faults: readonly SyntaxFault[];
  /** Brackets, braces and quotes that are opened and never closed. */
  readonly unclosed: readonly Span[];
  /** The outermost maps and lists in braces and brackets. */
  readonly flows: readonly Span[];
};

export type Span = { readonly start: number; readonly end: number };

/** A node and all nodes in it, keys before their values, in the order of the text. */
export function* nodesOf(node: Node): Generator<Node> {
  yield node;
  if (node.kind === "list") for (const { value } of node.items) yield* nodesOf(value);
  if (node.kind !== "map") return;
  for (const { key, value } of node.pairs) {
    yield* nodesOf(key);
    yield* nodesOf(value);
  }
}
