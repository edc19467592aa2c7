import { type Json, setOwn } from "../../model/json.ts";
import { MarkedTree, Marks } from "./marked-tree.ts";
import type { Node } from "./nodes.ts";
import {
  Deferred,
  NOT_PLAIN_DATA,
  defer,
  folded,
  linesBelow,
  once,
  plainValue,
} from "./scalars.ts";
import { MAX_DEPTH, MAX_KEY_LENGTH } from "./text.ts";

const NEWLINE = 0x0a;
const SPACE = 0x20;
const QUOTE = 0x22;
const HASH = 0x23;
const APOSTROPHE = 0x27;
const COMMA = 0x2c;
const DASH = 0x2d;
const COLON = 0x3a;
const LIST = 0x5b;
const BACKSLASH = 0x5c;
const LIST_END = 0x5d;
const MAP = 0x7b;
const MAP_END = 0x7d;

/** The indentation after the last line. */
const END = -1;

/**
 * Tabs, control characters, and line ends other than LF. A text with any of them is left to the
 * careful parser.
 */
const UNUSUAL = /[^\n\u0020-\u007e\u00a0-\u2027\u202a-\ufefe\uff00-\ufffd]/;

/**
 * Reads a text in the everyday part of YAML, many times faster than a parser with positions and
 * messages can: maps and lists in block style, values on one line, brackets, block scalars. Anchors
 * and aliases are not included.
 *
 * It never reports a mistake, and never guesses: if it cannot read a text with certainty, it
 * returns `undefined` and leaves the text to `readSlow`. Otherwise its result is that of
 * `readSlow`, which is tested with generated texts.
 *
 * @param marks receives the place of each node
 * @returns the value, or `undefined` if `readSlow` must decide
 */
export function readFast(text: string, marks?: Marks): Json | undefined {
  // Marks refer to the original text, so its line ends must not change.
  const lines = marks === undefined && text.includes("\r") ? text.replaceAll("\r\n", "\n") : text;
  if (UNUSUAL.test(lines)) return undefined;
  try {
    return new FastReader(lines, marks).document();
  } catch (error) {
    if (error instanceof Deferred) return undefined;
    throw error;
  }
}

/**
 * Returns the root of a text's tree, many times faster than parsing; `undefined` if the fast reader
 * cannot read it.
 */
export function everydayRoot(text: string): Node | undefined {
  const marks = new Marks();
  const value = readFast(text, marks);
  return value === undefined ? undefined : new MarkedTree(text, marks.list).node(value);
}

/** A key of everyday characters, without its colon. */
const PLAIN_KEY = /[\w$~](?:[\w$./ -]*[\w$./-])?(?=:[ \n])/y;
const PLAIN_FLOW_KEY = /[\w$](?:[\w$./ -]*[\w$./-])?/y;
const PLAIN_IN_FLOW = /(?:[^\s\-?:,[\]{}#&*!|>'"%@`]|-(?=[^\s,[\]{}]))[^\n,[\]{}]*/y;
/**
 * The header of a block scalar, without indicators of indentation or of empty lines that are kept.
 */
const HEADER = /[|>]-?/y;
/**
 * Characters that begin something other than a plain scalar. A dash is not one of them, because it
 * may begin one.
 */
const INDICATORS = "?:,[]{}#&*!|>'\"%@`";
/** Escapes with the same meaning in YAML and in JSON. */
const JSON_ESCAPES = /\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4})/g;

/**
 * The last plain key that was found after a key, or first in a map with an indentation. Manifests
 * repeat the same keys in the same order, and checking that the expected key is there costs a
 * fraction of finding out which key it is.
 */
const EXPECTED = new Map<string | number, string>();
const MOST_EXPECTED = 1000;

/** Lists on one line, by their text: manifests repeat their tags, and share a repeated list. */
const LISTS = new Map<string, Json>();
const MOST_LISTS = 1000;
const LONGEST_LIST = 200;

/** Reads from a position in the text, which is at the content of a line, or after the last line. */
class FastReader {
  private readonly text: string;
  /**
   * Whether the last line end was in the text: parsers disagree on a block scalar that ends without
   * one.
   */
  private readonly isEnded: boolean;
  private at = 0;
  /**
   * Column of the line's first character that is not a space; for a map or list after a dash, its
   * own column.
   */
  private indent = 0;
  private depth = 0;
  private readonly marks: Marks | undefined;

