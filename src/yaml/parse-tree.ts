import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isSeq,
  type Pair as YamlPair,
  type ParsedNode,
  Parser,
  type Scalar,
  type YAMLSeq,
} from "yaml";
import type { Item, Node, Pair, ScalarNode, ScalarStyle, Span, SyntaxFault, Tree } from "./tree.ts";

/**
 * Parses a text into nodes with offsets, whatever is wrong with it: faults are listed and the tree holds what
 * could be made out. The only module that loads `yaml`, which takes longer to load than most runs take to
 * read all their manifests; import it, and what imports it, lazily.
 *
 * The text must have no control characters: `yaml` uses some of them as marks between its lexer and its
 * parser.
 */
export function parseTree(text: string): Tree {
  const { documents, directives, strayOffsets, beforeRoot } = compose(text);
  const [first, ...further] = documents;
  if (first === undefined) throw new Error("a composer that is told to force a document made none");
  const gathered: Gathered = { unclosed: [], flows: [] };
  const root =
    first.contents === null ? emptyNode(text.length) : nodeOf(first.contents, beforeRoot, gathered);
  return {
    text,
    root,
    furtherDocuments: further.map((document) => document.range[0]),
    directives,
    faults: [
      ...documents.flatMap((document) => faultsOf(document, strayOffsets)),
      ...gathered.unclosed.map(({ end }) => ({
        offset: end,
        code: "MISSING_CHAR",
        words: "a closing mark is missing",
      })),
    ],
    ...gathered,
  };
}

type Composed = {
  documents: Document.Parsed[];
  directives: { offset: number; text: string }[];
  /** Offsets of tokens outside of every node. */
  strayOffsets: Set<number>;
  beforeRoot: Before;
};

function compose(text: string): Composed {
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
  const composed: Composed = { documents: [], directives: [], strayOffsets: new Set(), beforeRoot: [] };
  for (const token of new Parser().parse(text)) {
    if (token.type === "directive") composed.directives.push({ offset: token.offset, text: token.source });
    if (token.type === "document" && composed.documents.length === 0) composed.beforeRoot = token.start;
    if (token.type === "error") composed.strayOffsets.add(token.offset);
    composed.documents.push(...composer.next(token));
  }
  composed.documents.push(...composer.end(true, text.length));
  return composed;
}

function faultsOf(document: Document.Parsed, strayOffsets: ReadonlySet<number>): SyntaxFault[] {
  return document.errors.map(({ pos: [offset], code, message }) => ({
    offset,
    code: code === "UNEXPECTED_TOKEN" && strayOffsets.has(offset) ? "STRAY_TOKEN" : code,
    words: message,
  }));
}

/** What is noticed on the way through the nodes. */
type Gathered = { readonly unclosed: Span[]; readonly flows: Span[] };

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
function lastEnd(entries: readonly { readonly value: Node }[], { end }: Span): number {
  return entries.at(-1)?.value.end ?? end;
}

function noteFlow({ start, end }: Span, gathered: Gathered): void {
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
