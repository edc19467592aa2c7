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
import type { Finding, YamlProblem } from "./problem.ts";
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
  placesOf,
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

  #content(node: Node, depth: number): Json {
    if (node.tag !== undefined && !fitsTag(node, node.tag)) return this.#found(unfitTag(node, node.tag));
    if (node.kind === "scalar") return this.#scalar(node);
    if (node.kind === "alias") return this.#alias(node);
    if (depth >= MAX_DEPTH) return this.#found(tooDeep(node));
    return node.kind === "list" ? this.#list(node, depth) : this.#map(node, depth);
  }

  #found(finding: Finding): null {
    this.findings.push(finding);
    return null;
  }

  #scalar(node: ScalarNode): Json {
    const { value } = node;
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    if (typeof value !== "number" || !Number.isFinite(value)) return this.#found(notFinite(node));
    const inexact = isIntegerText(node.text) && !Number.isSafeInteger(value);
    return inexact ? this.#found(inexactInteger(node)) : value;
  }

  #list(node: ListNode, depth: number): Json {
    return node.items.map((item) => this.value(item.value, depth + 1));
  }

  #map(node: MapNode, depth: number): Json {
    const map: Record<string, Json> = {};
    const seen = new Map<string, number>();
    for (const pair of node.pairs) {
      const key = this.#key(pair);
      const value = this.value(pair.value, depth + 1);
      if (key === undefined) continue;
      const first = seen.get(key);
      if (first === undefined) seen.set(key, pair.key.start);
      else this.#found(duplicate(pair, key, this.#lineOf(first)));
      setOwn(map, key, value);
    }
    return map;
  }

  /** Undefined, and a finding, if the key is none. */
  #key({ key, colon, start }: Pair): string | undefined {
    if (key.kind !== "scalar") {
      this.#found(structuredKey(key));
      return undefined;
    }
    // Only for the anchor and the tag: an anchored key can be referred to, and a key is text whatever it
    // looks like.
    this.value({ ...key, value: key.text }, 0);
    if (key.style !== "plain") return key.text;
    if (key.text === "") this.#found(missingKey(colon ?? start));
    else if (key.text === "<<") this.#found(mergeKey(key));
    else return key.text;
    return undefined;
  }

  #alias(node: AliasNode): Json {
    const anchored = this.#anchors.get(node.name);
    if (anchored === undefined) return this.#found(unknownAlias(node));
    if (anchored.done === undefined) return this.#found(cyclicAlias(node));
    const before = this.#aliased;
    this.#aliased += anchored.done.size;
    if (before <= ALIAS_BUDGET && this.#aliased > ALIAS_BUDGET) this.#found(overBudget(node));
    return anchored.done.value;
  }
}

/**
 * A plain scalar that YAML reads as a number which plain data cannot hold: infinite, not a number, or
 * inexact.
 */
export const NOT_PLAIN_DATA = Symbol("not plain data");

const INTEGER = /^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const NOT_FINITE = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

/**
 * What an unquoted scalar means in YAML 1.2 core, and in nothing else: `yes`, `ON`, `1_000`, `0b1`,
 * `2024-01-01` and `12:30` are text. The first character rules out nearly every text before a pattern is
 * tried.
 */
export function plainValue(text: string): Json | typeof NOT_PLAIN_DATA {
  switch (text.charCodeAt(0)) {
    case 0x7e: // ~
    case 0x6e: // n
    case 0x4e: // N
    case 0x74: // t
    case 0x54: // T
    case 0x66: // f
    case 0x46: // F
      return wordValue(text);
    case 0x2b: // +
    case 0x2d: // -
    case 0x2e: // .
    case 0x30:
    case 0x31:
    case 0x32:
    case 0x33:
    case 0x34:
    case 0x35:
    case 0x36:
    case 0x37:
    case 0x38:
    case 0x39:
      return numberValue(text);
    default:
      return text === "" ? null : text;
  }
}

function wordValue(text: string): Json {
  switch (text) {
    case "~":
    case "null":
    case "Null":
    case "NULL":
      return null;
    case "true":
    case "True":
    case "TRUE":
      return true;
    case "false":
    case "False":
    case "FALSE":
      return false;
    default:
      return text;
  }
}

function numberValue(text: string): number | string | typeof NOT_PLAIN_DATA {
  if (isIntegerText(text)) {
    const value = integerValue(text);
    return Number.isSafeInteger(value) ? value : NOT_PLAIN_DATA;
  }
  if (FLOAT.test(text)) {
    const value = Number.parseFloat(text);
    return Number.isFinite(value) ? value : NOT_PLAIN_DATA;
  }
  return NOT_FINITE.test(text) ? NOT_PLAIN_DATA : text;
}

/** Whether the text is written as an integer, so that its digits are meant to be kept one by one. */
function isIntegerText(text: string): boolean {
  return INTEGER.test(text);
}

function integerValue(text: string): number {
  if (text.startsWith("0o")) return Number.parseInt(text.slice(2), 8);
  if (text.startsWith("0x")) return Number.parseInt(text.slice(2), 16);
  return Number.parseInt(text, 10);
}

const CONTROL = new RegExp(String.raw`[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]`, "g");
const LONE_RETURN = /\r(?!\n)/g;

/**
 * Characters that YAML forbids, and line ends that its parsers disagree on. `cleaned` is the text without
 * them, of the same length, so that the rest of it can be parsed and keeps its places.
 */
export function findCharacters(text: string): {
  readonly cleaned: string;
  readonly findings: readonly Finding[];
} {
  const controls = [...text.matchAll(CONTROL)].map(({ 0: character, index }) => control(character, index));
  const returns = [...text.matchAll(LONE_RETURN)].slice(0, 1).map(({ index }) => loneReturn(index));
  const cleaned = text.replace(CONTROL, "\ufffd").replace(LONE_RETURN, "\n");
  return { cleaned, findings: [...controls, ...returns] };
}