  constructor(text: string, marks?: Marks) {
    this.marks = marks;
    this.isEnded = text.endsWith("\n");
    this.text = this.isEnded ? text : `${text}\n`;
  }

  document(): Json | undefined {
    this.toContent(0);
    if (this.indent === 0 && this.text.startsWith("---\n", this.at)) this.toContent(this.at + 4);
    if (this.indent === END) return undefined;
    const value = this.isFlow() ? this.flowLines(END) : this.block();
    return this.indent === END ? value : undefined;
  }

  private code(): number {
    return this.text.charCodeAt(this.at);
  }

  private isSpaceOrEnd(at: number): boolean {
    const code = this.text.charCodeAt(at);
    return code === SPACE || code === NEWLINE;
  }

  private isDash(): boolean {
    return this.code() === DASH && this.isSpaceOrEnd(this.at + 1);
  }

  private isFlow(): boolean {
    const code = this.code();
    return code === LIST || code === MAP;
  }

  private pastSpaces(at: number): number {
    let past = at;
    while (this.text.charCodeAt(past) === SPACE) past++;
    return past;
  }

  /** Goes on to the next line that has content. @param start of a line */
  private toContent(start: number): void {
    const text = this.text;
    for (let line = start; line < text.length; line = text.indexOf("\n", line) + 1) {
      const at = this.pastSpaces(line);
      const code = text.charCodeAt(at);
      if (code === NEWLINE || code === HASH) continue;
      this.at = at;
      this.indent = at - line;
      return;
    }
    this.at = text.length;
    this.indent = END;
  }

  /** Returns the start of the next line. The rest of this line may only be a comment. */
  private nextLine(): number {
    const at = this.pastSpaces(this.at);
    const code = this.text.charCodeAt(at);
    if (code !== NEWLINE && (code !== HASH || at === this.at)) defer();
    return this.text.indexOf("\n", at) + 1;
  }

  /**
   * Returns the end of a sticky pattern's match at a place; the place itself if the pattern does
   * not match.
   */
  private endOf(pattern: RegExp, at: number): number {
    pattern.lastIndex = at;
    return pattern.test(this.text) ? pattern.lastIndex : at;
  }

  private take(pattern: RegExp): string {
    const from = this.at;
    this.at = this.endOf(pattern, from);
    return this.at === from ? defer() : this.text.slice(from, this.at);
  }

  /**
   * Reads a whole map or list in block style from its first line, up to the first line with less
   * indentation.
   */
  private block(): Json {
    if (++this.depth > MAX_DEPTH) defer();
    const mark = this.marks?.add(this.at, END);
    const value = this.isDash() ? this.blockList(this.indent) : this.blockMap(this.indent);
    this.marks?.close(mark);
    this.depth--;
    return value;
  }

  private blockMap(indent: number): Json {
    const map: Record<string, Json> = {};
    let last: string | number = indent;
    do {
      const start = this.at;
      const key = this.blockKey(last);
      this.marks?.add(start, this.at - 1);
      if (Object.hasOwn(map, key)) defer();
      setOwn(map, key, this.valueBehind(indent, true));
      last = key;
    } while (this.indent === indent);
    if (this.indent > indent) defer();
    return map;
  }

  private blockKey(last: string | number): string {
    const expected = EXPECTED.get(last);
    if (expected !== undefined && this.isKeyHere(expected)) {
      this.at += expected.length + 1;
      return expected;
    }
    const code = this.code();
    const isQuoted = code === QUOTE || code === APOSTROPHE;
    const key = isQuoted ? this.quoted(code) : this.take(PLAIN_KEY);
    if (key.length > MAX_KEY_LENGTH / 2 || !this.isKeyHere("")) defer();
    this.at++;
    if (!isQuoted && (EXPECTED.size < MOST_EXPECTED || EXPECTED.has(last))) EXPECTED.set(last, key);
    return key;
  }

  /**
   * Whether a key that `PLAIN_KEY` found elsewhere is also here: it has no colon, so it ends at the
   * first one.
   */
  private isKeyHere(key: string): boolean {
    const end = this.at + key.length;
    const text = this.text;
    return (
      text.charCodeAt(end) === COLON && text.startsWith(key, this.at) && this.isSpaceOrEnd(end + 1)
    );
  }

