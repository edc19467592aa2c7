import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { clientOf, failureOf } from "./support/client.ts";
import { httpServer } from "./support/server.ts";

/** Milliseconds: short, but long enough for a busy machine to answer in time. */
const LIMIT = 1500;

/** Writes a text regularly until the connection closes. */
function trickle(response: ServerResponse, text: string): void {
  response.writeHead(200);
  const timer = setInterval(() => response.write(text), 10);
  response.on("close", () => clearInterval(timer));
}

const SERVERS: readonly [string, (response: ServerResponse) => void, string][] = [
  ["says nothing", () => undefined, "waiting"],
  [
    "announces an answer",
    (response) => response.writeEarlyHints({ link: "</a>; rel=preload" }),
    "waiting",
  ],
  ["sends headers and no body", (response) => response.writeHead(200).flushHeaders(), "reading"],
  ["trickles", (response) => trickle(response, " "), "reading"],
];

describe("a server that", () => {
  test.each(SERVERS)("%s causes a timeout", async (_name, respond, during) => {
    const server = await httpServer(respond);
    const { client } = clientOf(server.url, { requestTimeout: LIMIT, retries: 0 });
    const failures = await Promise.all([
      failureOf(client.listTargets()),
      failureOf(client.listTestCases("t1", ({ id }) => id)),
      failureOf(client.send({ method: "POST", path: ["apiKey"], body: {} })),
    ]);
    for (const failure of failures)
      expect(failure).toMatchObject({ kind: "timeout", limit: LIMIT, during });
    expect(failures.map(({ acted }) => acted)).toEqual(["no", "no", "maybe"]);
  });

  test("is slow once is asked again", async () => {
    const server = await httpServer((response, _received, nth) =>
      nth === 1 ? undefined : void response.end("[]"),
    );
    const { client } = clientOf(server.url, { requestTimeout: LIMIT });
    expect(await client.listTargets()).toEqual([]);
    expect(server.received).toHaveLength(2);
  });

  test("answers at once does not time out, even with a limit above 24 days", async () => {
    const server = await httpServer((response) => void response.end("[]"));
    const { client } = clientOf(server.url, { requestTimeout: 2 ** 31, retries: 0 });
    expect(await client.listTargets()).toEqual([]);
  });

  test("answers too late has its connection closed", async () => {
    let closed = false;
    const server = await httpServer((response) => void response.on("close", () => (closed = true)));
    const { client } = clientOf(server.url, { requestTimeout: LIMIT, retries: 0 });
    await failureOf(client.listTargets());
    await expect.poll(() => closed).toBe(true);
  });
});

describe("a long list", () => {
  /**
   * A test case of 100 kB, ten times per limit: in total much longer than the limit, but steady.
   */
  const CASE = JSON.stringify({ id: "c1", testTargetId: "t1", description: "x".repeat(100_000) });

  function steady(response: ServerResponse, count: number): void {
    response.writeHead(200);
    let sent = 0;
    const timer = setInterval(() => {
      response.write(`${sent === 0 ? "[" : ","}${CASE}`);
      if (++sent < count) return;
      clearInterval(timer);
      response.end("]");
    }, LIMIT / 10);
    response.on("close", () => clearInterval(timer));
  }

  test("of test cases may take longer than the limit in total", async () => {
    const server = await httpServer((response) => steady(response, 25));
    const { client } = clientOf(server.url, { requestTimeout: LIMIT, retries: 0 });
    const started = performance.now();
    expect(await client.listTestCases("t1", ({ id }) => id)).toHaveLength(25);
    expect(performance.now() - started).toBeGreaterThan(2 * LIMIT);
  });

  test("of targets may not take longer than the limit", async () => {
    const server = await httpServer((response) => steady(response, 25));
    const { client } = clientOf(server.url, { requestTimeout: LIMIT, retries: 0 });
    expect(await failureOf(client.listTargets())).toMatchObject({
      kind: "timeout",
      during: "reading",
    });
  });
});

describe("an interruption", () => {
  test("ends calls in flight, calls in the queue, and calls that wait for a retry", async () => {
    const server = await httpServer((response, { method }) => {
      if (method === "PATCH") response.writeHead(503, { "retry-after": "60" }).end();
    });
    const stop = new AbortController();
    const sleeping = new Promise<void>((resolve) => {
      stop.signal.addEventListener("abort", () => resolve());
    });
    const { client, events } = clientOf(server.url, {
      concurrency: 2,
      signal: stop.signal,
      world: { now: () => 0, random: () => 1, sleep: () => sleeping },
    });
    const calls = Promise.all([
      failureOf(client.send({ method: "POST", path: ["apiKey"], body: {} })),
      failureOf(client.send({ method: "PATCH", path: ["apiKey"], body: {} })),
      failureOf(client.listTargets()),
    ]);
    await expect.poll(() => server.received.length).toBe(2);
    await expect.poll(() => events.some(({ kind }) => kind === "waiting")).toBe(true);
    stop.abort();
    expect(await calls).toMatchObject([
      { kind: "interrupted", method: "POST", attempts: 1, acted: "maybe" },
      { kind: "interrupted", method: "PATCH", attempts: 1, acted: "maybe" },
      { kind: "interrupted", method: "GET", attempts: 0, acted: "no" },
    ]);
    expect(await failureOf(client.listTargets())).toMatchObject({
      kind: "interrupted",
      attempts: 0,
    });
    expect(server.received).toHaveLength(2);
  });

  test("also takes effect if it happened before the client was created", async () => {
    const server = await httpServer((response) => void response.end("[]"));
    const { client } = clientOf(server.url, { signal: AbortSignal.abort() });
    expect(await failureOf(client.listTargets())).toMatchObject({ kind: "interrupted" });
    expect(server.received).toEqual([]);
  });

  test("is also the result of closing the client, for calls in flight", async () => {
    const server = await httpServer(() => undefined);
    const { client } = clientOf(server.url);
    const call = failureOf(client.listTargets());
    await expect.poll(() => server.received.length).toBe(1);
    await client.close();
    expect(await call).toMatchObject({ kind: "interrupted" });
  });
});
