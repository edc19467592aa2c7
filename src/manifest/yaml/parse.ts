import {
  type CST,
  Composer,
  type Document,
  type ParsedNode,
  Parser,
  type Scalar,
  type YAMLSeq,
  type Pair as YamlPair,
  isAlias,
  isMap,
  isSeq,
} from "yaml";
import type { Json } from "../../model/json.ts";
import { NOT_PLAIN_DATA, plainValue } from "./fast.ts";
import type { Finding } from "./text.ts";
import {
  ALIAS_BUDGET,
  type AliasNode,
  type Item,
  type ListNode,
  MAX_DEPTH,
  type MapNode,
  type Node,
  type Pair,
  type ScalarNode,
  type ScalarStyle,
  type TextSpan,
  type SyntaxFault,
  type Tree,
  setOwn,
} from "./tree.ts";

/**
 * Parses a text into nodes with offsets, whatever is wrong with it: faults are listed and the tree holds what
 * could be made out. The only module that loads `yaml`, which takes longer to load than most runs take to
 * read all their manifests; import it, and what imports it, lazily.
 *
 * The text must have no control characters: `yaml` uses some of them as marks between its lexer and its
 * parser.
 */
export function parseTree(text: string): Tree {
  const composer = new Composer({
    version: "1.2",
    schema: "core",
    keepSourceTokens: true,
    // Duplicates are looked for in `readSlow`, which names the line of the first one, and not in quadratic
    // time.
    uniqueKeys: false,
    // Else `!!binary`, `!!timestamp` and others of YAML 1.1 would come to life when written out.
    resolveKnownTags: false,
  });
  const tokens = [...new Parser().parse(text)];
  const documents = [...composer.compose(tokens, true, text.length)];
  const [first, ...further] = documents;
  if (first === undefined) throw new Error("a composer that is told to force a document made none");
  const begun = tokens.find((token) => token.type === "document");
  const gathered: Gathered = { unclosed: [], flows: [] };
  const root =
    first.contents === null
      ? emptyNode(text.length)
      : nodeOf(first.contents, begun?.type === "document" ? begun.start : [], gathered);
  // Tokens outside of every node.
  const stray = new Set(tokens.flatMap(({ type, offset }) => (type === "error" ? [offset] : [])));
  return {
    text,
    root,
    furtherDocuments: further.map((document) => document.range[0]),
    directives: tokens.flatMap((token) =>
      token.type === "directive" ? [{ offset: token.offset, text: token.source }] : [],
    ),
    faults: [
      ...documents.flatMap((document) => faultsOf(document, stray)),
      ...gathered.unclosed.map(({ end }) => ({
        offset: end,
        code: "MISSING_CHAR",
        words: "a closing mark is missing",
      })),
    ],
    ...gathered,
  };
}

function faultsOf(document: Document.Parsed, strayOffsets: ReadonlySet<number>): SyntaxFault[] {
  return document.errors.map(({ pos: [offset], code, message }) => ({
    offset,
    code: code === "UNEXPECTED_TOKEN" && strayOffsets.has(offset) ? "STRAY_TOKEN" : code,
    words: message,
  }));
}

/** What is noticed on the way through the nodes. */
type Gathered = { readonly unclosed: TextSpan[]; readonly flows: TextSpan[] };

/** Tokens before a node, on its side of the `-`, `?` or `:`; its anchor and its tag are among them. */
type Before = readonly CST.SourceToken[];

function nodeOf(node: ParsedNode, before: Before, gathered: Gathered): Node {
  const standing = standingOf(node, before);
  if (!isClosed(node)) gathered.unclosed.push({ start: standing.start, end: standing.end });
  if (isAlias(node)) return { kind: "alias", ...standing, name: node.source };
  if (!isMap(node) && !isSeq(node))
    return {
      kind: "scalar",
      ...standing,
      style: STYLES[node.type ?? "PLAIN"],
      text: node.source,
      value: node.value,
    };
  const flow = node.flow === true;
  if (flow) noteFlow(standing, gathered);
  if (isMap(node)) {
    const pairs = node.items.map((pair) => pairOf(pair, gathered));
    return { kind: "map", ...standing, end: flow ? standing.end : lastEnd(pairs, standing), flow, pairs };
  }
  const items = itemsOf(node, gathered);
  return { kind: "list", ...standing, end: flow ? standing.end : lastEnd(items, standing), flow, items };
}

