import {
  type CST,
  Composer,
  type ParsedNode,
  Parser,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
  type Pair as YamlPair,
  isAlias,
  isMap,
  isScalar,
  isSeq,
} from "yaml";
import { type Json, type Path, isArray, isObject } from "../../model/json.ts";
import { NOT_PLAIN_DATA, plainValue, readFast } from "./fast.ts";
import { type Finding, MAX_DEPTH, type TextSpan, placesOf, setOwn } from "./text.ts";

/**
 * A YAML text as nodes that know where they stand in it and what they mean: the form in which the careful reader, places
 * and edits look at a text. Offsets are in UTF-16 units; `end` is past the last character.
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

/** `value` is what it means, as far as that is plain data. Aliased parts are shared. */
type NodeBase = Standing & { readonly value: Json };

export type ScalarStyle = "plain" | "single" | "double" | "literal" | "folded";

export type ScalarNode = NodeBase & {
  readonly kind: "scalar";
  readonly style: ScalarStyle;
  /** The text after quotes, escapes and folding are undone, before the schema gives it a type. */
  readonly text: string;
};

export type AliasNode = NodeBase & {
  readonly kind: "alias";
  readonly name: string;
  readonly anchored: Anchored | undefined;
};

/** What bears an anchor; the node is there once it has been read to its end. `size` is that of its text, with aliases written out. */
type Anchored = { node?: Node; size: number };

export type MapNode = NodeBase & {
  readonly kind: "map";
  readonly flow: boolean;
  readonly pairs: readonly Pair[];
  /** By key; of several with the same key, which is an error, the last. */
  readonly byKey: ReadonlyMap<string, Pair>;
};

export type ListNode = NodeBase & {
  readonly kind: "list";
  readonly flow: boolean;
  readonly items: readonly Item[];
};

export type Pair = {
  /** Where the key begins: its `? `, its anchor, its tag or itself. */
  readonly start: number;
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
  /** What keeps it from being plain data. */
  readonly findings: readonly Finding[];
  /** Brackets, braces and quotes that are opened and never closed. */
  readonly unclosed: readonly TextSpan[];
  /** The outermost maps and lists in braces and brackets. */
  readonly flows: readonly TextSpan[];
};

/**
 * Parses a text into nodes, whatever is wrong with it: faults and findings are listed, and the tree holds what could be
 * made out. The only module that loads `yaml`, which takes longer to load than most runs take to read all their
 * manifests; import it, and what imports it, lazily.
 *
 * The text must have no control characters: `yaml` uses some of them as marks between its lexer and its parser.
 */
export function parseTree(text: string): Tree {
  const composer = new Composer({
    version: "1.2",
    schema: "core",
    keepSourceTokens: true,
    // Duplicates are looked for below, with the line of the first one, and not in quadratic time.
    uniqueKeys: false,
    // Else `!!binary`, `!!timestamp` and others of YAML 1.1 would come to life when written out.
    resolveKnownTags: false,
  });
  const tokens = [...new Parser().parse(text)];
  const documents = [...composer.compose(tokens, true, text.length)];
  const [first, ...further] = documents;
  if (first === undefined) throw new Error("a composer that is told to force a document made none");
  const begun = tokens.find((token) => token.type === "document");
  const builder = new TreeBuilder(text);
  const before = begun?.type === "document" ? begun.start : [];
  const root = first.contents === null ? emptyNode(text.length) : builder.node(first.contents, before, 0);
  // Tokens outside of every node.
  const stray = new Set(tokens.flatMap(({ type, offset }) => (type === "error" ? [offset] : [])));
  const faults = documents.flatMap(({ errors }) =>
    errors.map(({ pos: [offset], code, message }) => ({
      offset,
      code: code === "UNEXPECTED_TOKEN" && stray.has(offset) ? "STRAY_TOKEN" : code,
      words: message,
    })),
  );
  const { unclosed, flows, findings } = builder;
  for (const { end } of unclosed)
    faults.push({ offset: end, code: "MISSING_CHAR", words: "a closing mark is missing" });
  return {
    text,
    root,
    furtherDocuments: further.map((document) => document.range[0]),
    directives: tokens.flatMap((token) =>
      token.type === "directive" ? [{ offset: token.offset, text: token.source }] : [],
    ),
    faults,
    findings,
    unclosed,
    flows,
  };
}

