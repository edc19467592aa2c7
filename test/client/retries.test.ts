import { describe, expect, test } from "vitest";
import type { Client } from "../../src/service/client.ts";
import { clientOf, failureOf } from "./support/client.ts";
import { closedPort, httpServer, json, rawServer, reply } from "./support/server.ts";

const PATH = ["apiKey", "v3", "test-targets", "t1"];

const get = (client: Client) => client.getTarget("t1");
const patch = (client: Client) =>
  client.send({ method: "PATCH", path: PATH, body: { app: "Shop" } });
const post = (client: Client) =>
  client.send({ method: "POST", path: [...PATH, "discoveries"], body: { name: "n", prompt: "p" } });

const OK = { id: "t1", app: "Shop" };

describe("retries by status", () => {
  test.each([
    ["GET", 408, get],
    ["GET", 429, get],
    ["GET", 500, get],
    ["GET", 503, get],
    ["GET", 599, get],
    ["PATCH", 408, patch],
    ["PATCH", 429, patch],
    ["PATCH", 502, patch],
    ["POST", 429, post],
  ])("a %s is retried after a temporary status (%i)", async (_method, status, call) => {
    const server = await httpServer((response, _received, nth) =>
      nth < 3 ? reply(response, status) : json(response, OK),
    );
    const { client, world } = clientOf(server.url);
    await expect(call(client)).resolves.toBeDefined();
    expect(server.received).toHaveLength(3);
    expect(world.sleeps).toEqual(status === 429 ? [1000, 2000] : [250, 500]);
  });

  test.each([
    ["GET", 400, get],
    ["GET", 404, get],
    ["PATCH", 409, patch],
    ["PATCH", 422, patch],
    ["POST", 400, post],
    ["POST", 408, post],
    ["POST", 500, post],
    ["POST", 503, post],
  ])("a %s is not retried after other statuses (%i)", async (_method, status, call) => {
    const server = await httpServer((response) => reply(response, status));
    const { client, world } = clientOf(server.url);
    expect(await failureOf(call(client))).toMatchObject({ kind: "status", status, attempts: 1 });
    expect(server.received).toHaveLength(1);
    expect(world.sleeps).toEqual([]);
  });

  test("five retries allow six sends", async () => {
    const server = await httpServer((response) => reply(response, 503));
    const { client, world } = clientOf(server.url);
    expect(await failureOf(get(client))).toMatchObject({
      kind: "status",
      status: 503,
      attempts: 6,
    });
    expect(server.received).toHaveLength(6);
    expect(world.sleeps).toEqual([250, 500, 1000, 2000, 4000]);
  });

  test("without retries, a call is sent once", async () => {
    const server = await httpServer((response) => reply(response, 503));
    const { client } = clientOf(server.url, { retries: 0 });
    expect(await failureOf(get(client))).toMatchObject({ attempts: 1 });
  });

  test("Retry-After sets the wait before a retry", async () => {
    const server = await httpServer((response, _received, nth) =>
      nth === 1 ? reply(response, 503, { "retry-after": "7" }) : json(response, OK),
    );
    const { client, world } = clientOf(server.url);
    await get(client);
    expect(world.sleeps).toEqual([7000]);
  });
});

