import type { Json } from "../../model/json.ts";
import { NOT_PLAIN_DATA, plainValue } from "./parse.ts";
import { ALIAS_BUDGET, MAX_DEPTH, MAX_KEY_LENGTH, setOwn } from "./tree.ts";

const DASH = 0x2d;
const COLON = 0x3a;

/** A key of everyday characters, with its colon still to come. */
const PLAIN_KEY = /[\w$~](?:[\w$./ -]*[\w$./-])?(?=:[ \n])/y;

/**
 * The plain key that was last met behind a key, or first in a map that stands so far in. Manifests have the same keys
 * in the same order again and again, and to see that the expected one is there costs a fraction of finding out which.
 */
const EXPECTED = new Map<string | number, string>();
const MOST_EXPECTED = 1000;

/** At the first line of a map or list in block style: all of it, up to the first line that stands further left. */
export function block(cursor: Cursor): Json {
  cursor.enter();
  const value = isDash(cursor) ? blockList(cursor, cursor.indent) : blockMap(cursor, cursor.indent);
  cursor.leave();
  return value;
}

function isDash(cursor: Cursor): boolean {
  if (cursor.code() !== DASH) return false;
  return isSpaceOrEnd(cursor.text.charCodeAt(cursor.at + 1));
}

function blockMap(cursor: Cursor, indent: number): Json {
  const map: Record<string, Json> = {};
  let last: string | number = indent;
  do {
    const key = blockKey(cursor, last);
    if (Object.hasOwn(map, key)) defer();
    setOwn(map, key, valueBehind(cursor, indent, true));
    last = key;
  } while (cursor.indent === indent);
  if (cursor.indent > indent) defer();
  return map;
}

/** The key at the cursor, which then stands behind its colon. */
function blockKey(cursor: Cursor, last: string | number): string {
  const expected = EXPECTED.get(last);
  if (expected !== undefined && isKeyAt(cursor, expected)) {
    cursor.at += expected.length + 1;
    return expected;
  }
  const code = cursor.code();
  if (code === 0x22 || code === 0x27) {
    const key = quoted(cursor);
    const isKey = cursor.code() === COLON && isSpaceOrEnd(cursor.text.charCodeAt(cursor.at + 1));
    if (!isKey || key.length > MAX_KEY_LENGTH / 2) defer();
    cursor.at++;
    return key;
  }
  const key = cursor.take(PLAIN_KEY);
  if (key.length > MAX_KEY_LENGTH / 2) defer();
  cursor.at++;
  if (EXPECTED.size < MOST_EXPECTED || EXPECTED.has(last)) EXPECTED.set(last, key);
  return key;
}

/** Whether a key that `PLAIN_KEY` has found elsewhere stands here too: it holds no colon, so it ends at the first. */
function isKeyAt({ text, at }: Cursor, key: string): boolean {
  const end = at + key.length;
  return text.charCodeAt(end) === COLON && text.startsWith(key, at) && isSpaceOrEnd(text.charCodeAt(end + 1));
}

function blockList(cursor: Cursor, indent: number): Json {
  const items: Json[] = [];
  do {
    if (!isDash(cursor)) defer();
    const dash = cursor.at++;
    cursor.skipSpaces();
    const isInner = isDash(cursor) || cursor.endOf(PLAIN_KEY, cursor.at) > cursor.at;
    if (isInner) {
      cursor.indent = indent + cursor.at - dash;
      items.push(block(cursor));
    } else {
      cursor.at = dash + 1;
      items.push(valueBehind(cursor, indent, false));
    }
  } while (cursor.indent === indent && isDash(cursor));
  if (cursor.indent > indent) defer();
  return trimmed(items);
}

/**
 * What stands behind a key's colon or a dash, in the same line or below.
 * @param flush whether a list may stand as far left as its key does
 */
function valueBehind(cursor: Cursor, indent: number, flush: boolean): Json {
  const from = cursor.at;
  cursor.skipSpaces();
  const code = cursor.code();
  if (code === NEWLINE || (code === HASH && cursor.at > from)) {
    cursor.at = from;
    return valueBelow(cursor, indent, flush);
  }
  if (code === 0x26) return anchoredBehind(cursor, indent, flush);
  if (code === 0x7c || code === 0x3e) return blockScalar(cursor, indent);
  const value = inline(cursor, indent, code);
  cursor.endLine();
  // What goes on in the next line is a text over several lines, or a mistake.
  if (cursor.indent > indent) defer();
  return value;
}