/** The root of a text's tree, many times faster where the text is an everyday one. */
export function rootOf(text: string): Node {
  const marks: number[] = [];
  const value = readFast(text, marks);
  return value === undefined ? parseTree(text).root : new MarkedTree(text, marks).node(value);
}

/** Makes nodes of what the fast reader marked. */
class MarkedTree {
  readonly #text: string;
  readonly #marks: readonly number[];
  #at = 0;

  constructor(text: string, marks: readonly number[]) {
    this.#text = text;
    this.#marks = marks;
  }

  /** The node of the next mark, with those in it. */
  node(value: Json): Node {
    const start = this.#next();
    const end = this.#next();
    // Written out, since a spread object takes several times as long to make, and twice the room.
    const [from, anchor, tag] = [start, undefined, undefined];
    const first = this.#text.charAt(start);
    if (isArray(value)) {
      const flow = first === "[";
      const items = value.map((item) => this.#item(item, flow));
      return { kind: "list", start, end, from, anchor, tag, flow, items, value };
    }
    if (isObject(value)) {
      const byKey = new Map<string, Pair>();
      // In the order of the text, which a map of JavaScript does not keep for keys that are numbers.
      for (let left = Object.keys(value).length; left > 0; left--) {
        const key = this.#key();
        const inner = this.node(value[key.text] ?? null);
        byKey.set(key.text, { start: key.start, key, colon: key.end, value: inner });
      }
      const pairs = [...byKey.values()];
      return { kind: "map", start, end, from, anchor, tag, flow: first === "{", pairs, byKey, value };
    }
    const written = typeof value === "string" ? value : this.#text.slice(start, end);
    const style = STYLE_OF[first] ?? "plain";
    return { kind: "scalar", start, end, from, anchor, tag, style, text: written, value };
  }

  #next(): number {
    return this.#marks[this.#at++] ?? 0;
  }

  #item(item: Json, flow: boolean): Item {
    const dash = flow ? undefined : this.#next();
    if (!flow) this.#next();
    const value = this.node(item);
    return { start: dash ?? value.start, value };
  }

  #key(): ScalarNode {
    const start = this.#next();
    const end = this.#next();
    const written = this.#text.slice(start, end);
    const style = STYLE_OF[written.charAt(0)] ?? "plain";
    const quoted = (): string =>
      style === "double" ? String(JSON.parse(written)) : written.slice(1, -1).replaceAll("''", "'");
    const text = style === "plain" ? written : quoted();
    const [from, anchor, tag] = [start, undefined, undefined];
    return { kind: "scalar", start, end, from, anchor, tag, style, text, value: text };
  }
}

const STYLE_OF: Readonly<Record<string, ScalarStyle>> = {
  "'": "single",
  '"': "double",
  "|": "literal",
  ">": "folded",
};

/** Tokens before a node, on its side of the `-`, `?` or `:`; its anchor and its tag are among them. */
type Before = readonly CST.SourceToken[];

/**
 * How many characters of the text all aliases together may stand for. A bound on the number of aliases would
 * refuse a thousand test cases that share one list of tags, and would let a few aliases to a large text pass;
 * what has to be bounded is the size of the text with every alias written out.
 */
export const ALIAS_BUDGET = 250_000;

class TreeBuilder {
  readonly findings: Finding[] = [];
  readonly unclosed: TextSpan[] = [];
  readonly flows: TextSpan[] = [];
  readonly #placeOf: ReturnType<typeof placesOf>;
  readonly #anchors = new Map<string, Anchored>();
  /** How many characters the aliases so far stand for. */
  #aliased = 0;

