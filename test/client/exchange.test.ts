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

/** An exchange over a connection that the test controls. */
function played(limit: number, signal = new AbortController().signal) {
  const handlers: Dispatcher.DispatchHandler[] = [];
  const transport: Transport = {
    isProxied: false,
    dispatcher: {
      dispatch: (_, handler) => handlers.push(handler) > 0,
      destroy: () => Promise.resolve(),
    },
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
  test("has not begun after a connection timeout, and is aborted if it begins later", async () => {
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

  test("is not sent if it was interrupted before it began", () => {
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

  test("ends once, and ignores later events", async () => {
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

  test("is aborted if undici begins it twice, because that could be a second creation", () => {
    const { began, aborted } = played(1000);
    began();
    expect(aborted()).toBe(0);
    began();
    expect(aborted()).toBe(1);
  });
});

describe("an endless answer", () => {
  const PIECE = Buffer.alloc(1024 * 1024, " ");

  /** Feeds pieces until the reader accepts no more. */
  function fed<R extends { take(piece: Uint8Array): boolean }>(reader: R): R {
    for (let size = PIECE.length; reader.take(PIECE); size += PIECE.length) {
      if (size > MAX_ANSWER_BYTES) throw new Error("it wants ever more");
    }
    return reader;
  }

  const tooBig = { ok: false, failure: { what: "answer", limit: MAX_ANSWER_BYTES } };

  test("is rejected for reads and creations, and ignored for updates", () => {
    expect(readingOf(() => fed(wholeAnswer()).end())).toEqual(tooBig);
    expect(readingOf(() => fed(shapedAnswer((json) => json)).end())).toEqual(tooBig);
    expect(fed(optionalAnswer()).end()).toBeUndefined();
  });
});

test("an endless streamed list is rejected at its size limit", () => {
  const reader = streamedList(() => 1, 10);
  expect(reader.take(Buffer.from("[1,2,3,"))).toBe(true);
  expect(readingOf(() => reader.take(Buffer.from("4,5,")))).toEqual({
    ok: false,
    failure: { what: "answer", limit: 10 },
  });
});
