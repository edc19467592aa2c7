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
import { type Json, setOwn } from "../../model/json.ts";
import type { AliasNode, Entry, Node, NodeBase, ScalarNode } from "./nodes.ts";
import { NOT_PLAIN_DATA, plainValue } from "./scalars.ts";
import { type Finding, MAX_DEPTH, type TextSpan, findCharacters, placesOf } from "./text.ts";

export type SyntaxFault = {
  readonly offset: number;
  readonly code: string;
  readonly words: string;
};

export type Tree = {
  /** The text without control characters, as long as the original. */
  readonly text: string;
  /** The first document's content; an empty plain scalar if there is none. */
  readonly root: Node;
  readonly faults: readonly SyntaxFault[];
  /** The reasons why it is not one document of plain data. */
  readonly findings: readonly Finding[];
  /** Brackets, braces and quotes that are never closed. */
  readonly unclosed: readonly TextSpan[];
  /** The outermost maps and lists in braces and brackets. */
  readonly flows: readonly TextSpan[];
};

/**
 * Parses a text into nodes, valid or not: faults and findings are listed, and the tree contains the
 * parts that could be read. This is the only module that loads `yaml`, which takes longer to load
 * than most runs take to read all their manifests. Import it, and modules that import it, lazily.
 */
export function parseTree(source: string): Tree {
  // `yaml` uses some control characters as marks between its lexer and its parser.
  const { cleaned: text, findings } = findCharacters(source);
  const composer = new Composer({
    version: "1.2",
    schema: "core",
    keepSourceTokens: true,
    // Duplicates are searched for below, with the line of the first one, and not in quadratic time.
    uniqueKeys: false,
    // Otherwise explicit tags of YAML 1.1, such as `!!binary` and `!!timestamp`, would take effect.
    resolveKnownTags: false,
  });
  const tokens = [...new Parser().parse(text)];
  const documents = [...composer.compose(tokens, true, text.length)];
  const [first, ...further] = documents;
  if (first === undefined) throw new Error("a composer that is told to force a document made none");
  for (const token of tokens)
    if (token.type === "directive" && !/^%YAML\s+1\.2\s*$/.test(token.source))
      findings.push({
        offset: token.offset,
        code: "directive",
        message: `\`${token.source.trim()}\` is not supported: a manifest is YAML 1.2 without directives`,
        hint: "delete this line and write the tags in full",
      });
  for (const { range } of further)
    findings.push({
      offset: range[0],
      code: "multiple-documents",
      message: "a second document begins here",
      hint: "tasc.yaml holds one document; in other manifest files, begin each document with `---`",
    });
  const begun = tokens.find((token) => token.type === "document");
  const before = begun?.type === "document" ? begun.start : [];
  const builder = new TreeBuilder(text, findings);
  const root =
    first.contents === null ? emptyNode(text.length) : builder.node(first.contents, before, 0);
  const stray = new Set(tokens.flatMap(({ type, offset }) => (type === "error" ? [offset] : [])));
  const faults = documents.flatMap(({ errors }) =>
    errors.map(({ pos: [offset], code, message }) => ({
      offset,
      code: code === "UNEXPECTED_TOKEN" && stray.has(offset) ? "STRAY_TOKEN" : code,
      words: message,
    })),
  );
  const { unclosed, flows } = builder;
  for (const { end } of unclosed)
    faults.push({ offset: end, code: "MISSING_CHAR", words: "a closing mark is missing" });
  return { text, root, faults, findings, unclosed, flows };
}

/**
 * The tokens before a node, on its side of the `-`, `?` or `:`. They include its anchor and its
 * tag.
 */
type Before = readonly CST.SourceToken[];

/**
 * Maximum number of characters that all aliases together may stand for; the number of aliases says
 * little about this.
 */
export const ALIAS_BUDGET = 250_000;

class TreeBuilder {
  readonly unclosed: TextSpan[] = [];
  readonly flows: TextSpan[] = [];
  readonly #findings: Finding[];
  readonly #placeOf: ReturnType<typeof placesOf>;
  /**
   * By anchor: the node, once it has been read to its end, and the size of its text with aliases
   * written out.
   */
  readonly #anchors = new Map<string, { node?: Node; size: number }>();
  #aliased = 0;

  constructor(text: string, findings: Finding[]) {
    this.#placeOf = placesOf(text);
    this.#findings = findings;
  }