  constructor(text: string) {
    this.#placeOf = placesOf(text);
  }

  /** Nodes are met in the order of the text. @param isKey whether it is a key, which is text whatever it looks like */
  node(parsed: ParsedNode, before: Before, depth: number, isKey = false): Node {
    const standing = standingOf(parsed, before);
    const { start, end, from, anchor, tag } = standing;
    if (!isClosed(parsed)) this.unclosed.push({ start, end });
    // Kept apart from the name, which an anchor inside of this one may take over.
    const anchored: Anchored = { size: 0 };
    if (anchor !== undefined) this.#anchors.set(anchor, anchored);
    const [known, aliased] = [this.findings.length, this.#aliased];
    let node = this.#content(parsed, standing, depth, isKey);
    const isTooDeep = depth >= MAX_DEPTH && (node.kind === "map" || node.kind === "list");
    const isUnfit =
      tag !== undefined && !fitsTag(tag, node.kind, isKey ? "" : isScalar(parsed) ? parsed.value : undefined);
    if (isTooDeep || isUnfit) {
      // What is inside of it is not looked at.
      this.findings.length = known;
      node = { ...node, value: null };
    }
    if (isUnfit)
      this.#found(
        from,
        "tag",
        `the tag \`${tag}\` does not fit here: a manifest holds text, numbers, true, false, null, lists and maps`,
        "remove it; quote text that begins with `!`",
      );
    else if (isTooDeep)
      this.#found(start, "too-deep", `maps and lists are nested more than ${MAX_DEPTH} deep`);
    anchored.node = node;
    anchored.size = Math.max(1, node.end - start) + this.#aliased - aliased;
    return node;
  }

