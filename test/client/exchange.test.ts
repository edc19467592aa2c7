import { describe, expect, test } from "vitest";
import type { Json } from "../../src/model/json.ts";
import {
  type Exchanged,
  type Receiver,
  type Transport,
  exchange,
  optionalAnswer,
  shapedAnswer,
  streamedList,
  wholeAnswer,
} from "../../src/service/exchange.ts";
import { MAX_ANSWER_BYTES } from "../../src/service/request.ts";
import { readingOf } from "./support/client.ts";
import { handlerFor } from "../../src/service/transport.ts";

/** An exchange over a connection that the test plays. */
function played(
  limit: number,
  signal = new AbortController().signal,
): { receiver: Receiver; outcome: Promise<Exchanged<Json | undefined>> } {
  const receivers: Receiver[] = [];
  const transport: Transport = {
    isProxied: false,
    send: (_request, receiver) => void receivers.push(receiver),
    close: () => Promise.resolve(),
  };
  const outcome = exchange(transport, {
    request: { method: "POST", path: "/", headers: {}, body: "{}" },
    reader: wholeAnswer(),
    origin: "https://service.example.com",
    host: "service.example.com",
    limit,
    signal,
    redact: (text) => text,
    mayWrite: () => undefined,
    now: () => 0,
  });
  const [receiver] = receivers;
  if (receiver === undefined) throw new Error("nothing was sent");
  return { receiver, outcome };
}

function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
}

describe("an exchange", () => {
  test("whose connection does not come about in time has not begun, and will not later on", async () => {
    const { receiver, outcome } = played(5);
    expect(await outcome).toEqual({
      result: { ok: false, failure: { kind: "timeout", limit: 5, during: "connecting" } },
      status: undefined,
      began: false,
    });
    let aborted = 0;
    receiver.began(() => aborted++);
    expect(aborted).toBe(1);
  });

  test("that was interrupted before it began is not sent", () => {
    expect(() => played(1000, AbortSignal.abort())).toThrow("nothing was sent");
  });

  test("leaves no timer behind", async () => {
    const before = timers();
    const { receiver, outcome } = played(60_000);
    expect(timers()).toBe(before + 1);
    receiver.broke(new Error("refused"));
    await outcome;
    expect(timers()).toBe(before);
  });

  test("ends once, whatever is told of it afterwards", async () => {
    const { receiver, outcome } = played(1000);
    receiver.began(() => undefined);
    receiver.head(200, {});
    receiver.piece(Buffer.from("[1]"));
    receiver.ended();
    receiver.piece(Buffer.from("[2]"));
    receiver.broke(new Error("too late"));
    expect(await outcome).toEqual({ result: { ok: true, value: [1] }, status: 200, began: true });
  });
});

describe("a request that undici begins twice", () => {
  test("is dropped, as it could be a second creation", () => {
    const told: string[] = [];
    const handler = handlerFor({
      began: () => void told.push("began"),
      head: () => undefined,
      piece: () => undefined,
      ended: () => undefined,
      broke: () => undefined,
    });
    let aborted = 0;
    const controller = {
      aborted: false,
      paused: false,
      reason: null,
      abort: () => void aborted++,
      pause: () => undefined,
      resume: () => undefined,
    };
    handler.onRequestStart?.(controller, {});
    expect([told, aborted]).toEqual([["began"], 0]);
    handler.onRequestStart?.(controller, {});
    expect([told, aborted]).toEqual([["began"], 1]);
  });
});

describe("an answer without end", () => {
  const PIECE = Buffer.alloc(1024 * 1024, " ");

  /** Feeds pieces until they are not wanted any more. */
  function fed<R extends { take(piece: Uint8Array): boolean }>(reader: R): R {
    for (let size = PIECE.length; reader.take(PIECE); size += PIECE.length) {
      if (size > MAX_ANSWER_BYTES) throw new Error("it wants ever more");
    }
    return reader;
  }

  const tooBig = { ok: false, failure: { what: "answer", limit: MAX_ANSWER_BYTES } };

  test("is given up on, and for an update does not matter", () => {
    expect(readingOf(() => fed(wholeAnswer()).end())).toEqual(tooBig);
    expect(readingOf(() => fed(shapedAnswer((json) => json)).end())).toEqual(tooBig);
    expect(fed(optionalAnswer()).end()).toBeUndefined();
  });
});

test("a streamed list that has no end is not read to the end", () => {
  const reader = streamedList(() => 1, 10);
  expect(reader.take(Buffer.from("[1,2,3,"))).toBe(true);
  expect(readingOf(() => reader.take(Buffer.from("4,5,")))).toEqual({
    ok: false,
    failure: { what: "answer", limit: 10 },
  });
});
