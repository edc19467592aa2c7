import { isUtf8 } from "node:buffer";
import type { Json } from "../model/json.ts";
import { type Fault, MAX_DEPTH, MAX_ITEMS, MAX_ITEM_BYTES, type TooBig, type Unreadable } from "./request.ts";

/** Takes one item of the list. @returns a fault to stop at */
export type ReadItem = (item: Json, index: number) => Fault | undefined;

/** The scan goes on outside of any string. */
const NOT_IN_STRING = -1;

/**
 * Splits a JSON list that arrives in pieces into its items, each parsed from just its bytes.
 *
 * A scan finds where items end, and `JSON.parse` judges what is in them. The scan counts brackets outside of
 * strings without telling `[` from `{`: where that matters (`[{]}`) the item is not JSON. So the whole is
 * accepted exactly when `JSON.parse` would accept it, without a grammar of our own.
 *
 * Pieces may end anywhere, also inside an escape or a character. Those of an unfinished item are kept and joined
 * once, so that a large item in small pieces is not copied again and again. After a fault the splitter is spent.
 */
export class JsonSplitter {
  readonly #take: ReadItem;
  readonly #maxItems: number;
  #stage: "before" | "inside" | "after" = "before";
  /** Bytes of the text before the current piece. */
  #offset = 0;
  /** Items taken. */
  #count = 0;
  /** Open brackets, the list's own included. */
  #depth = 0;
  /** Where the scan goes on inside an unfinished string: 0, or 1 behind an escape; or NOT_IN_STRING. */
  #resume = NOT_IN_STRING;
  /** Earlier pieces of the current item. */
  #kept: Uint8Array[] = [];
  #keptBytes = 0;
  #closedAt: number | undefined;

  constructor(take: ReadItem, maxItems = MAX_ITEMS) {
    this.#take = take;
    this.#maxItems = maxItems;
  }

  /** Where the text behind the list begins, once the list has ended as it must. */
  get closedAt(): number | undefined {
    return this.#closedAt;
  }

  /** Reads the next piece, which must not change afterwards. @returns the fault to stop at */
  push(piece: Uint8Array): Fault | undefined {
    const fault = this.#read(piece);
    this.#offset += piece.length;
    return fault;
  }

  /**
   * Says that the text is over. @returns the fault if it may not end here; inside the list that is a break which
   * the connection did not report, as happens where an answer's length is not announced
   */
  end(): Fault | undefined {
    switch (this.#stage) {
      case "before":
        return { kind: "unreadable", why: "empty", offset: undefined };
      case "inside":
        return { kind: "broken", code: "CUT_OFF" };
      case "after":
        return undefined;
    }
  }