  /** Notes what is wrong, in words for the person who wrote it: what was found, and what to write instead. */
  #found(offset: number, code: Finding["code"], message: string, hint?: string): null {
    this.findings.push({ offset, code, message, ...(hint === undefined ? {} : { hint }) });
    return null;
  }

  #content(parsed: ParsedNode, standing: Standing, depth: number, isKey: boolean): Node {
    if (isAlias(parsed)) {
      const name = parsed.source;
      const anchored = this.#anchors.get(name);
      return {
        kind: "alias",
        ...standing,
        name,
        anchored,
        value: this.#alias(name, standing.start, anchored),
      };
    }
    if (!isMap(parsed) && !isSeq(parsed)) {
      const value = isKey ? parsed.source : this.#scalar(parsed.value, parsed.source, standing.start);
      return {
        kind: "scalar",
        ...standing,
        style: STYLES[parsed.type ?? "PLAIN"],
        text: parsed.source,
        value,
      };
    }
    const flow = parsed.flow === true;
    const last = this.flows.at(-1);
    const { start, end } = standing;
    if (flow && (last === undefined || last.end <= start)) this.flows.push({ start, end });
    return isMap(parsed)
      ? this.#map(parsed, standing, flow, depth)
      : this.#list(parsed, standing, flow, depth);
  }

  #scalar(value: unknown, text: string, start: number): Json {
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    if (typeof value !== "number" || !Number.isFinite(value))
      return this.#found(start, "number", `\`${text}\` is not a finite number`, "quote it if it is text");
    if (plainValue(text) !== NOT_PLAIN_DATA) return value;
    const message = `the number \`${text}\` is too large to be kept exactly`;
    return this.#found(start, "number", message, "quote it if it is an identifier");
  }

  #alias(name: string, start: number, anchored: Anchored | undefined): Json {
    if (anchored === undefined)
      return this.#found(
        start,
        "unknown-alias",
        `\`*${name}\` is an alias, and there is no anchor \`&${name}\` above it`,
        "quote text that begins with `*`",
      );
    if (anchored.node === undefined) {
      const message = `\`*${name}\` is inside the value that it refers to`;
      return this.#found(start, "cyclic-alias", message, "write the value itself here");
    }
    const before = this.#aliased;
    this.#aliased += anchored.size;
    if (before <= ALIAS_BUDGET && this.#aliased > ALIAS_BUDGET)
      this.#found(
        start,
        "alias-budget",
        `with this one, the aliases of the file stand for more than ${ALIAS_BUDGET} characters of text`,
        "aliases of aliases multiply; write them out",
      );
    return anchored.node.value;
  }

  #list(parsed: YAMLSeq.Parsed, standing: Standing, flow: boolean, depth: number): ListNode {
    const tokens = (parsed.srcToken?.items ?? []).filter(isItem);
    const items = parsed.items.map((item, at): Item => {
      const before = tokens[at]?.start ?? [];
      // The tokens before `[&x a: b]` belong to its key, not to the map that the pair makes.
      const value = this.node(item, item.srcToken === undefined && isMap(item) ? [] : before, depth + 1);
      const dash = before.find((token) => token.type === "seq-item-ind");
      return { start: dash?.offset ?? value.from, value };
    });
    const end = flow ? standing.end : lastEnd(items, standing);
    return { kind: "list", ...standing, end, flow, items, value: items.map(({ value }) => value.value) };
  }

  #map(parsed: YAMLMap.Parsed, standing: Standing, flow: boolean, depth: number): MapNode {
    const value: Record<string, Json> = {};
    const byKey = new Map<string, Pair>();
    const starts = new Map<string, number>();
    const pairs = parsed.items.map((item) => {
      const pair = this.#pair(item, depth);
      const { key } = pair;
      if (key.kind !== "scalar") return pair;
      byKey.set(key.text, pair);
      const first = starts.get(key.text);
      if (key.style === "plain" && (key.text === "" || key.text === "<<")) return pair;
      if (first === undefined) starts.set(key.text, key.start);
      else {
        const message = `the key \`${key.text}\` was already set on line ${this.#placeOf(first).line}`;
        this.#found(key.start, "duplicate-key", message, "keep one of them");
      }
      setOwn(value, key.text, pair.value.value);
      return pair;
    });
    const end = flow ? standing.end : lastEnd(pairs, standing);
    return { kind: "map", ...standing, end, flow, pairs, byKey, value };
  }

  #pair({ key, value, srcToken }: YamlPair<ParsedNode, ParsedNode | null>, depth: number): Pair {
    const before = srcToken?.start ?? [];
    const between = srcToken?.sep ?? [];
    const known = this.findings.length;
    const keyNode = this.node(key, before, 0, true);
    const start = before.find((token) => token.type === "explicit-key-ind")?.offset ?? keyNode.from;
    const colon = between.find((token) => token.type === "map-value-ind")?.offset;
    if (keyNode.kind !== "scalar") {
      this.findings.length = known;
      const kind = keyNode.kind === "alias" ? "an alias" : `a ${keyNode.kind}`;
      const message = `a key must be text, and here it is ${kind}`;
      this.#found(keyNode.start, "key", message, "quote it if it is text");
    } else if (keyNode.style === "plain" && keyNode.text === "")
      this.#found(colon ?? start, "key", "there is no key here", "write the key, or quote the text");
    else if (keyNode.style === "plain" && keyNode.text === "<<")
      this.#found(
        keyNode.start,
        "merge-key",
        "merge keys (`<<`) are not supported: they are not part of YAML 1.2",
        "write the keys out, or use `defaults`",
      );
    const valueNode = value === null ? emptyNode(keyNode.end) : this.node(value, between, depth + 1);
    return { start, key: keyNode, colon, value: valueNode };
  }
}

/** For the parser a block ends after the comments that follow it; for us where its last value does. */
function lastEnd(entries: readonly { readonly value: Node }[], { end }: TextSpan): number {
  return entries.at(-1)?.value.end ?? end;
}