  /**
   * Builds nodes, in the order of the text.
   * @param isKey whether it is a key, which is always read as text
   */
  node(parsed: ParsedNode, before: Before, depth: number, isKey = false): Node {
    const [start, end] = parsed.range;
    const [anchor, tag] = ["anchor", "tag"].map((type) =>
      before.find((token) => token.type === type),
    );
    const from = Math.min(start, anchor?.offset ?? start, tag?.offset ?? start);
    const base = { start, end, from, anchor: anchor?.source.slice(1), tag: tag?.source };
    if (!isClosed(parsed)) this.unclosed.push({ start, end });
    // Kept in a variable of its own, because an anchor inside this node may reuse the name.
    const anchored: { node?: Node; size: number } = { size: 0 };
    if (base.anchor !== undefined) this.#anchors.set(base.anchor, anchored);
    const [known, aliased] = [this.#findings.length, this.#aliased];
    let node = this.#content(parsed, base, depth, isKey);
    const isTooDeep = depth >= MAX_DEPTH && (node.kind === "map" || node.kind === "list");
    const scalar = !isKey && isScalar(parsed) ? parsed.value : isKey ? "" : undefined;
    const isUnfit = base.tag !== undefined && !fitsTag(base.tag, node.kind, scalar);
    if (isTooDeep || isUnfit) {
      // Findings inside it are dropped.
      this.#findings.length = known;
      node = { ...node, value: null };
    }
    if (isUnfit)
      this.#found(
        from,
        "tag",
        `the tag \`${base.tag}\` does not fit here: a manifest holds text, numbers, true, false, null, lists and maps`,
        "remove it; quote text that begins with `!`",
      );
    else if (isTooDeep)
      this.#found(start, "too-deep", `maps and lists are nested more than ${MAX_DEPTH} deep`);
    anchored.node = node;
    anchored.size = Math.max(1, node.end - start) + this.#aliased - aliased;
    return node;
  }

  #found(offset: number, code: string, message: string, hint?: string): null {
    this.#findings.push({ offset, code, message, ...(hint === undefined ? {} : { hint }) });
    return null;
  }

  #content(parsed: ParsedNode, base: Omit<NodeBase, "value">, depth: number, isKey: boolean): Node {
    const { start, end } = base;
    if (isAlias(parsed)) {
      const name = parsed.source;
      return { kind: "alias", ...base, name, ...this.#alias(name, start) };
    }
    if (!isMap(parsed) && !isSeq(parsed)) {
      const text = parsed.source;
      const value = isKey ? text : this.#scalar(parsed.value, text, start);
      return { kind: "scalar", ...base, style: STYLES[parsed.type ?? "PLAIN"], text, value };
    }
    const flow = parsed.flow === true;
    const last = this.flows.at(-1);
    if (flow && (last === undefined || last.end <= start)) this.flows.push({ start, end });
    // Deeper nesting is refused anyway, and following it would run out of stack.
    if (depth > MAX_DEPTH) return { ...base, kind: "list", flow, entries: [], value: null };
    const inner = isMap(parsed) ? this.#map(parsed, depth) : this.#list(parsed, flow, depth);
    // The parser ends a block after the comments that follow it; here it ends after its last value.
    return { ...base, ...inner, flow, end: flow ? end : (inner.entries.at(-1)?.end ?? end) };
  }

  #scalar(value: unknown, text: string, start: number): Json {
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    if (typeof value !== "number" || !Number.isFinite(value))
      return this.#found(
        start,
        "number",
        `\`${text}\` is not a finite number`,
        "quote it if it is text",
      );
    if (plainValue(text) !== NOT_PLAIN_DATA) return value;
    const message = `the number \`${text}\` is too large to be kept exactly`;
    return this.#found(start, "number", message, "quote it if it is an identifier");
  }

  #alias(name: string, start: number): Pick<AliasNode, "target" | "value"> {
    const anchored = this.#anchors.get(name);
    const target = anchored?.node;
    if (anchored === undefined)
      this.#found(
        start,
        "unknown-alias",
        `\`*${name}\` is an alias, and there is no anchor \`&${name}\` above it`,
        "quote text that begins with `*`",
      );
    else if (target === undefined) {
      const message = `\`*${name}\` is inside the value that it refers to`;
      this.#found(start, "cyclic-alias", message, "write the value itself here");
    } else {
      const before = this.#aliased;
      this.#aliased += anchored.size;
      if (before <= ALIAS_BUDGET && this.#aliased > ALIAS_BUDGET)
        this.#found(
          start,
          "alias-budget",
          `with this one, the aliases of the file stand for more than ${ALIAS_BUDGET} characters of text`,
          "aliases of aliases multiply; write them out",
        );
    }
    return { target, value: target?.value ?? null };
  }

  #list(parsed: YAMLSeq.Parsed, flow: boolean, depth: number) {
    const tokens = (parsed.srcToken?.items ?? []).filter(isItem);
    const entries = parsed.items.map((item, at): Entry => {
      const before = tokens[at]?.start ?? [];
      // The tokens before `[&x a: b]` belong to its key, not to the map that the pair makes.
      const value = this.node(
        item,
        item.srcToken === undefined && isMap(item) ? [] : before,
        depth + 1,
      );
      const start = before.find((token) => token.type === "seq-item-ind")?.offset ?? value.from;
      // In block style an item may consist only of its dash.
      return { start, end: flow ? value.end : Math.max(value.end, start + 1), ...NO_KEY, value };
    });
    return { kind: "list" as const, entries, value: entries.map(({ value }) => value.value) };
  }

  #map(parsed: YAMLMap.Parsed, depth: number) {
    const value: Record<string, Json> = {};
    const starts = new Map<string, number>();
    const entries = parsed.items.map((item) => {
      const entry = this.#pair(item, depth);
      const { key } = entry;
      if (key.kind !== "scalar") return entry;
      if (key.style === "plain" && (key.text === "" || key.text === "<<")) return entry;
      const first = starts.get(key.text);
      if (first === undefined) starts.set(key.text, key.start);
      else {
        const message = `the key \`${key.text}\` was already set on line ${this.#placeOf(first).line}`;
        this.#found(key.start, "duplicate-key", message, "keep one of them");
      }
      setOwn(value, key.text, entry.value.value);
      return entry;
    });
    return { kind: "map" as const, entries, value };
  }

  #pair({ key, value, srcToken }: YamlPair<ParsedNode, ParsedNode | null>, depth: number) {
    const before = srcToken?.start ?? [];
    const between = srcToken?.sep ?? [];
    const known = this.#findings.length;
    const keyNode = this.node(key, before, depth + 1, true);
    const start = before.find((token) => token.type === "explicit-key-ind")?.offset ?? keyNode.from;
    const colon = between.find((token) => token.type === "map-value-ind")?.offset;
    if (keyNode.kind !== "scalar") {
      this.#findings.length = known;
      const kind = keyNode.kind === "alias" ? "an alias" : `a ${keyNode.kind}`;
      const message = `a key must be text, and here it is ${kind}`;
      this.#found(keyNode.start, "key", message, "quote it if it is text");
    } else if (keyNode.style === "plain" && keyNode.text === "")
      this.#found(
        colon ?? start,
        "key",
        "there is no key here",
        "write the key, or quote the text",
      );
    else if (keyNode.style === "plain" && keyNode.text === "<<")
      this.#found(
        keyNode.start,
        "merge-key",
        "merge keys (`<<`) are not supported: they are not part of YAML 1.2",
        "write the keys out, or use `defaults`",
      );
    const valueNode =
      value === null ? emptyNode(keyNode.end) : this.node(value, between, depth + 1);
    const end = Math.max(keyNode.end, colon === undefined ? 0 : colon + 1, valueNode.end);
    return { start, end, key: keyNode, colon, value: valueNode };
  }
}