/** For the parser a block ends after the comments that follow it; for us where its last value does. */
function lastEnd(entries: readonly { readonly value: Node }[], { end }: TextSpan): number {
  return entries.at(-1)?.value.end ?? end;
}

function noteFlow({ start, end }: TextSpan, gathered: Gathered): void {
  const last = gathered.flows.at(-1);
  if (last === undefined || last.end <= start) gathered.flows.push({ start, end });
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

function standingOf(node: ParsedNode, before: Before) {
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

function pairOf({ key, value, srcToken }: YamlPair<ParsedNode, ParsedNode | null>, gathered: Gathered): Pair {
  const before = srcToken?.start ?? [];
  const between = srcToken?.sep ?? [];
  const mark = before.find((token) => token.type === "explicit-key-ind");
  const keyNode = nodeOf(key, before, gathered);
  return {
    start: mark?.offset ?? keyNode.from,
    explicit: mark !== undefined,
    key: keyNode,
    colon: between.find((token) => token.type === "map-value-ind")?.offset,
    value: value === null ? emptyNode(keyNode.end) : nodeOf(value, between, gathered),
  };
}

function itemsOf(list: YAMLSeq.Parsed, gathered: Gathered): Item[] {
  const tokens = (list.srcToken?.items ?? []).filter(isItem);
  return list.items.map((item, at) => {
    const before = tokens[at]?.start ?? [];
    // The tokens before `[&x a: b]` belong to its key, not to the map that the pair makes.
    const value = nodeOf(item, item.srcToken === undefined && isMap(item) ? [] : before, gathered);
    const dash = before.find((token) => token.type === "seq-item-ind");
    return { start: dash?.offset ?? value.from, value };
  });
}

/** `yaml` keeps what stands between the last item and the end as an item without content. */
function isItem({ start, sep, value }: CST.CollectionItem): boolean {
  const marks = ["seq-item-ind", "explicit-key-ind", "anchor", "tag"];
  return value !== undefined || sep !== undefined || start.some((token) => marks.includes(token.type));
}

function emptyNode(at: number): ScalarNode {
  const standing = { start: at, end: at, from: at, anchor: undefined, tag: undefined };
  return { kind: "scalar", ...standing, style: "plain", text: "", value: null };
}

/**
 * The value of a tree, as far as it has one, and what keeps it from being plain data. Aliased parts are
 * shared.
 */
export function evaluate(
  root: Node,
  lineOf: (offset: number) => number,
): { readonly value: Json; readonly findings: readonly Finding[] } {
  const evaluation = new Evaluation(lineOf);
  const value = evaluation.value(root, 0);
  return { value, findings: evaluation.findings };
}

/** An anchored value; undefined while it is still being evaluated, when an alias to it would be a cycle. */
type Anchored = { done: { readonly value: Json; readonly size: number } | undefined };

class Evaluation {
  readonly findings: Finding[] = [];
  readonly #lineOf: (offset: number) => number;
  readonly #anchors = new Map<string, Anchored>();
  /** How many characters the aliases so far stand for. */
  #aliased = 0;

  constructor(lineOf: (offset: number) => number) {
    this.#lineOf = lineOf;
  }

  value(node: Node, depth: number): Json {
    if (node.anchor === undefined) return this.#content(node, depth);
    // Kept apart from the name, which an anchor inside of this one may take over.
    const anchored: Anchored = { done: undefined };
    this.#anchors.set(node.anchor, anchored);
    const aliasedBefore = this.#aliased;
    const value = this.#content(node, depth);
    const size = Math.max(1, node.end - node.start) + this.#aliased - aliasedBefore;
    anchored.done = { value, size };
    return value;
  }

  /** Notes what is wrong, in words for the person who wrote it: what was found, and what to write instead. */
  #found(offset: number, code: Finding["code"], message: string, hint?: string): null {
    this.findings.push({ offset, code, message, ...(hint === undefined ? {} : { hint }) });
    return null;
  }

  #content(node: Node, depth: number): Json {
    if (node.tag !== undefined && !fitsTag(node, node.tag))
      return this.#found(
        node.from,
        "tag",
        `the tag \`${node.tag}\` does not fit here: a manifest holds text, numbers, true, false, null, lists and maps`,
        "remove it; quote text that begins with `!`",
      );
    if (node.kind === "scalar") return this.#scalar(node);
    if (node.kind === "alias") return this.#alias(node);
    if (depth >= MAX_DEPTH)
      return this.#found(node.start, "too-deep", `maps and lists are nested more than ${MAX_DEPTH} deep`);
    return node.kind === "list" ? this.#list(node, depth) : this.#map(node, depth);
  }

  #scalar({ value, text, start }: ScalarNode): Json {
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    if (typeof value !== "number" || !Number.isFinite(value))
      return this.#found(start, "number", `\`${text}\` is not a finite number`, "quote it if it is text");
    if (plainValue(text) !== NOT_PLAIN_DATA) return value;
    const message = `the number \`${text}\` is too large to be kept exactly`;
    return this.#found(start, "number", message, "quote it if it is an identifier");
  }

  #list(node: ListNode, depth: number): Json {
    return node.items.map((item) => this.value(item.value, depth + 1));
  }

  #map(node: MapNode, depth: number): Json {
    const map: Record<string, Json> = {};
    const starts = new Map<string, number>();
    for (const pair of node.pairs) {
      const key = this.#key(pair);
      const value = this.value(pair.value, depth + 1);
      if (key === undefined) continue;
      const { start } = pair.key;
      const first = starts.get(key);
      if (first === undefined) starts.set(key, start);
      else {
        const message = `the key \`${key}\` was already set on line ${this.#lineOf(first)}`;
        this.#found(start, "duplicate-key", message, "keep one of them");
      }
      setOwn(map, key, value);
    }
    return map;
  }

  /** Undefined, and a finding, if the key is none. */
  #key({ key, colon, start }: Pair): string | undefined {
    if (key.kind !== "scalar") {
      const kind = key.kind === "alias" ? "an alias" : `a ${key.kind}`;
      const message = `a key must be text, and here it is ${kind}`;
      this.#found(key.start, "key", message, "quote it if it is text");
      return undefined;
    }
    // Only for the anchor and the tag: an anchored key can be referred to, and a key is text whatever it
    // looks like.
    this.value({ ...key, value: key.text }, 0);
    if (key.style !== "plain" || (key.text !== "" && key.text !== "<<")) return key.text;
    if (key.text === "")
      this.#found(colon ?? start, "key", "there is no key here", "write the key, or quote the text");
    else
      this.#found(
        key.start,
        "merge-key",
        "merge keys (`<<`) are not supported: they are not part of YAML 1.2",
        "write the keys out, or use `defaults`",
      );
    return undefined;
  }

  #alias({ name, start }: AliasNode): Json {
    const anchored = this.#anchors.get(name);
    if (anchored === undefined)
      return this.#found(
        start,
        "unknown-alias",
        `\`*${name}\` is an alias, and there is no anchor \`&${name}\` above it`,
        "quote text that begins with `*`",
      );
    if (anchored.done === undefined) {
      const message = `\`*${name}\` is inside the value that it refers to`;
      return this.#found(start, "cyclic-alias", message, "write the value itself here");
    }
    const before = this.#aliased;
    this.#aliased += anchored.done.size;
    if (before <= ALIAS_BUDGET && this.#aliased > ALIAS_BUDGET)
      this.#found(
        start,
        "alias-budget",
        `with this one, the aliases of the file stand for more than ${ALIAS_BUDGET} characters of text`,
        "aliases of aliases multiply; write them out",
      );
    return anchored.done.value;
  }
}

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
function fitsTag(node: Node, tag: string): boolean {
  if (tag === "!") return true;
  if (node.kind !== "scalar") return COLLECTION_TAGS[tag] === node.kind;
  return tag === "!!null" ? node.value === null : SCALAR_TAGS[tag] === typeof node.value;
}