/** The parser itself misses `"a\"` and `'a''` at the very end of a text. */
function isClosed({ srcToken: token }: ParsedNode): boolean {
  if (token?.type === "flow-collection")
    return token.end[0]?.source === (token.start.source === "{" ? "}" : "]");
  if (token?.type === "single-quoted-scalar")
    return /^'[^]*'$/.test(token.source) && !token.source.slice(1, -1).replaceAll("''", "").includes("'");
  if (token?.type === "double-quoted-scalar")
    return /^"[^]*"$/.test(token.source) && !/(?<!\\)(?:\\\\)*\\"$/.test(token.source);
  return true;
}

function standingOf(node: ParsedNode, before: Before): Standing {
  const anchor = before.find((token) => token.type === "anchor");
  const tag = before.find((token) => token.type === "tag");
  const [start, end] = node.range;
  const from = Math.min(start, anchor?.offset ?? start, tag?.offset ?? start);
  return { start, end, from, anchor: anchor?.source.slice(1), tag: tag?.source };
}

const STYLES: Readonly<Record<Scalar.Type, ScalarStyle>> = {
  PLAIN: "plain",
  QUOTE_SINGLE: "single",
  QUOTE_DOUBLE: "double",
  BLOCK_LITERAL: "literal",
  BLOCK_FOLDED: "folded",
};

/** `yaml` keeps what stands between the last item and the end as an item without content. */
function isItem({ start, sep, value }: CST.CollectionItem): boolean {
  const marks = ["seq-item-ind", "explicit-key-ind", "anchor", "tag"];
  return value !== undefined || sep !== undefined || start.some((token) => marks.includes(token.type));
}

function emptyNode(at: number): ScalarNode {
  const standing = { start: at, end: at, from: at, anchor: undefined, tag: undefined };
  return { kind: "scalar", ...standing, style: "plain", text: "", value: null };
}

const TAGS: Readonly<Record<string, string>> = {
  "!!map": "map",
  "!!seq": "list",
  "!!str": "string",
  "!!int": "number",
  "!!float": "number",
  "!!bool": "boolean",
};

/** Whether a tag is one of YAML's own and says what the node is; the parser made a value of any other. */
function fitsTag(tag: string, kind: Node["kind"], scalar: unknown): boolean {
  if (tag === "!") return true;
  if (tag === "!!null") return kind === "scalar" && scalar === null;
  return TAGS[tag] === (kind === "scalar" ? typeof scalar : kind);
}

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

/** What an alias refers to, or undefined if there is no such anchor; any other node is its own target. */
export function targetOf(node: Node): Node | undefined {
  return node.kind === "alias" ? node.anchored?.node : node;
}

/** One step down a tree: the root, a pair of a map, or an item of a list; `start` is that of the key or the dash. */
export type TreeStep = { readonly key: Node | undefined; readonly value: Node; readonly start: number };

/**
 * The steps from the root along a path, for as far as the tree has it: the root itself comes first, so a path that
 * exists to its end has one step more than segments. Aliases on the way are followed; the last value may be one.
 */
export function stepsAlong(root: Node, path: Path): TreeStep[] {
  const steps: TreeStep[] = [{ key: undefined, value: root, start: root.start }];
  let node = targetOf(root);
  for (const segment of path) {
    const pair = node?.kind === "map" ? node.byKey.get(String(segment)) : undefined;
    const item = node?.kind === "list" && typeof segment === "number" ? node.items[segment] : undefined;
    if (pair !== undefined) steps.push({ key: pair.key, value: pair.value, start: pair.key.start });
    else if (item !== undefined) steps.push({ key: undefined, ...item });
    else break;
    node = targetOf((pair ?? item)?.value ?? root);
  }
  return steps;
}

/** A pair of a map or an item of a list, as far as both are alike. */
export type ListEntry = { readonly start: number; readonly end: number };

export function entryOfPair({ start, key, colon, value }: Pair): ListEntry {
  return { start, end: Math.max(key.end, colon === undefined ? 0 : colon + 1, value.end) };
}
