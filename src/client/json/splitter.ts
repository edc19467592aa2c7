import type { Json } from "../../model/json.ts";
import { MAX_DEPTH, MAX_ITEM_BYTES, MAX_ITEMS } from "../bounds.ts";
import type { Fault, TooBig, Unreadable } from "../failure.ts";
import { CLOSE_LIST, closes, COMMA, isBlank, isBom, isQuote, OPEN_LIST, opens, stringEnd } from "./bytes.ts";
import { parseJson } from "./text.ts";

/** Takes one item of the list. @returns a fault to stop at */
export type TakeItem = (item: Json, index: number) => Fault | undefined;

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
  readonly #take: TakeItem;
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

  constructor(take: TakeItem, maxItems = MAX_ITEMS) {
    this.#take = take;
    this.#maxItems = maxItems;
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
    return fault ?? this.#after(piece, at + 1);
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