/** Apart from the rest, which would pay for the closure otherwise. */
function anchoredBehind(cursor: Cursor, indent: number, flush: boolean): Json {
  return cursor.anchored(() => valueBehind(cursor, indent, flush));
}

function valueBelow(cursor: Cursor, indent: number, flush: boolean): Json {
  cursor.endLine();
  if (cursor.indent > indent) {
    const code = cursor.code();
    if (code !== 0x5b && code !== 0x7b) return block(cursor);
    const value = flow(cursor, indent);
    cursor.endLine();
    if (cursor.indent > indent) defer();
    return value;
  }
  return flush && cursor.indent === indent && isDash(cursor) ? block(cursor) : null;
}

/** A value that ends in its line, or in brackets. */
function inline(cursor: Cursor, indent: number, code: number): Json {
  switch (code) {
    case 0x22:
    case 0x27:
      return quoted(cursor);
    case 0x5b:
    case 0x7b:
      return flow(cursor, indent);
    case 0x2a:
      return cursor.alias();
    default:
      return plainInLine(cursor);
  }
}

/** Characters that begin something else than a plain scalar. A dash may begin one. */
const INDICATORS = "?:,[]{}#&*!|>'\"%@`";

function plainInLine(cursor: Cursor): Json {
  const { text, at } = cursor;
  if (INDICATORS.includes(text.charAt(at)) || isDash(cursor)) defer();
  // Up to the last character before the line's end, or before a comment, that is no space.
  let end = at;
  for (let next = at; ; next++) {
    const code = text.charCodeAt(next);
    if (code === NEWLINE || (code === HASH && next > end)) break;
    if (code === SPACE) continue;
    if (code === COLON && isSpaceOrEnd(text.charCodeAt(next + 1))) defer();
    end = next + 1;
  }
  cursor.at = end;
  return plain(text.slice(at, end));
}

function isSpaceOrEnd(code: number): boolean {
  return code === SPACE || code === NEWLINE;
}

/** Thrown where the text must be left to the careful parser. */
export class Deferred extends Error {}

/** Written without a message: nobody sees why a text was left to the careful parser. */
function defer(): never {
  throw new Deferred();
}

/** Without the room that is left for further items: a list of three would keep that of seventeen. */
function trimmed(items: readonly Json[]): readonly Json[] {
  return items.slice();
}

const NEWLINE = 0x0a;
const SPACE = 0x20;
const HASH = 0x23;

/** The indentation of what is behind the last line. */
export const END = -1;

/** An anchored value; undefined while it is still being read, when an alias to it would be a cycle. */
type Anchored = { read: { readonly value: Json; readonly size: number } | undefined };

const ANCHOR_NAME = /[\w-]+(?=[ \n,\]}])/y;

/** A place in a text. It stands at the content of a line, or behind the last one. */
export class Cursor {
  /** With a line end behind the last line, which may be ours. */
  readonly text: string;
  /** Whether that was there, since how much of it is text is seen differently where a block scalar ends. */
  readonly isEnded: boolean;
  /** Where the next content begins. */
  at = 0;
  /** Column of the line's first character that is no space; of an item behind a dash, its own. */
  indent = 0;
  #depth = 0;
  #aliased = 0;
  /** Made for the first anchor: most texts have none. */
  #anchors: Map<string, Anchored> | undefined;

  /** @param text with LF for line ends */
  constructor(text: string) {
    this.isEnded = text.endsWith("\n");
    this.text = this.isEnded ? text : `${text}\n`;
  }

  code(): number {
    return this.text.charCodeAt(this.at);
  }

  skipSpaces(): void {
    while (this.text.charCodeAt(this.at) === SPACE) this.at++;
  }

