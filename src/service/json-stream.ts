import { isUtf8 } from "node:buffer";
import { type Json, jsonIn } from "../model/json.ts";
import { FaultError, type TOO_BIG, type UNREADABLE } from "./failure.ts";
import { MAX_DEPTH, MAX_ITEMS, MAX_ITEM_BYTES } from "./request.ts";

const NOT_IN_STRING = -1;

/**
 * Splits a JSON list that arrives in pieces into its items, and parses each item from its own
 * bytes.
 *
 * A scan finds the ends of items, and `JSON.parse` checks their contents. The scan counts brackets
 * outside strings without distinguishing `[` from `{`; where that matters (`[{]}`), the item is not
 * valid JSON. So the list is accepted exactly when `JSON.parse` would accept it. Pieces may end
 * anywhere, even inside a character; the pieces of an unfinished item are kept and joined once.
 * After a fault, the splitter cannot be used any more.
 */
export class JsonSplitter {
  readonly #take: (item: Json, index: number) => unknown;
  readonly #maxItems: number;
  #stage: "before" | "inside" | "after" = "before";
  /** Offset of the current piece in the text. */
  #offset = 0;
  #count = 0;
  /**
   * Number of open brackets, including the list's own. An array, as V8 has several forms of objects
   * `{ brackets }`.
   */
  readonly #open = new Uint8Array(1);
  /**
   * Where to continue inside an unfinished string: 0, or 1 after an escape; NOT_IN_STRING if
   * outside a string.
   */
  #resume = NOT_IN_STRING;
  #kept: Uint8Array[] = [];
  #keptBytes = 0;
  /** Offset of the text after the list, once the list has ended correctly. */
  closedAt: number | undefined;

  constructor(take: (item: Json, index: number) => unknown, maxItems = MAX_ITEMS) {
    this.#take = take;
    this.#maxItems = maxItems;
  }