  private blockList(indent: number): Json {
    const items: Json[] = [];
    do {
      if (!this.isDash()) defer();
      const dash = this.at++;
      this.marks?.add(dash, this.at);
      this.at = this.pastSpaces(this.at);
      const isInner = this.isDash() || this.endOf(PLAIN_KEY, this.at) > this.at;
      if (isInner) {
        this.indent = indent + this.at - dash;
        items.push(this.block());
      } else {
        this.at = dash + 1;
        items.push(this.valueBehind(indent, false));
      }
    } while (this.indent === indent && this.isDash());
    if (this.indent > indent) defer();
    // A copy without the room for further items: a list of three would keep that of seventeen.
    return items.slice();
  }

  /**
   * Reads the value after a key or a dash, on its line or below.
   * @param flush whether a list may be in the key's column
   */
  private valueBehind(indent: number, flush: boolean): Json {
    const from = this.at;
    const start = this.pastSpaces(from);
    this.at = start;
    const code = this.code();
    if (code === NEWLINE || (code === HASH && start > from)) {
      const below = this.valueBelow(indent, flush);
      if (below === null) this.marks?.add(start, start);
      return below;
    }
    if (code === 0x7c || code === 0x3e) return this.blockScalar(indent);
    if (code === LIST || code === MAP) return this.flowLines(indent);
    const value = code === QUOTE || code === APOSTROPHE ? this.quoted(code) : this.plainInLine();
    this.marks?.add(start, this.at);
    return this.ended(value, indent);
  }

  /**
   * Ends a value on its line. A next line with more indentation would be a text over several lines,
   * or a mistake.
   */
  private ended(value: Json, indent: number): Json {
    this.toContent(this.nextLine());
    return this.indent > indent ? defer() : value;
  }

  private valueBelow(indent: number, flush: boolean): Json {
    this.toContent(this.text.indexOf("\n", this.at) + 1);
    if (this.indent > indent) return this.isFlow() ? this.flowLines(indent) : this.block();
    return flush && this.indent === indent && this.isDash() ? this.block() : null;
  }

  private plainInLine(): Json {
    const [text, at] = [this.text, this.at];
    if (INDICATORS.includes(text.charAt(at)) || this.isDash()) defer();
    // Up to the last character, before a comment or the end of the line, that is not a space.
    let end = at;
    for (let next = at; ; next++) {
      const code = text.charCodeAt(next);
      if (code === NEWLINE || (code === HASH && next > end)) break;
      if (code === SPACE) continue;
      if (code === COLON && this.isSpaceOrEnd(next + 1)) defer();
      end = next + 1;
    }
    this.at = end;
    return plain(text.slice(at, end));
  }

  private blockScalar(parent: number): string {
    const start = this.at;
    const header = this.take(HEADER);
    const { lines, last, end } = linesBelow(this.text, this.nextLine(), parent);
    // The careful parser decides how far a block of empty lines goes.
    if (lines.length === 0 && this.marks !== undefined) defer();
    this.marks?.add(start, last);
    if (end === this.text.length && !this.isEnded) defer();
    this.toContent(end);
    // A comment between the two indentations, which parsers disagree on.
    if (this.indent > parent) defer();
    const [only = ""] = lines;
    const text =
      lines.length === 1 ? once(only) : header.startsWith("|") ? lines.join("\n") : folded(lines);
    return text === "" || header.endsWith("-") ? text : `${text}\n`;
  }

  /**
   * Reads a list or map, from `[` or `{`, that ends its line. Its further lines must be indented
   * deeper than `parent`.
   */
  private flowLines(parent: number): Json {
    return this.ended(this.flow(parent), parent);
  }

  private flow(parent: number): Json {
    if (++this.depth > MAX_DEPTH) defer();
    const mark = this.marks?.add(this.at, END);
    const value = this.code() === LIST ? this.flowList(parent) : this.flowMap(parent);
    this.marks?.close(mark, this.at);
    this.depth--;
    return value;
  }

  private flowList(parent: number): Json {
    const end = this.text.indexOf("]", this.at) + 1;
    const written = end - this.at > LONGEST_LIST ? "" : this.text.slice(this.at, end);
    const known = this.marks === undefined ? LISTS.get(written) : undefined;
    if (known !== undefined) {
      this.at = end;
      return known;
    }
    const items: Json[] = [];
    while (this.entersFlow(parent, LIST_END)) {
      items.push(this.flowValue(parent));
      this.endEntry(parent, LIST_END);
    }
    const list = items.slice();
    const isShort = written !== "" && !written.includes("\n");
    if (isShort && this.at === end && LISTS.size < MOST_LISTS) LISTS.set(written, list);
    return list;
  }