const NO_KEY = { key: undefined, colon: undefined };

/**
 * Whether brackets and quotes are closed. The parser itself misses `"a\"` and `'a''` at the very
 * end of a text.
 */
function isClosed({ srcToken: token }: ParsedNode): boolean {
  if (token?.type === "flow-collection")
    return token.end[0]?.source === (token.start.source === "{" ? "}" : "]");
  if (token?.type === "single-quoted-scalar")
    return (
      /^'[^]*'$/.test(token.source) && !token.source.slice(1, -1).replaceAll("''", "").includes("'")
    );
  if (token?.type === "double-quoted-scalar")
    return /^"[^]*"$/.test(token.source) && !/(?<!\\)(?:\\\\)*\\"$/.test(token.source);
  return true;
}

const STYLES: Readonly<Record<Scalar.Type, ScalarNode["style"]>> = {
  PLAIN: "plain",
  QUOTE_SINGLE: "single",
  QUOTE_DOUBLE: "double",
  BLOCK_LITERAL: "literal",
  BLOCK_FOLDED: "folded",
};

/**
 * Whether it is an item. `yaml` stores tokens between the last item and the end as an item without
 * content.
 */
function isItem({ start, sep, value }: CST.CollectionItem): boolean {
  const marks = ["seq-item-ind", "explicit-key-ind", "anchor", "tag"];
  return (
    value !== undefined || sep !== undefined || start.some((token) => marks.includes(token.type))
  );
}

function emptyNode(at: number): ScalarNode {
  const base = { start: at, end: at, from: at, anchor: undefined, tag: undefined };
  return { kind: "scalar", ...base, style: "plain", text: "", value: null };
}

const TAGS: Readonly<Record<string, string>> = {
  "!!map": "map",
  "!!seq": "list",
  "!!str": "string",
  "!!int": "number",
  "!!float": "number",
  "!!bool": "boolean",
};

/**
 * Whether a tag is one of YAML's own and fits the node. For any other tag the parser chose a value.
 */
function fitsTag(tag: string, kind: Node["kind"], scalar: unknown): boolean {
  if (tag === "!") return true;
  if (tag === "!!null") return kind === "scalar" && scalar === null;
  return TAGS[tag] === (kind === "scalar" ? typeof scalar : kind);
}