  /**
   * Reads the next piece, which must not change afterwards.
   * @throws FaultError, and any error of `take`
   */
  push(piece: Uint8Array): void {
    const from = this.#stage === "before" ? this.#begin(piece) : 0;
    const after = this.#stage === "inside" ? this.#inside(piece, from) : from;
    if (this.#stage === "after") {
      const garbage = piece.subarray(after).findIndex((byte) => !isBlank(byte));
      if (garbage >= 0) throw unreadable("not-json", this.#offset + after + garbage);
    }
    this.#offset += piece.length;
  }

  /**
   * Ends the text. Inside the list, this is a broken connection that was not reported as one.
   * @throws FaultError
   */
  end(): void {
    if (this.#stage === "before") throw unreadable("empty");
    if (this.#stage === "inside") throw new FaultError({ kind: "broken", code: "CUT_OFF" });
  }

  #begin(piece: Uint8Array): number {
    for (const [at, byte] of piece.entries()) {
      if (byte === OPEN_LIST) {
        this.#stage = "inside";
        this.#open[0] = 1;
        return at + 1;
      }
      if (!isBlank(byte) && byte !== BOM[this.#offset + at])
        throw unreadable("not-a-list", this.#offset + at);
    }
    return piece.length;
  }

  #inside(piece: Uint8Array, from: number): number {
    let start = from;
    let at = this.#resume === NOT_IN_STRING ? from : stringEnd(piece, this.#resume) + 1;
    for (; (at = itemEnd(piece, at, this.#open)) < piece.length; start = ++at) {
      if (this.#open[0] === 0) {
        this.#close(piece, start, at);
        return at + 1;
      }
      if (this.#kept.length === 0) this.#item(piece, this.#offset + at, start, at);
      else this.#item(this.#join(piece, start, at), this.#offset + at);
    }
    this.#resume = at - piece.length + NOT_IN_STRING;
    if (start < piece.length) this.#kept.push(piece.subarray(start));
    this.#keptBytes += piece.length - start;
    if (this.#keptBytes > MAX_ITEM_BYTES) throw tooBig("item", MAX_ITEM_BYTES);
    return piece.length;
  }

  #join(piece: Uint8Array, start: number, end: number): Uint8Array {
    const last = piece.subarray(start, end);
    if (this.#kept.length === 0) return last;
    const whole = Buffer.concat([...this.#kept, last]);
    this.#kept = [];
    this.#keptBytes = 0;
    return whole;
  }

  /** @param end end of the item in the text; `from` and `to` are its range in `bytes` */
  #item(bytes: Uint8Array, end: number, from = 0, to = bytes.length): void {
    if (to - from > MAX_ITEM_BYTES) throw tooBig("item", MAX_ITEM_BYTES);
    if (this.#count === this.#maxItems) throw tooBig("items", this.#maxItems);
    this.#take(parseBytes(bytes, end - (to - from), from, to), this.#count++);
  }

  #close(piece: Uint8Array, start: number, at: number): void {
    this.#stage = "after";
    if (piece[at] !== CLOSE_LIST) throw unreadable("not-json", this.#offset + at);
    const bytes = this.#join(piece, start, at);
    if (this.#count > 0 || !bytes.every(isBlank)) this.#item(bytes, this.#offset + at);
    this.closedAt = this.#offset + at + 1;
  }
}

function unreadable(why: keyof typeof UNREADABLE, offset?: number): FaultError {
  return new FaultError({ kind: "unreadable", why, offset });
}

export function tooBig(what: keyof typeof TOO_BIG, limit: number): FaultError {
  return new FaultError({ kind: "too-big", what, limit });
}

/**
 * The structural bytes of JSON. All are ASCII, so they never equal a byte of a longer character.
 */
export const COMMA = 0x2c;
export const OPEN_LIST = 0x5b;
export const CLOSE_LIST = 0x5d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/**
 * With this bit set, `[` becomes `{` and `]` becomes `}`; no other byte becomes one of these two.
 */
const CASE_BIT = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;

export function opens(byte: number): boolean {
  return (byte | CASE_BIT) === OPEN;
}

export function closes(byte: number): boolean {
  return (byte | CASE_BIT) === CLOSE;
}

export function isQuote(byte: number): boolean {
  return byte === QUOTE;
}

export function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/**
 * Returns the position of the quote that ends a string. If the text ends first, returns the text's
 * length, or one more if a backslash comes last: the difference is the position at which to
 * continue in the next piece.
 */
export function stringEnd(bytes: Uint8Array, from: number): number {
  // Read once, because the length of a view is looked up at each access.
  const { length } = bytes;
  let at = from;
  for (; at < length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) break;
    if (byte === BACKSLASH) at++;
  }
  return at;
}

/**
 * Returns the position of the comma that ends an item of a list, or of the bracket that ends the
 * list. If there is none, returns the same as `stringEnd`. A separate function, because V8 keeps
 * deoptimising a loop that does more.
 */
function itemEnd(bytes: Uint8Array, from: number, open: Uint8Array): number {
  const { length } = bytes;
  let at = from;
  let depth = open[0] ?? 0;
  for (; at < length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) {
      // A copy of `stringEnd`: calling it took a third of the time.
      for (at++; at < length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
    } else if (opens(byte)) {
      if (++depth > MAX_DEPTH) throw tooBig("depth", MAX_DEPTH);
    } else if (closes(byte)) {
      if (--depth === 0) break;
    } else if (byte === COMMA && depth === 1) break;
  }
  open[0] = depth;
  return at;
}

/**
 * Returns the members of a text's only object, each with the result of `valueOf` for the range of
 * its value. Neither the whole object nor its text is in memory. If a name is repeated, the last
 * one wins, as in `JSON.parse`.
 * @throws FaultError unless it is an object, as far as names and brackets show
 */
export function membersOf<T>(
  bytes: Buffer,
  valueOf: (from: number, to: number, name: string) => T,
  [start, stop] = [0, bytes.length],
): Map<string, T> {
  const nextTo = (from: number): number => {
    let at = from;
    while (isBlank(bytes[at] ?? 0)) at++;
    return at;
  };
  const members = new Map<string, T>();
  const open = Uint8Array.of(1);
  let at = nextTo(start);
  if (bytes[at] !== OPEN) throw unreadable("not-json", at);
  while (open[0] !== 0) {
    const from = nextTo(at + 1);
    at = itemEnd(bytes, from, open);
    if (at === from && open[0] === 0 && members.size === 0) break;
    const colon = nextTo(stringEnd(bytes, from + 1) + 1);
    const name = jsonIn(bytes.toString("utf8", from, colon));
    if (at >= stop || typeof name !== "string" || bytes[colon] !== COLON)
      throw unreadable("not-json", from);
    members.set(name, valueOf(colon + 1, at, name));
  }
  if (bytes[at] !== CLOSE || nextTo(at + 1) < stop) throw unreadable("not-json", at);
  return members;
}

/** The UTF-8 byte order mark, which some servers send. */
const BOM: readonly number[] = [0xef, 0xbb, 0xbf];

export function withoutBom(bytes: Buffer): Buffer;
export function withoutBom(bytes: Uint8Array): Uint8Array;
export function withoutBom(bytes: Uint8Array): Uint8Array {
  return bytes[0] === BOM[0] && BOM.every((byte, at) => bytes[at] === byte)
    ? bytes.subarray(BOM.length)
    : bytes;
}

/**
 * Whether brackets nest deeper than `limit`. Checked before parsing: the parser has no limit, but
 * other code recurses.
 */
export function isDeeper(bytes: Uint8Array, limit: number): boolean {
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (isQuote(byte)) at = stringEnd(bytes, at + 1);
    else if (closes(byte)) depth--;
    else if (opens(byte) && ++depth > limit) return true;
  }
  return false;
}

/**
 * Parses JSON. Invalid UTF-8 is refused, not replaced: a replaced character would look like a
 * difference and could be written back. The parser's own message is dropped, because it quotes the
 * text.
 * @param offset of the bytes in the whole text @throws FaultError
 */
export function parseBytes(bytes: Uint8Array, offset?: number, from = 0, to = bytes.length): Json {
  // Not a view of each item, which would take longer than its check.
  const own =
    bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = own.toString("utf8", from, to);
  if (text.includes("\ufffd") && !isUtf8(bytes.subarray(from, to)))
    throw unreadable("not-utf-8", offset);
  const value = jsonIn(text);
  if (value === undefined) throw unreadable("not-json", offset);
  return value;
}