  private flowMap(parent: number): Json {
    const map: Record<string, Json> = {};
    while (this.entersFlow(parent, MAP_END)) {
      const start = this.at;
      const code = this.code();
      const key =
        code === QUOTE || code === APOSTROPHE ? this.quoted(code) : this.take(PLAIN_FLOW_KEY);
      if (this.code() !== COLON || !/[ \n,}]/.test(this.text.charAt(this.at + 1))) defer();
      const colon = this.at++;
      this.marks?.add(start, colon);
      if (Object.hasOwn(map, key)) defer();
      this.skipGap(parent);
      const isEmpty = this.code() === COMMA || this.code() === MAP_END;
      const past = isEmpty ? this.pastSpaces(colon + 1) : 0;
      if (isEmpty) this.marks?.add(past, past);
      setOwn(map, key, isEmpty ? null : this.flowValue(parent));
      this.endEntry(parent, MAP_END);
    }
    return map;
  }

  /**
   * Goes from a bracket or comma to the next entry, or past the closing bracket. Returns whether
   * there is an entry.
   */
  private entersFlow(parent: number, closer: number): boolean {
    if (this.code() !== closer) {
      this.at++;
      this.skipGap(parent);
    }
    if (this.code() !== closer) return true;
    this.at++;
    return false;
  }

  private endEntry(parent: number, closer: number): void {
    this.skipGap(parent);
    const code = this.code();
    if (code !== COMMA && code !== closer) defer();
  }

  private flowValue(parent: number): Json {
    const code = this.code();
    if (code === LIST || code === MAP) return this.flow(parent);
    const start = this.at;
    const isQuoted = code === QUOTE || code === APOSTROPHE;
    const token = isQuoted ? this.quoted(code) : this.take(PLAIN_IN_FLOW);
    this.marks?.add(start, isQuoted ? this.at : start + token.trimEnd().length);
    if (isQuoted) return token;
    // White space other than spaces may be a part of the value.
    return /: |:$| #|[^\S ]/.test(token) ? defer() : plain(token.trimEnd());
  }

  /** Skips spaces and line ends. Comments between brackets are left to the careful parser. */
  private skipGap(parent: number): void {
    let lineStart = END;
    for (;;) {
      const code = this.code();
      if (code === NEWLINE) lineStart = this.at + 1;
      else if (code !== SPACE) break;
      this.at++;
    }
    if (lineStart >= 0 && this.at - lineStart <= parent) defer();
    // A line that begins like this ends the document, even inside brackets.
    if (this.at === lineStart && /^(?:---|\.\.\.)/.test(this.text.slice(lineStart, lineStart + 3)))
      defer();
  }

  /**
   * Reads a quoted text on one line. Its end is searched for: a regular expression runs out of
   * stack on megabytes.
   */
  private quoted(quote: number): string {
    const [text, from] = [this.text, this.at];
    const isDouble = quote === QUOTE;
    const mark = isDouble ? '"' : "'";
    let end = text.indexOf(mark, from + 1);
    while (end >= 0 && (isDouble ? isEscaped(text, end) : text.charCodeAt(end + 1) === quote))
      end = text.indexOf(mark, end + (isDouble ? 1 : 2));
    if (end < 0) defer();
    const token = text.slice(from, end + 1);
    if (token.includes("\n")) defer();
    this.at = end + 1;
    if (!isDouble) return once(token.slice(1, -1).replaceAll("''", "'"));
    if (!token.includes("\\")) return once(token.slice(1, -1));
    if (token.replaceAll(JSON_ESCAPES, "").includes("\\")) defer();
    const parsed: unknown = JSON.parse(token);
    return typeof parsed === "string" ? parsed : defer();
  }
}

function isEscaped(text: string, quote: number): boolean {
  let first = quote;
  while (text.charCodeAt(first - 1) === BACKSLASH) first--;
  return (quote - first) % 2 === 1;
}

function plain(text: string): Json {
  const value = plainValue(once(text));
  return value === NOT_PLAIN_DATA ? defer() : value;
}
