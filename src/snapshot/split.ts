import {
  CLOSE_LIST,
  closes,
  COMMA,
  isBlank,
  isQuote,
  OPEN_LIST,
  opens,
  stringEnd,
  withoutBom,
} from "../client/json/bytes.ts";
import { parseJson } from "../client/json/text.ts";
import type { Json } from "../model/json.ts";

/** Takes in a document part by part. */
export interface Taker {
  /** A member of the document, other than the streamed list. @returns whether to go on */
  member(name: string, value: Json): boolean;
  /** An item of the streamed list. */
  item(value: Json): void;
}

/** How a document was read: to its end, as far as was wanted, or up to something that is no JSON. */
export type Split = "whole" | "stopped" | "damaged";

const COLON = 0x3a;
/** Deeper than anything that a service lists; the parser would follow any depth. */
const DEEPEST = 110;
/** Members of the document stand at depth 1, items of its list at 2. */
const DEPTH_OF_PARTS = 2;
/** Bytes of one member or item. */
const LARGEST = 256 * 1024 * 1024;

/**
 * Reads a JSON object of which one member is a list too long to be held: that one comes item by item, each parsed from
 * just its bytes, the others come whole. How the text is laid out makes no difference.
 *
 * As for the client's splitter, a scan finds where parts end and `JSON.parse` judges what is in them.
 * @param list name of the member that is streamed
 */
export function splitDocument(pieces: Iterable<Uint8Array>, list: string, taker: Taker): Split {
  const splitter = new DocumentSplitter(list, taker);
  let first = true;
  for (const piece of pieces) {
    const state = splitter.push(first ? withoutBom(piece) : piece);
    if (state !== undefined) return state;
    first = false;
  }
  return splitter.ended() ? "whole" : "damaged";
}

class DocumentSplitter {
  readonly #list: string;
  readonly #taker: Taker;
  #depth = 0;
  /** Inside an unfinished string: how far into the next piece the scan skips; -1 outside of any. */
  #resume = -1;
  /** The member whose value is being read. */
  #name: string | undefined;
  /** Inside the streamed list. */
  #streaming = false;
  #done = false;
  /** Earlier pieces of the current part. */
  #kept: Uint8Array[] = [];
  #keptBytes = 0;

  constructor(list: string, taker: Taker) {
    this.#list = list;
    this.#taker = taker;
  }

  ended(): boolean {
    return this.#done;
  }

  /** @returns how it ended, if it did */
  push(piece: Uint8Array): Split | undefined {
    let start = 0;
    let at = this.#resume < 0 ? 0 : stringEnd(piece, this.#resume) + 1;
    for (; at < piece.length; at++) {
      const byte = piece[at] ?? 0;
      if (isQuote(byte)) {
        at = stringEnd(piece, at + 1);
        continue;
      }
      // Nearly all bytes are within an item and mean nothing by themselves.
      if (this.#depth > DEPTH_OF_PARTS && !opens(byte) && !closes(byte)) continue;
      const cut = this.#structure(byte, piece, start, at);
      if (cut === "part") start = at + 1;
      else if (cut !== "inside") return cut;
    }
    this.#resume = at - piece.length - 1;
    return this.#keep(piece.subarray(start)) ? undefined : "damaged";
  }

  /** What a byte outside of strings means for the part that began at `start`. */
  #structure(
    byte: number,
    piece: Uint8Array,
    start: number,
    at: number,
  ): "inside" | "part" | "stopped" | "damaged" {
    if (this.#done) return isBlank(byte) ? "inside" : "damaged";
    if (opens(byte)) return this.#open(byte, piece, start, at);
    if (closes(byte)) return this.#close(byte, piece, start, at);
    const inner = this.#streaming ? 2 : 1;
    if (this.#depth === 0) return isBlank(byte) ? "inside" : "damaged";
    if (this.#depth !== inner) return "inside";
    if (byte === COMMA) return this.#part(piece, start, at);
    if (byte === COLON && !this.#streaming && this.#name === undefined) return this.#named(piece, start, at);
    return "inside";
  }

  #open(byte: number, piece: Uint8Array, start: number, at: number): "inside" | "part" | "damaged" {
    this.#depth += 1;
    if (this.#depth === 1) return byte === OPEN_LIST ? "damaged" : "part";
    if (this.#depth > DEEPEST) return "damaged";
    if (this.#depth !== 2 || this.#streaming || this.#name !== this.#list || byte !== OPEN_LIST)
      return "inside";
    this.#streaming = true;
    return this.#take(piece, start, at).every(isBlank) ? "part" : "damaged";
  }

  #close(
    byte: number,
    piece: Uint8Array,
    start: number,
    at: number,
  ): "inside" | "part" | "stopped" | "damaged" {
    this.#depth -= 1;
    if (this.#streaming && this.#depth === 1) {
      if (byte !== CLOSE_LIST) return "damaged";
      const end = this.#part(piece, start, at);
      this.#streaming = false;
      return end;
    }
    if (this.#depth > 0) return "inside";
    if (this.#depth < 0 || byte === CLOSE_LIST) return "damaged";
    const end = this.#part(piece, start, at);
    this.#done = end === "part";
    return end;
  }

  #named(piece: Uint8Array, start: number, at: number): "part" | "damaged" {
    const name = parseJson(this.#take(piece, start, at));
    if (!name.ok || typeof name.value !== "string") return "damaged";
    this.#name = name.value;
    return "part";
  }

  /** A member's value or an item ends here. Blank ones are what is left over behind a list, or an empty list. */
  #part(piece: Uint8Array, start: number, at: number): "part" | "stopped" | "damaged" {
    const bytes = this.#take(piece, start, at);
    const name = this.#name;
    if (!this.#streaming) this.#name = undefined;
    if (bytes.every(isBlank)) return name === undefined || name === this.#list ? "part" : "damaged";
    const parsed = parseJson(bytes);
    if (!parsed.ok || name === undefined) return "damaged";
    if (this.#streaming) this.#taker.item(parsed.value);
    else if (!this.#taker.member(name, parsed.value)) return "stopped";
    return "part";
  }

  #take(piece: Uint8Array, start: number, end: number): Uint8Array {
    const last = piece.subarray(start, end);
    if (this.#kept.length === 0) return last;
    const whole = Buffer.concat([...this.#kept, last]);
    this.#kept = [];
    this.#keptBytes = 0;
    return whole;
  }

  #keep(rest: Uint8Array): boolean {
    if (rest.length > 0) this.#kept.push(rest);
    this.#keptBytes += rest.length;
    return this.#keptBytes <= LARGEST;
  }
}
