import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_RETRY_AFTER, parseHttpDate, retryAfter } from "../../src/service/refusal.ts";
import { retryDelay } from "../../src/service/client.ts";
import { type Fault, mayRetry } from "../../src/service/failure.ts";

const NOW = Date.UTC(2024, 4, 6, 12, 0, 0);

describe("dates of headers", () => {
  test.each([
    ["Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37.000Z"],
    ["Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37.000Z"],
    ["Monday, 06-May-24 12:00:10 GMT", "2024-05-06T12:00:10.000Z"],
    ["Monday, 06-May-75 12:00:10 GMT", "1975-05-06T12:00:10.000Z"],
    ["Sun Nov  6 08:49:37 1994", "1994-11-06T08:49:37.000Z"],
    ["Sun Nov 16 08:49:37 1994", "1994-11-16T08:49:37.000Z"],
    ["Thu, 29 Feb 2024 00:00:00 GMT", "2024-02-29T00:00:00.000Z"],
  ])("%s", (text, iso) => {
    expect(parseHttpDate(text)).toBe(Date.parse(iso));
  });

  test.each([
    "",
    "tomorrow",
    "2024-05-06T12:00:00Z",
    "Sun, 06 Nov 1994 08:49:37",
    "Sun, 06 Nov 1994 08:49:37 CET",
    "Sun, 6 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nop 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 25:49:37 GMT",
    "Sun, 06 Nov 1994 08:49:37 GMT and more",
  ])("%j is not a date", (text) => {
    expect(parseHttpDate(text)).toBeUndefined();
  });
});

describe("Retry-After", () => {
  test.each([
    ["in seconds", { "retry-after": "7" }, 7000],
    ["in parts of seconds", { "retry-after": "0.5" }, 500],
    ["nothing to wait", { "retry-after": "0" }, 0],
    ["with blanks", { "retry-after": " 7 " }, 7000],
    ["several times: the first counts", { "retry-after": ["7", "8"] }, 7000],
    ["an hour: five minutes are the most", { "retry-after": "3600" }, MAX_RETRY_AFTER],
    ["for ever", { "retry-after": "9".repeat(400) }, MAX_RETRY_AFTER],
    ["a date", { "retry-after": "Mon, 06 May 2024 12:00:10 GMT" }, 10_000],
    ["a date that is past", { "retry-after": "Mon, 06 May 2024 11:00:00 GMT" }, 0],
    ["a date far ahead", { "retry-after": "Mon, 06 May 2030 12:00:00 GMT" }, MAX_RETRY_AFTER],
    [
      "a date, by a clock that is an hour behind",
      { "retry-after": "Mon, 06 May 2024 11:00:10 GMT", date: "Mon, 06 May 2024 11:00:00 GMT" },
      10_000,
    ],
    [
      "a date beside an unreadable one",
      { "retry-after": "Mon, 06 May 2024 12:00:10 GMT", date: "now" },
      10_000,
    ],
    ["nothing", {}, undefined],
    ["an empty value", { "retry-after": "" }, undefined],
    ["a negative number", { "retry-after": "-7" }, undefined],
    ["a word", { "retry-after": "soon" }, undefined],
  ])("%s", (_name, headers, wait) => {
    expect(retryAfter(headers, NOW)).toBe(wait);
  });
});

const status = (code: number, wait?: number): Fault => ({
  kind: "status",
  status: code,
  words: undefined,
  retryAfter: wait,
});

const unreachable = (
  cause: "name" | "refused" | "certificate" | "encryption" | "network",
): Fault => ({
  kind: "unreachable",
  cause,
  host: "service.example.com",
  code: "X",
});

describe("whether a call is retried", () => {
  test.each<[string, Fault, boolean]>([
    ["a connection that was refused", unreachable("refused"), true],
    ["a name that did not resolve", unreachable("name"), true],
    ["a network that did not get there", unreachable("network"), true],
    ["a certificate that was not accepted", unreachable("certificate"), false],
    ["a handshake that failed", unreachable("encryption"), false],
    ["a time limit", { kind: "timeout", limit: 1, during: "reading" }, true],
    ["a broken connection", { kind: "broken", code: "ECONNRESET" }, true],
    ["408", status(408), true],
    ["429", status(429), true],
    ["500", status(500), true],
    ["599", status(599), true],
    ["600", status(600), false],
    ["400", status(400), false],
    ["404", status(404), false],
    ["a refused key", { kind: "key-refused", status: 401, words: undefined }, false],
    ["a redirect", { kind: "redirect", status: 302, host: undefined }, false],
    ["an interruption", { kind: "interrupted" }, false],
    ["a key that cannot be sent", { kind: "unsendable" }, false],
    ["an answer that is no JSON", { kind: "unreadable", why: "not-json", offset: 0 }, false],
    ["an answer of another shape", { kind: "misshapen", at: [], expected: "a", found: "b" }, false],
    ["an answer without end", { kind: "too-big", what: "answer", limit: 1 }, false],
  ])("after %s", (_name, fault, again) => {
    expect(mayRetry("GET", fault, "no")).toBe(again);
    expect(mayRetry("PATCH", fault, "maybe")).toBe(again);
    expect(mayRetry("POST", fault, "no")).toBe(again);
    expect(mayRetry("POST", fault, "maybe")).toBe(false);
  });
});

describe("delays", () => {
  test.each<[string, Fault, number, number, number]>([
    ["grow", status(503), 1, 1, 250],
    ["grow", status(503), 5, 1, 4000],
    ["have a cap", status(503), 50, 1, 10_000],
    ["are left to chance", status(503), 5, 0.5, 2000],
    ["are left to chance, down to nothing", status(503), 5, 0, 0],
    ["are longer after 429", status(429), 1, 1, 1000],
    ["are at least half as long after 429", status(429), 3, 0, 2000],
    ["have a cap after 429", status(429), 50, 1, 30_000],
    ["are what the service asks for", status(503, 7000), 1, 0.5, 7000],
    ["are what the service asks for, also after 429", status(429, 7000), 1, 0.5, 7000],
    ["are the default ones if it asks for none", status(503, 0), 1, 1, 250],
  ])("%s", (_name, fault, send, random, delay) => {
    expect(retryDelay(fault, send, random)).toBe(delay);
  });

  test("law: a delay is a whole number of milliseconds within bounds", () => {
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(
        fc.constantFrom(429, 503),
        fc.integer({ min: 1, max: 2000 }),
        random,
        (code, send, chance) => {
          const delay = retryDelay(status(code), send, chance);
          expect(Number.isInteger(delay)).toBe(true);
          expect(delay).toBeGreaterThanOrEqual(0);
          expect(delay).toBeLessThanOrEqual(30_000);
        },
      ),
    );
  });
});