  /** Goes on to the next line that has content. @param start of a line */
  toContent(start: number): void {
    const { text } = this;
    for (let line = start; line < text.length;) {
      let at = line;
      while (text.charCodeAt(at) === SPACE) at++;
      const code = text.charCodeAt(at);
      if (code !== NEWLINE && code !== HASH) {
        this.at = at;
        this.indent = at - line;
        return;
      }
      line = text.indexOf("\n", at) + 1;
    }
    this.at = text.length;
    this.indent = END;
  }

  /** Goes on to the next content when nothing but a comment may be left in this line. */
  endLine(): void {
    const from = this.at;
    this.skipSpaces();
    const code = this.code();
    if (code !== NEWLINE && (code !== HASH || this.at === from)) defer();
    this.toContent(this.text.indexOf("\n", this.at) + 1);
  }

  /** Before what nests one deeper. */
  enter(): void {
    if (++this.#depth > MAX_DEPTH) defer();
  }

  /** Behind it. */
  leave(): void {
    this.#depth--;
  }

  /** At `&name`: reads it and the value that it names. */
  anchored(read: () => Json): Json {
    const name = this.#name();
    // Kept apart from the name, which an anchor inside of this one may take over.
    const anchored: Anchored = { read: undefined };
    (this.#anchors ??= new Map()).set(name, anchored);
    const from = this.at;
    this.skipSpaces();
    // Neither two anchors nor an anchored alias are YAML.
    if (this.text[this.at] === "&" || this.text[this.at] === "*") defer();
    const aliasedBefore = this.#aliased;
    const value = read();
    anchored.read = { value, size: this.at - from + this.#aliased - aliasedBefore };
    return value;
  }

  /** At `*name`: the value that it stands for, which is shared. */
  alias(): Json {
    const read = this.#anchors?.get(this.#name())?.read ?? defer();
    this.#aliased += read.size;
    if (this.#aliased > ALIAS_BUDGET) defer();
    return read.value;
  }

  #name(): string {
    this.at++;
    return this.take(ANCHOR_NAME);
  }

  /** Where what a sticky pattern finds at a place ends; the place itself, if it finds nothing there. */
  endOf(pattern: RegExp, at: number): number {
    pattern.lastIndex = at;
    return pattern.test(this.text) ? pattern.lastIndex : at;
  }

  /** What a sticky pattern finds at the cursor, which goes behind it. */
  take(pattern: RegExp): string {
    const from = this.at;
    this.at = this.endOf(pattern, from);
    return this.at === from ? defer() : this.text.slice(from, this.at);
  }
}

/** Without what tells the indentation or keeps empty lines. */
const HEADER = /[|>]-?/y;

/** At `|` or `>`: the lines below that are indented deeper than `parent`. */
function blockScalar(cursor: Cursor, parent: number): string {
  const header = cursor.take(HEADER);
  const start = headerEnd(cursor, cursor.at);
  const { lines, end } = linesBelow(cursor.text, start, parent);
  if (end === cursor.text.length && !cursor.isEnded) defer();
  cursor.toContent(end);
  // A comment between the two indentations, where parsers part.
  if (cursor.indent > parent) defer();
  const text = header.startsWith("|") ? lines.join("\n") : folded(lines);
  return text === "" || header.endsWith("-") ? text : `${text}\n`;
}

/** Behind the header's line, in which a comment may follow. */
function headerEnd({ text }: Cursor, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === SPACE) at++;
  if (text.charCodeAt(at) !== NEWLINE && (text[at] !== "#" || at === from)) defer();
  return text.indexOf("\n", at) + 1;
}

interface Block {
  /** Without their indentation, and without empty ones at the end. */
  readonly lines: readonly string[];
  /** Start of the first line that is not part of it. */
  readonly end: number;
}

function linesBelow(text: string, start: number, parent: number): Block {
  const lines: string[] = [];
  let indent = -1;
  let filled = 0;
  let line = start;
  while (line < text.length) {
    const end = text.indexOf("\n", line);
    let at = line;
    while (text.charCodeAt(at) === SPACE) at++;
    if (at === end) {
      // White space that may be text.
      if (at > line && (indent < 0 || at - line > indent)) defer();
      lines.push("");
    } else {
      if (indent < 0 && at - line > parent) indent = at - line;
      if (indent < 0 || at - line < indent) break;
      lines.push(text.slice(line + indent, end));
      filled = lines.length;
    }
    line = end + 1;
  }
  return { lines: filled === lines.length ? lines : lines.slice(0, filled), end: line };
}

/** Lines are joined, and a gap is as many line ends as it has empty lines. Lines that stand deeper are not joined. */
function folded(lines: readonly string[]): string {
  if (lines.some((line) => line.startsWith(" "))) defer();
  if (!lines.includes("")) return lines.join(" ");
  let text = "";
  let gap = 0;
  for (const line of lines) {
    if (line === "") gap++;
    else {
      text += gap > 0 ? "\n".repeat(gap) : text === "" ? "" : " ";
      text += line;
      gap = 0;
    }
  }
  return text;
}

const PLAIN_FLOW_KEY = /[\w$](?:[\w$./ -]*[\w$./-])?/y;
const PLAIN = /(?:[^\s\-?:,[\]{}#&*!|>'"%@`]|-(?=[^\s,[\]{}]))[^\n,[\]{}]*/y;

/**
 * Lists as they were read, by how they are written: manifests repeat their tags, and share what they repeat. None has
 * a bracket in it, so each ends at its first, nor an anchor or an alias, which would mean something else elsewhere.
 */
const LISTS = new Map<string, Json>();
const MOST_LISTS = 1000;
const LONGEST_LIST = 200;
const DEPENDS = /[&*\n]/;

/** At `[` or `{`: the list or map. Its further lines must be indented deeper than `parent`. */
export function flow(cursor: Cursor, parent: number): Json {
  cursor.enter();
  const value = cursor.code() === 0x5b ? repeatedList(cursor, parent) : flowMap(cursor, parent);
  cursor.leave();
  return value;
}

function repeatedList(cursor: Cursor, parent: number): Json {
  const from = cursor.at;
  const end = cursor.text.indexOf("]", from) + 1;
  if (end === 0 || end - from > LONGEST_LIST) return flowList(cursor, parent);
  const written = cursor.text.slice(from, end);
  const known = LISTS.get(written);
  if (known !== undefined) {
    cursor.at = end;
    return known;
  }
  const list = flowList(cursor, parent);
  if (cursor.at === end && LISTS.size < MOST_LISTS && !DEPENDS.test(written)) LISTS.set(written, list);
  return list;
}

function flowList(cursor: Cursor, parent: number): Json {
  const items: Json[] = [];
  cursor.at++;
  for (;;) {
    skipGap(cursor, parent);
    if (closes(cursor, "]")) return trimmed(items);
    items.push(flowValue(cursor, parent));
    skipGap(cursor, parent);
    if (cursor.text[cursor.at] === ",") cursor.at++;
    else if (cursor.text[cursor.at] !== "]") defer();
  }
}

function flowMap(cursor: Cursor, parent: number): Json {
  const map: Record<string, Json> = {};
  cursor.at++;
  for (;;) {
    skipGap(cursor, parent);
    if (closes(cursor, "}")) return map;
    const key = flowKey(cursor);
    if (Object.hasOwn(map, key)) defer();
    skipGap(cursor, parent);
    const isEmpty = /[,}]/.test(cursor.text.charAt(cursor.at));
    setOwn(map, key, isEmpty ? null : flowValue(cursor, parent));
    skipGap(cursor, parent);
    if (cursor.text[cursor.at] === ",") cursor.at++;
    else if (cursor.text[cursor.at] !== "}") defer();
  }
}

function closes(cursor: Cursor, bracket: string): boolean {
  if (cursor.text[cursor.at] !== bracket) return false;
  cursor.at++;
  return true;
}

/** Up to and with its colon, which must stand apart from what follows. */
function flowKey(cursor: Cursor): string {
  const { text } = cursor;
  const isQuoted = text[cursor.at] === '"' || text[cursor.at] === "'";
  const key = isQuoted ? quoted(cursor) : cursor.take(PLAIN_FLOW_KEY);
  if (text[cursor.at] !== ":" || !/[ \n,}]/.test(text.charAt(cursor.at + 1))) defer();
  cursor.at++;
  return key;
}

function flowValue(cursor: Cursor, parent: number): Json {
  switch (cursor.text.charAt(cursor.at)) {
    case "[":
    case "{":
      return flow(cursor, parent);
    case '"':
    case "'":
      return quoted(cursor);
    case "&":
      return anchoredValue(cursor, parent);
    case "*":
      return cursor.alias();
    default:
      return flowPlain(cursor);
  }
}

/** Apart from the rest, which would pay for the closure otherwise. */
function anchoredValue(cursor: Cursor, parent: number): Json {
  return cursor.anchored(() => flowValue(cursor, parent));
}

function flowPlain(cursor: Cursor): Json {
  const token = cursor.take(PLAIN);
  if (/: |:$| #/.test(token)) defer();
  return plain(token.trimEnd());
}

/** Spaces and line ends; comments between brackets are left to the careful parser. */
function skipGap(cursor: Cursor, parent: number): void {
  const { text } = cursor;
  let lineStart = -1;
  for (;;) {
    const code = text.charCodeAt(cursor.at);
    if (code === NEWLINE) lineStart = cursor.at + 1;
    else if (code !== SPACE) break;
    cursor.at++;
  }
  if (lineStart >= 0 && cursor.at - lineStart <= parent) defer();
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Escapes that mean in YAML what they mean in JSON. */
const JSON_ESCAPES = /\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4})/g;

/** At a quote: the text up to its other end in the same line. */
function quoted(cursor: Cursor): string {
  return cursor.code() === QUOTE ? doubleQuoted(cursor) : singleQuoted(cursor);
}

function doubleQuoted(cursor: Cursor): string {
  const token = takeQuoted(cursor, stepIfEscaped);
  const text = token.slice(1, -1);
  if (!text.includes("\\")) return once(text);
  if (text.replaceAll(JSON_ESCAPES, "").includes("\\")) defer();
  const parsed: unknown = JSON.parse(token);
  return typeof parsed === "string" ? parsed : defer();
}

function singleQuoted(cursor: Cursor): string {
  return once(takeQuoted(cursor, stepIfDoubled).slice(1, -1).replaceAll("''", "'"));
}

/**
 * From one quote to the one that ends it. Searched for and not matched: a regular expression with alternatives runs out
 * of stack in a text of some megabytes.
 */
function takeQuoted(cursor: Cursor, stepBehind: (text: string, quote: number) => number): string {
  const { text, at: from } = cursor;
  const quote = text.charAt(from);
  let end = from;
  let step = 1;
  while (step > 0) {
    end = text.indexOf(quote, end + step);
    if (end < 0) defer();
    step = stepBehind(text, end);
  }
  const token = text.slice(from, end + 1);
  if (token.includes("\n")) defer();
  cursor.at = end + 1;
  return token;
}

/** How far behind a quote of the text the search goes on; 0 for the quote that ends it. */
function stepIfEscaped(text: string, quote: number): 0 | 1 {
  let first = quote;
  while (text.charCodeAt(first - 1) === BACKSLASH) first--;
  return (quote - first) % 2 === 0 ? 0 : 1;
}

function stepIfDoubled(text: string, quote: number): 0 | 2 {
  return text.charAt(quote + 1) === "'" ? 2 : 0;
}

/** A plain scalar as it is written, with what it means. */
function plain(text: string): Json {
  const value = plainValue(once(text));
  return value === NOT_PLAIN_DATA ? defer() : value;
}

/**
 * Texts that manifests repeat, a status or a tag, are kept once. Longer ones are but windows into the file's text, which
 * would stay with them as a whole: they are copied out of it.
 */
const REPEATED = new Map<string, string>();
const LONGEST_REPEATED = 12;
const MOST_REPEATED = 1000;

function once(text: string): string {
  if (text.length > LONGEST_REPEATED) return copyOf(text);
  const known = REPEATED.get(text);
  if (known === undefined && REPEATED.size < MOST_REPEATED) REPEATED.set(text, text);
  return known ?? text;
}

const parse: (text: string) => string = JSON.parse;

/** The engine offers nothing that copies a text; this is the fastest that does. */
function copyOf(text: string): string {
  return parse(JSON.stringify(text));
}