  #read(piece: Uint8Array): Fault | undefined {
    switch (this.#stage) {
      case "before":
        return this.#before(piece);
      case "inside":
        return this.#inside(piece, 0);
      case "after":
        return this.#after(piece, 0);
    }
  }

  #before(piece: Uint8Array): Fault | undefined {
    for (const [at, byte] of piece.entries()) {
      if (byte === OPEN_LIST) {
        this.#stage = "inside";
        this.#depth = 1;
        return this.#inside(piece, at + 1);
      }
      if (!isBlank(byte) && !isBom(byte, this.#offset + at))
        return unreadable("not-a-list", this.#offset + at);
    }
    return undefined;
  }

  #inside(piece: Uint8Array, from: number): Fault | undefined {
    let start = from;
    let depth = this.#depth;
    let at = this.#resume === NOT_IN_STRING ? from : stringEnd(piece, this.#resume) + 1;
    for (; at < piece.length; at++) {
      const byte = piece[at] ?? 0;
      if (isQuote(byte)) at = stringEnd(piece, at + 1);
      else if (opens(byte)) {
        if (++depth > MAX_DEPTH) return tooBig("depth", MAX_DEPTH);
      } else if (closes(byte)) {
        if (--depth === 0) return this.#close(piece, start, at);
      } else if (byte === COMMA && depth === 1) {
        const fault = this.#item(this.#join(piece, start, at), this.#offset + at);
        if (fault !== undefined) return fault;
        start = at + 1;
      }
    }
    this.#depth = depth;
    this.#resume = at - piece.length + NOT_IN_STRING;
    return this.#keep(piece.subarray(start));
  }

  #keep(rest: Uint8Array): Fault | undefined {
    if (rest.length > 0) this.#kept.push(rest);
    this.#keptBytes += rest.length;
    return this.#keptBytes > MAX_ITEM_BYTES ? tooBig("item", MAX_ITEM_BYTES) : undefined;
  }

  /** The current item's bytes, which end in this piece. */
  #join(piece: Uint8Array, start: number, end: number): Uint8Array {
    const last = piece.subarray(start, end);
    if (this.#kept.length === 0) return last;
    const whole = Buffer.concat([...this.#kept, last]);
    this.#kept = [];
    this.#keptBytes = 0;
    return whole;
  }

  #item(bytes: Uint8Array, end: number): Fault | undefined {
    if (bytes.length > MAX_ITEM_BYTES) return tooBig("item", MAX_ITEM_BYTES);
    if (this.#count === this.#maxItems) return tooBig("items", this.#maxItems);
    const parsed = parseJson(bytes);
    return parsed.ok ? this.#take(parsed.value, this.#count++) : unreadable(parsed.why, end - bytes.length);
  }

  #close(piece: Uint8Array, start: number, at: number): Fault | undefined {
    this.#stage = "after";
    if (piece[at] !== CLOSE_LIST) return unreadable("not-json", this.#offset + at);
    const bytes = this.#join(piece, start, at);
    const isEmptyList = this.#count === 0 && bytes.every(isBlank);
    const fault = isEmptyList ? undefined : this.#item(bytes, this.#offset + at);
    if (fault !== undefined) return fault;
    this.#closedAt = this.#offset + at + 1;
    return this.#after(piece, at + 1);
  }

  #after(piece: Uint8Array, from: number): Fault | undefined {
    const garbage = piece.subarray(from).findIndex((byte) => !isBlank(byte));
    return garbage === -1 ? undefined : unreadable("not-json", this.#offset + from + garbage);
  }
}

function unreadable(why: Unreadable["why"], offset: number): Unreadable {
  return { kind: "unreadable", why, offset };
}

function tooBig(what: TooBig["what"], limit: number): TooBig {
  return { kind: "too-big", what, limit };
}

/** The bytes that JSON is structured by; all of them are ASCII, so no byte of a longer character equals one. */
export const COMMA = 0x2c;
export const OPEN_LIST = 0x5b;
export const CLOSE_LIST = 0x5d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** With this bit set, `[` is `{` and `]` is `}`; no other byte becomes one of the two. */
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

/** Space, tab, line feed, carriage return. */
export function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/**
 * Position of the quote that ends a string. In a text that ends before the string does it is the text's length,
 * or one more when a backslash comes last: what is left over is where to go on in the next piece of the text.
 */
export function stringEnd(bytes: Uint8Array, from: number): number {
  // Asked for once: the length of a view is looked up each time.
  const { length } = bytes;
  let at = from;
  for (; at < length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) break;
    if (byte === BACKSLASH) at++;
  }
  return at;
}

/** The byte order mark, which some servers send. */
const BOM: readonly number[] = [0xef, 0xbb, 0xbf];

function isBom(byte: number, position: number): boolean {
  return byte === BOM[position];
}

export function withoutBom(bytes: Uint8Array): Uint8Array {
  return BOM.every((byte, at) => bytes[at] === byte) ? bytes.subarray(BOM.length) : bytes;
}

/**
 * Whether lists and objects are nested deeper than the limit. Asked before parsing, as the parser would build
 * any depth, and everything that walks the result afterwards is recursive.
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

/** `JSON.parse` returns `any`; what it returns is JSON. */
const parse: (text: string) => Json = JSON.parse;

export type Parsed =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly why: "not-json" | "not-utf-8" };

/**
 * Reads JSON from bytes. Wrong UTF-8 is refused rather than replaced: a replaced character would look like a
 * difference in a plan, and could be written back. The parser's own message is dropped, since it quotes the text.
 */
export function parseJson(bytes: Uint8Array): Parsed {
  if (!isUtf8(bytes)) return { ok: false, why: "not-utf-8" };
  return parseJsonText(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"));
}

export function parseJsonText(text: string): Parsed {
  try {
    return { ok: true, value: parse(text) };
  } catch {
    return { ok: false, why: "not-json" };
  }
}
