import { type Json, type Path, sameJson } from "../../model/json.ts";

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
  readonly unclosed: readonly TextSpan[];
  /** The outermost maps and lists in braces and brackets. */
  readonly flows: readonly TextSpan[];
};

export type TextSpan = { readonly start: number; readonly end: number };

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

/** A position as people read it: both 1-based, the column in UTF-16 units. */
export type LineColumn = { readonly line: number; readonly column: number };

/**
 * Turns offsets of one text into lines and columns, in the logarithm of the number of lines.
 * A lone CR ends a line too: it is refused elsewhere, but editors count it, and so must the place of that
 * refusal.
 */
export function placesOf(text: string): (offset: number) => LineColumn {
  const starts = lineStarts(text);
  return (offset) => {
    const line = lastAtMost(starts, offset);
    return { line: line + 1, column: offset - (starts[line] ?? 0) + 1 };
  };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (const found of text.matchAll(/\r\n?|\n/g)) starts.push(found.index + found[0].length);
  return starts;
}

function lastAtMost(sorted: readonly number[], wanted: number): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((sorted[middle] ?? 0) <= wanted) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Sets an own property whatever its name: by assignment, `__proto__` would change the object's prototype. */
export function setOwn<T>(map: Record<string, T>, key: string, value: T): void {
  if (key === "__proto__")
    Object.defineProperty(map, key, { value, writable: true, enumerable: true, configurable: true });
  else map[key] = value;
}

/** A pair of a map or an item of a list, as far as both are alike. */
export type ListEntry = { readonly start: number; readonly end: number };

export function entryOfPair({ start, key, colon, value }: Pair): ListEntry {
  return { start, end: Math.max(key.end, colon === undefined ? 0 : colon + 1, value.end) };
}

/** In block style the item begins with its dash, and may be nothing but that. */
export function entryOfItem({ start, value }: Item, flow: boolean): ListEntry {
  return { start, end: Math.max(value.end, flow ? start : start + 1) };
}

/** What becomes of the entries of one map or list. */
export type EntryChange = {
  readonly entries: readonly ListEntry[];
  /** Which of them go. At least one stays. */
  readonly deleted: ReadonlySet<number>;
  /** What comes in behind an entry that stays, or at -1 before the first one. */
  readonly inserted: readonly { readonly after: number; readonly content: Inserted }[];
};

/** In block style, whole lines; in flow style, what stands between the commas. */
export type Inserted = { readonly lines: readonly string[]; readonly flow: string };

/**
 * One step down a tree: the root, a pair of a map, or an item of a list; `start` is that of the key or the
 * dash.
 */
export type TreeStep = { readonly key: Node | undefined; readonly value: Node; readonly start: number };

/** Finds nodes by path. Maps and anchors are hashed when they are first asked for. */
export class TreeIndex {
  readonly #root: Node;
  readonly #pairs = new WeakMap<MapNode, ReadonlyMap<string, Pair>>();
  readonly #plain = new WeakMap<Node, Json>();
  #anchors: ReadonlyMap<string, readonly Node[]> | undefined;

  constructor(root: Node) {
    this.#root = root;
  }

  /**
   * The steps from the root along a path, for as far as the tree has it: the root itself comes first, so a
   * path that exists to its end has one step more than segments. Aliases on the way are followed; the last
   * value may be one.
   */
  steps(path: Path): TreeStep[] {
    const steps: TreeStep[] = [{ key: undefined, value: this.#root, start: this.#root.start }];
    let at: Node | undefined = this.#root;
    for (const segment of path) {
      const step: TreeStep | undefined = at === undefined ? undefined : this.#step(this.target(at), segment);
      if (step === undefined) break;
      steps.push(step);
      at = step.value;
    }
    return steps;
  }

  #step(node: Node | undefined, segment: string | number): TreeStep | undefined {
    if (node?.kind === "map") {
      const pair = this.pair(node, String(segment));
      return pair && { key: pair.key, value: pair.value, start: pair.key.start };
    }
    if (node?.kind !== "list" || typeof segment !== "number") return undefined;
    const item = node.items[segment];
    return item && { key: undefined, ...item };
  }

  /** The pair with this key; of several, which is an error, the last. */
  pair(map: MapNode, key: string): Pair | undefined {
    let pairs = this.#pairs.get(map);
    if (pairs === undefined) {
      pairs = new Map(
        map.pairs.flatMap((pair) => (pair.key.kind === "scalar" ? [[pair.key.text, pair]] : [])),
      );
      this.#pairs.set(map, pairs);
    }
    return pairs.get(key);
  }

  /** What a node stands for, in a tree without problems. */
  plain(node: Node): Json {
    const known = this.#plain.get(node);
    if (known !== undefined) return known;
    const value = this.#plainOf(node);
    this.#plain.set(node, value);
    return value;
  }

  #plainOf(node: Node): Json {
    if (node.kind === "scalar") return isScalarValue(node.value) ? node.value : null;
    if (node.kind === "list") return node.items.map((item) => this.plain(item.value));
    if (node.kind === "alias") {
      const target = this.target(node);
      return target === undefined ? null : this.plain(target);
    }
    const map: Record<string, Json> = {};
    for (const { key, value } of node.pairs)
      if (key.kind === "scalar") setOwn(map, key.text, this.plain(value));
    return map;
  }

  /**
   * What an alias refers to, or undefined if there is no such anchor; any other node is its own target.
   * The same name may be given again: an alias means the last anchor of that name before it.
   */
  target(node: Node): Node | undefined {
    if (node.kind !== "alias") return node;
    this.#anchors ??= anchorsIn(this.#root);
    return this.#anchors.get(node.name)?.findLast((anchored) => anchored.start < node.start);
  }
}