describe("connections", () => {
  test.each([
    ["GET", get],
    ["PATCH", patch],
    ["POST", post],
  ])("a %s that was refused a connection was not sent, so it is retried", async (_method, call) => {
    const { client, events } = clientOf(await closedPort(), { retries: 2 });
    const failure = await failureOf(call(client));
    expect(failure).toMatchObject({ kind: "unreachable", cause: "refused", code: "ECONNREFUSED" });
    expect(failure).toMatchObject({ attempts: 3, acted: "no" });
    expect(events.filter(({ kind }) => kind === "started")).toHaveLength(3);
  });

  test("a name that does not resolve is reported as such", async () => {
    const { client } = clientOf("https://no-such-host.invalid", { retries: 0 });
    expect(await failureOf(get(client))).toMatchObject({
      kind: "unreachable",
      cause: "name",
      host: "no-such-host.invalid",
      acted: "no",
    });
  });

  const broken = [
    [
      "reset before the answer",
      (socket: { resetAndDestroy(): unknown }) => socket.resetAndDestroy(),
    ],
    ["closed before the answer", (socket: { end(): unknown }) => socket.end()],
    [
      "closed within the headers",
      (socket: { end(text: string): unknown }) => socket.end("HTTP/1.1 200 OK\r\nCon"),
    ],
    [
      "closed within the body",
      (socket: { end(text: string): unknown }) =>
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"id"'),
    ],
    [
      "closed within a chunk",
      (socket: { end(text: string): unknown }) =>
        socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{"id"'),
    ],
    [
      "no HTTP at all",
      (socket: { end(text: string): unknown }) => socket.end("220 mail ready\r\n"),
    ],
  ] as const;

  test.each(broken)("a GET and a PATCH are retried after: %s", async (_name, breakIt) => {
    const answer = `HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${JSON.stringify(OK)}`;
    const url = await rawServer((socket, nth) =>
      nth % 2 === 1 ? breakIt(socket) : socket.end(answer),
    );
    const { client } = clientOf(url);
    await expect(get(client)).resolves.toBeDefined();
    await expect(patch(client)).resolves.toBeDefined();
  });

  test.each(broken)(
    "a POST is not retried, as it may have happened, after: %s",
    async (_name, breakIt) => {
      let count = 0;
      const url = await rawServer((socket) => {
        count++;
        breakIt(socket);
      });
      const { client } = clientOf(url);
      expect(await failureOf(post(client))).toMatchObject({
        kind: "broken",
        attempts: 1,
        acted: "maybe",
      });
      expect(count).toBe(1);
    },
  );

  test("an earlier send that may have acted counts for the whole call", async () => {
    const url = await rawServer((socket, nth) =>
      nth === 1
        ? void socket.resetAndDestroy()
        : void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"),
    );
    const { client } = clientOf(url);
    expect(await failureOf(patch(client))).toMatchObject({
      kind: "status",
      attempts: 2,
      acted: "maybe",
    });
  });

  test("a rejection by the service counts even if its body is cut off", async () => {
    const url = await rawServer((socket) =>
      socket.end("HTTP/1.1 400 Bad\r\nContent-Length: 99\r\n\r\n{"),
    );
    const { client } = clientOf(url);
    expect(await failureOf(post(client))).toMatchObject({
      kind: "status",
      status: 400,
      acted: "no",
    });
  });
});

describe("a list that breaks off", () => {
  const CASES = ["c1", "c2", "c3"].map((id) => ({ id, testTargetId: "t1" }));
  const half = JSON.stringify(CASES).slice(0, 80);

  test.each([
    ["with a length", `Content-Length: 999\r\n\r\n${half}`],
    ["in chunks", `Transfer-Encoding: chunked\r\n\r\n${half.length.toString(16)}\r\n${half}\r\n`],
    ["until the connection ends", `\r\n${half}`],
  ])("is read again from its beginning (sent %s)", async (_name, headersAndBody) => {
    const url = await rawServer((socket, nth) =>
      socket.end(
        nth === 1
          ? `HTTP/1.1 200 OK\r\n${headersAndBody}`
          : `HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${JSON.stringify(CASES)}`,
      ),
    );
    const read: string[] = [];
    const { client } = clientOf(url);
    const listed = await client.listTestCases("t1", ({ id }) => {
      read.push(id);
      return id;
    });
    expect(listed).toEqual(["c1", "c2", "c3"]);
    expect(read).toEqual(["c1", "c2", "c1", "c2", "c3"]);
  });

  test("is a failure if it breaks off every time", async () => {
    const url = await rawServer((socket) => socket.end(`HTTP/1.1 200 OK\r\n\r\n${half}`));
    const { client } = clientOf(url, { retries: 1 });
    expect(await failureOf(client.listTestCases("t1", ({ id }) => id))).toMatchObject({
      kind: "broken",
      code: "CUT_OFF",
      attempts: 2,
    });
  });
});