function control(character: string, offset: number): Finding {
  const code = character.charCodeAt(0).toString(16);
  const escape = code.length > 2 ? `\\u${code}` : `\\x${code.padStart(2, "0")}`;
  return {
    offset,
    code: "control-character",
    message: `the control character U+${code.toUpperCase().padStart(4, "0")} is not allowed in a YAML file`,
    hint: `delete it, or write it as \`${escape}\` in double quotes`,
  };
}

/** Told once: a file either has such line ends everywhere, or by an accident that is easily seen. */
function loneReturn(offset: number): Finding {
  return {
    offset,
    code: "line-break",
    message: "a line ends in a carriage return alone, which YAML parsers do not agree on",
    hint: "save the file with LF or CRLF line endings",
  };
}

export type Decoded =
  | { readonly ok: true; readonly text: string; readonly bom: boolean }
  | { readonly ok: false; readonly problem: YamlProblem };

/**
 * Reads the bytes of a file as UTF-8. Line ends stay as they are.
 * A byte order mark is dropped; `bom` says that there was one, for whoever writes the file back.
 * The problem, if the bytes are not UTF-8, stands at the first byte that cannot be read.
 */
export function decodeUtf8(bytes: Uint8Array): Decoded {
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const text = decodes(bytes, false);
  return text === undefined ? { ok: false, problem: undecodable(bytes) } : { ok: true, text, bom };
}

/** The same for what is text already. */
export function decodedText(text: string): Decoded {
  const bom = text.startsWith("\ufeff");
  return { ok: true, text: bom ? text.slice(1) : text, bom };
}

/** `partial`: the bytes may end inside a character. */
function decodes(bytes: Uint8Array, partial: boolean): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: partial });
  } catch {
    return undefined;
  }
}

function undecodable(bytes: Uint8Array): YamlProblem {
  const text = readablePrefix(bytes);
  const place = placesOf(text)(text.length);
  return {
    ...place,
    code: "encoding",
    message: "the file is not UTF-8 text: the bytes from here on are no valid character",
    hint: looksLikeUtf16(bytes)
      ? "it looks like UTF-16; save it as UTF-8"
      : "save it as UTF-8; a different encoding or a binary file cannot be read",
  };
}

/**
 * The longest start that decodes. Found by halving, since "these bytes can begin a UTF-8 text" only ever
 * turns from true to false as bytes are added; the decoder itself does not tell where it stumbled.
 */
function readablePrefix(bytes: Uint8Array): string {
  let good = 0;
  let bad = bytes.length + 1;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (decodes(bytes.subarray(0, middle), true) === undefined) bad = middle;
    else good = middle;
  }
  return decodes(bytes.subarray(0, good), true) ?? "";
}

function looksLikeUtf16(bytes: Uint8Array): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}

// What makes a text that is YAML no plain data, in words for the person who wrote it.

function duplicate({ key }: Pair, text: string, line: number): Finding {
  return {
    offset: key.start,
    code: "duplicate-key",
    message: `the key \`${text}\` was already set on line ${line}`,
    hint: "keep one of them",
  };
}

function structuredKey(key: Node): Finding {
  const kind = key.kind === "alias" ? "an alias" : `a ${key.kind}`;
  return {
    offset: key.start,
    code: "key",
    message: `a key must be text, and here it is ${kind}`,
    hint: "quote it if it is text",
  };
}

function missingKey(offset: number): Finding {
  return {
    offset,
    code: "key",
    message: "there is no key here",
    hint: "write the key, or quote the text",
  };
}

function mergeKey(key: ScalarNode): Finding {
  return {
    offset: key.start,
    code: "merge-key",
    message: "merge keys (`<<`) are not supported: they are not part of YAML 1.2",
    hint: "write the keys out, or use `defaults`",
  };
}

function unfitTag(node: Node, tag: string): Finding {
  return {
    offset: node.from,
    code: "tag",
    message: `the tag \`${tag}\` does not fit here: a manifest holds text, numbers, true, false, null, lists and maps`,
    hint: "remove it; quote text that begins with `!`",
  };
}

function notFinite(node: ScalarNode): Finding {
  return {
    offset: node.start,
    code: "number",
    message: `\`${node.text}\` is not a finite number`,
    hint: "quote it if it is text",
  };
}

function inexactInteger(node: ScalarNode): Finding {
  return {
    offset: node.start,
    code: "number",
    message: `the number \`${node.text}\` is too large to be kept exactly`,
    hint: "quote it if it is an identifier",
  };
}

function unknownAlias(node: AliasNode): Finding {
  return {
    offset: node.start,
    code: "unknown-alias",
    message: `\`*${node.name}\` is an alias, and there is no anchor \`&${node.name}\` above it`,
    hint: "quote text that begins with `*`",
  };
}

function cyclicAlias(node: AliasNode): Finding {
  return {
    offset: node.start,
    code: "cyclic-alias",
    message: `\`*${node.name}\` is inside the value that it refers to`,
    hint: "write the value itself here",
  };
}

function overBudget(node: AliasNode): Finding {
  return {
    offset: node.start,
    code: "alias-budget",
    message: `with this one, the aliases of the file stand for more than ${ALIAS_BUDGET} characters of text`,
    hint: "aliases of aliases multiply; write them out",
  };
}

function tooDeep(node: Node): Finding {
  return {
    offset: node.start,
    code: "too-deep",
    message: `maps and lists are nested more than ${MAX_DEPTH} deep`,
  };
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
