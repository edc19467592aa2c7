import type { Json } from "../../model/json.ts";
import type { LiveTestCase } from "../../model/live.ts";
import { MAX_ANSWER_BYTES, MAX_DEPTH, STREAM_WINDOW_BYTES } from "../bounds.ts";
import type { Fault, Misfit, Unreadable } from "../failure.ts";
import { isDeeper, withoutBom } from "../json/bytes.ts";
import { JsonSplitter } from "../json/splitter.ts";
import { parseJson } from "../json/text.ts";
import type { Result } from "../result.ts";
import { bad, good } from "../result.ts";

/** Takes in the body of one answer, piece by piece. */
export interface AnswerReader<T> {
  /** @returns whether it wants the next piece; if not, the rest of the answer cannot change the result */
  take(piece: Uint8Array): boolean;
  /** Called once, after the last piece that there was or that it wanted. */
  end(): Result<T, Fault>;
  /** Called in place of `end` for an answer that came and cannot be read. */
  fail(fault: Unreadable): Result<T, Fault>;
  /** The call's time limit starts anew after so many bytes; without it, it holds for the whole answer. */
  readonly window?: number;
}

/** What becomes of the items of a streamed list. Made anew for each try, so a broken one leaves nothing behind. */
export interface Collector<I, T> {
  add(item: I): void;
  /** Called once, after the last item. */
  result(): T;
}

/** Collects test cases in a plain list. */
export function inAList(): Collector<LiveTestCase, readonly LiveTestCase[]> {
  const items: LiveTestCase[] = [];
  return { add: (item) => void items.push(item), result: () => items };
}

/** Holds the answer whole and parses it; an empty one is undefined. */
export function wholeAnswer(): AnswerReader<Json | undefined> {
  let pieces: Uint8Array[] = [];
  let size = 0;
  return {
    take(piece) {
      pieces.push(piece);
      size += piece.length;
      if (size > MAX_ANSWER_BYTES) pieces = [];
      return size <= MAX_ANSWER_BYTES;
    },
    end() {
      if (size > MAX_ANSWER_BYTES) return bad({ kind: "too-big", what: "answer", limit: MAX_ANSWER_BYTES });
      return size === 0 ? good(undefined) : parsed(withoutBom(Buffer.concat(pieces)));
    },
    fail: bad,
  };
}

function parsed(bytes: Uint8Array): Result<Json, Fault> {
  if (isDeeper(bytes, MAX_DEPTH)) return bad({ kind: "too-big", what: "depth", limit: MAX_DEPTH });
  const json = parseJson(bytes);
  return json.ok ? good(json.value) : bad({ kind: "unreadable", why: json.why, offset: undefined });
}

/** An answer that must be there and have a certain shape. */
export function shapedAnswer<T>(read: (answer: Json) => Result<T, Misfit>): AnswerReader<T> {
  return ending(wholeAnswer(), (answer) => {
    if (!answer.ok) return answer;
    if (answer.value === undefined) return bad({ kind: "unreadable", why: "empty", offset: undefined });
    const shaped = read(answer.value);
    return shaped.ok ? shaped : bad(misshapen(shaped.failure));
  });
}

/** The answer of an update, of which the status says it all: a body that cannot be read is as good as none. */
export function optionalAnswer(): AnswerReader<Json | undefined> {
  return ending(wholeAnswer(), (answer) => (answer.ok ? answer : good(undefined)));
}

function ending<A, B>(
  reader: AnswerReader<A>,
  end: (a: Result<A, Fault>) => Result<B, Fault>,
): AnswerReader<B> {
  return {
    take: (piece) => reader.take(piece),
    end: () => end(reader.end()),
    fail: (fault) => end(reader.fail(fault)),
  };
}

/** A list of which only one item is held at a time. */
export function streamedList<I, T>(
  read: (item: Json) => Result<I, Misfit>,
  collector: Collector<I, T>,
): AnswerReader<T> {
  const splitter = new JsonSplitter((json, index) => {
    const item = read(json);
    if (!item.ok) return misshapen({ ...item.failure, at: [index, ...item.failure.at] });
    collector.add(item.value);
    return undefined;
  });
  let fault: Fault | undefined;
  return {
    window: STREAM_WINDOW_BYTES,
    take(piece) {
      fault = splitter.push(piece);
      return fault === undefined;
    },
    end() {
      fault ??= splitter.end();
      return fault === undefined ? good(collector.result()) : bad(fault);
    },
    fail: bad,
  };
}

function misshapen(misfit: Misfit): Fault {
  return { kind: "misshapen", ...misfit };
}
