import type { Dispatcher } from "undici";
import { describe, expect, test } from "vitest";
import type { Json } from "../../src/model/json.ts";
import {
  type Exchanged,
  type Transport,
  exchange,
  optionalAnswer,
  shapedAnswer,
  streamedList,
  wholeAnswer,
} from "../../src/service/exchange.ts";
import { MAX_ANSWER_BYTES } from "../../src/service/request.ts";
import { readingOf } from "./support/client.ts";

/** An exchange over a connection that the test plays. */
function played(limit: number, signal = new AbortController().signal) {
  const handlers: Dispatcher.DispatchHandler[] = [];
  const transport: Transport = {
    isProxied: false,
    dispatcher: { dispatch: (_, handler) => handlers.push(handler) > 0, destroy: () => Promise.resolve() },
  };
  const outcome: Promise<Exchanged<Json | undefined>> = exchange(transport, {
    request: { method: "POST", path: "/", headers: {}, body: "{}" },
    reader: wholeAnswer(),
    baseUrl: { origin: "https://service.example.com", host: "service.example.com" },
    limit,
    signal,
    inFlight: new Set(),
    redact: (text) => text,
    mayWrite: () => true,
    now: () => 0,
  });
  const [handler] = handlers;
  if (handler === undefined) throw new Error("nothing was sent");
  let aborted = 0;
  const controller = {
    aborted: false,
    paused: false,
    reason: null,
    abort: () => void aborted++,
    pause: () => undefined,
    resume: () => undefined,
  };
  return {
    outcome,
    began: () => handler.onRequestStart?.(controller, {}),
    aborted: () => aborted,
    head: (status: number) => handler.onResponseStart?.(controller, status, {}),
    piece: (text: string) => handler.onResponseData?.(controller, Buffer.from(text)),
    ended: () => handler.onResponseEnd?.(controller, {}),
    broke: (message: string) => handler.onResponseError?.(controller, new Error(message)),
  };
}

function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
}

describe("an exchange", () => {
  test("whose connection does not come about in time has not begun, and will not later on", async () => {
    const { outcome, began, aborted } = played(5);
    expect(await outcome).toEqual({
      result: { ok: false, failure: { kind: "timeout", limit: 5, during: "connecting" } },
      status: undefined,
      began: false,
      tooLate: false,
    });
    began();
    expect(aborted()).toBe(1);
  });

  test("that was interrupted before it began is not sent", () => {
    expect(() => played(1000, AbortSignal.abort())).toThrow("nothing was sent");
  });

  test("leaves no timer behind", async () => {
    const before = timers();
    const { broke, outcome } = played(60_000);
    expect(timers()).toBe(before + 1);
    broke("refused");
    await outcome;
    expect(timers()).toBe(before);
  });

  test("ends once, whatever is told of it afterwards", async () => {
    const { outcome, began, head, piece, ended, broke } = played(1000);
    began();
    head(200);
    piece("[1]");
    ended();
    piece("[2]");
    broke("too late");
    const result = { ok: true, value: [1] };
    expect(await outcome).toEqual({ result, status: 200, began: true, tooLate: false });
  });

  test("that undici begins twice is dropped, as it could be a second creation", () => {
    const { began, aborted } = played(1000);
    began();
    expect(aborted()).toBe(0);
    began();
    expect(aborted()).toBe(1);
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