function isScalarValue(value: unknown): value is string | number | boolean | null {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

/** The nodes that bear each anchor, in the order of the text. */
function anchorsIn(root: Node): ReadonlyMap<string, readonly Node[]> {
  const anchors = new Map<string, Node[]>();
  for (const node of nodesOf(root)) {
    if (node.anchor === undefined) continue;
    const bearers = anchors.get(node.anchor);
    if (bearers === undefined) anchors.set(node.anchor, [node]);
    else bearers.push(node);
  }
  return anchors;
}

/** What a name stands for from some point of the new text on, and how many aliases rely on that. */
type Binding = { readonly value: Json; readonly anchored: Node | undefined; aliases: number };

/**
 * What every anchor of a text will stand for once the text is changed, as far as it has been walked through:
 * nodes are to be told of in its order.
 */
export class Bindings {
  readonly #index: TreeIndex;
  /** The aliases of every node that has some, in the order of the text. */
  readonly #aliases: ReadonlyMap<Node, readonly AliasNode[]>;
  readonly #current = new Map<string, Binding>();
  readonly #anchored: Binding[] = [];

  constructor(root: Node, index: TreeIndex) {
    this.#index = index;
    this.#aliases = aliasesIn(root, index);
  }

  /** A node that stays, with the value that it will have. */
  bind(node: Node, value: Json): void {
    if (node.anchor === undefined) return;
    const binding = { value, anchored: node, aliases: 0 };
    this.#current.set(node.anchor, binding);
    this.#anchored.push(binding);
  }

  /** Whether an alias will stand for this value; then it stays. */
  rely({ name }: AliasNode, value: Json): boolean {
    const binding = this.#current.get(name);
    if (binding === undefined || !sameJson(binding.value, value)) return false;
    binding.aliases++;
    return true;
  }

  /**
   * The name for a value that is written in the place of an alias, if other aliases may follow it: those
   * further down, where the old value is kept. Where a new one is wanted, they do not want that.
   */
  takeOver(alias: AliasNode, value: Json): string | undefined {
    const original = this.#index.target(alias);
    const isLast = original === undefined || this.#aliases.get(original)?.at(-1) === alias;
    if (isLast || !sameJson(this.#index.plain(alias), value)) return undefined;
    this.#current.set(alias.name, { value, anchored: undefined, aliases: 0 });
    return alias.name;
  }

  /** Nodes that had aliases and have none any more. */
  unused(): Node[] {
    return this.#anchored.flatMap(({ anchored: node, aliases }) => {
      if (node === undefined || aliases > 0 || !this.#aliases.has(node)) return [];
      // With its tag, which is no longer right, the anchor has been written again.
      return node.tag === undefined ? [node] : [];
    });
  }
}

function aliasesIn(root: Node, index: TreeIndex): ReadonlyMap<Node, readonly AliasNode[]> {
  const aliases = new Map<Node, AliasNode[]>();
  for (const node of nodesOf(root)) {
    const target = node.kind === "alias" ? index.target(node) : undefined;
    if (node.kind !== "alias" || target === undefined) continue;
    const known = aliases.get(target);
    if (known === undefined) aliases.set(target, [node]);
    else known.push(node);
  }
  return aliases;
}

/**
 * How deep maps and lists may nest. A manifest needs about ten levels; a hundred is a generator gone wrong.
 */
export const MAX_DEPTH = 100;

/** YAML's own bound on a key without `? `, in UTF-16 units from its start to its colon. */
export const MAX_KEY_LENGTH = 1024;

/**
 * How many characters of the text all aliases together may stand for. A bound on the number of aliases would
 * refuse a thousand test cases that share one list of tags, and would let a few aliases to a large text pass;
 * what has to be bounded is the size of the text with every alias written out.
 */
export const ALIAS_BUDGET = 250_000;

/**
 * The documents of a text, each with its `---`; what comes before the first one belongs to it. A line that begins with
 * `---` ends a document whatever it is in, so that no parser is needed to see it.
 */
export function splitDocuments(text: string): readonly TextSpan[] {
  const marks = text.includes("---") ? [...text.matchAll(/^---(?=\s|$)/gm)].map(({ index }) => index) : [];
  const [first = 0] = marks;
  const isPreface =
    text
      .slice(0, first)
      .replaceAll(/^[ \t]*(?:#.*)?$|^%.*$/gm, "")
      .trim() === "";
  const starts = [0, ...marks.slice(isPreface ? 1 : 0)];
  return starts.map((start, at) => ({ start, end: starts[at + 1] ?? text.length }));
}

/** The document of a text that a path leads into, and the path in it. */
export function inDocument(
  documents: readonly TextSpan[],
  path: Path,
): { readonly number: number; readonly inner: Path } {
  const [number, ...inner] = path;
  return documents.length > 1 && typeof number === "number" ? { number, inner } : { number: 0, inner: path };
}

/** Replaces the characters from `start` up to `end` by `text`; an insertion where the two are the same. */
export type Splice = { readonly start: number; readonly end: number; readonly text: string };

/** Makes replacements, which are in the order of the text. */
export function spliced(text: string, splices: readonly Splice[]): string {
  let done = 0;
  const parts: string[] = [];
  for (const splice of splices) {
    parts.push(text.slice(done, splice.start), splice.text);
    done = splice.end;
  }
  return parts.join("") + text.slice(done);
}
