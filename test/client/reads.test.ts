import { describe, expect, test } from "vitest";
import { KEY, clientOf, failureOf } from "./support/client.ts";
import { httpServer, json, rawServer, reply } from "./support/server.ts";

const TARGET = { id: "t1", app: "Web Shop", tags: ["a", null], environments: [] };

describe("reads", () => {
  test("listing targets sends the key and only the expected headers", async () => {
    const server = await httpServer((response) => json(response, [{ ...TARGET, extra: 1 }]));
    const { client } = clientOf(server.url);
    expect(await client.listTargets()).toEqual([{ id: "t1", app: "Web Shop", environments: [] }]);
    const [request] = server.received;
    expect(request).toMatchObject({ method: "GET", url: "/apiKey/v3/test-targets", body: "" });
    expect(Object.keys(request?.headers ?? {}).toSorted()).toEqual([
      "accept",
      "connection",
      "host",
      "user-agent",
      "x-api-key",
    ]);
    expect(request?.headers["x-api-key"]).toBe(KEY);
  });

  test("the base address may contain a path", async () => {
    const server = await httpServer((response) => json(response, TARGET));
    const { client } = clientOf(`${server.url}/some/where/`);
    await client.getTarget("t1");
    expect(server.received[0]?.url).toBe("/some/where/apiKey/v3/test-targets/t1");
  });

  test("path segments are percent-encoded", async () => {
    const server = await httpServer((response) => json(response, TARGET));
    const { client } = clientOf(server.url);
    await client.getTarget("a/b?c#dé");
    expect(server.received[0]?.url).toBe("/apiKey/v3/test-targets/a%2Fb%3Fc%23d%C3%A9");
  });

  test.each([".", "..", "", "a\nb", "\ud800"])("the path segment %j is rejected", async (id) => {
    const server = await httpServer((response) => json(response, TARGET));
    const { client } = clientOf(server.url);
    await expect(client.getTarget(id)).rejects.toThrow(RangeError);
    expect(server.received).toEqual([]);
  });

  test("test cases are passed to the callback one by one", async () => {
    const server = await httpServer((response) =>
      json(response, [
        { id: "c1", testTargetId: "t1", description: "One" },
        { id: "c2", testTargetId: "t1", description: "Two" },
      ]),
    );
    const { client } = clientOf(server.url);
    const cases = await client.listTestCases("t1", ({ id, description }) => [id, description]);
    expect(cases).toEqual([
      ["c1", "One"],
      ["c2", "Two"],
    ]);
    expect(server.received[0]?.url).toBe("/apiKey/v3/test-targets/t1/test-cases");
  });

  test("a test case of another shape is a failure that names the field", async () => {
    const server = await httpServer((response) =>
      json(response, [
        { id: "c1", testTargetId: "t1" },
        { id: "c2", testTargetId: "t1", elements: [{ selectors: [{ selector: 7 }] }] },
      ]),
    );
    const { client } = clientOf(server.url);
    expect(await failureOf(client.listTestCases("t1", ({ id }) => id))).toEqual({
      kind: "misshapen",
      at: [1, "elements", 0, "selectors", 0, "selector"],
      expected: "a string",
      found: "a number",
      method: "GET",
      path: "/apiKey/v3/test-targets/t1/test-cases",
      attempts: 1,
      acted: "no",
    });
  });

  test("an error of the callback is thrown, and not mistaken for a connection error", async () => {
    const server = await httpServer((response, _received, nth) =>
      nth === 2 ? reply(response, 503) : json(response, [{ id: "c1", testTargetId: "t1" }]),
    );
    const { client } = clientOf(server.url, { concurrency: 1 });
    const keep = (): never => {
      throw new Error("a mistake of ours");
    };
    await expect(client.listTestCases("t1", keep)).rejects.toThrow("a mistake of ours");
    // Its place and its turn are free again: another call, which needs two sends, succeeds.
    await expect(client.listTestCases("t1", ({ id }) => id)).resolves.toBeDefined();
  });

  test.each([
    ["an empty answer", "", { kind: "unreadable", why: "empty" }],
    ["a page", "<html></html>", { kind: "unreadable", why: "not-json" }],
    ["half an answer", '[{"id":', { kind: "unreadable", why: "not-json" }],
    [
      "bytes that are not UTF-8",
      Buffer.from([0x22, 0xff, 0x22]),
      { kind: "unreadable", why: "not-utf-8" },
    ],
    ["an object", "{}", { kind: "misshapen", at: [], expected: "a list", found: "an object" }],
    ["depth without end", "[".repeat(200), { kind: "too-big", what: "depth", limit: 100 }],
  ])("%s is not a list of targets", async (_name, body, failure) => {
    const server = await httpServer((response) => void response.end(body));
    const { client } = clientOf(server.url);
    expect(await failureOf(client.listTargets())).toMatchObject(failure);
    expect(server.received).toHaveLength(1);
  });

  test.each([
    ["an empty answer", "", { kind: "unreadable", why: "empty" }],
    ["a page", "<html></html>", { kind: "unreadable", why: "not-a-list", offset: 0 }],
    ["an object", "{}", { kind: "unreadable", why: "not-a-list", offset: 0 }],
    ["a case that is not JSON", '[{"id":tru}]', { kind: "unreadable", why: "not-json", offset: 1 }],
    ["depth without end", "[".repeat(200), { kind: "too-big", what: "depth", limit: 100 }],
  ])("%s is not a list of test cases", async (_name, body, failure) => {
    const server = await httpServer((response) => void response.end(body));
    const { client } = clientOf(server.url);
    expect(await failureOf(client.listTestCases("t1", ({ id }) => id))).toMatchObject(failure);
    expect(server.received).toHaveLength(1);
  });

  test("brackets in strings do not count as nesting", async () => {
    const app = "[".repeat(200);
    const server = await httpServer((response) => json(response, [{ ...TARGET, app }]));
    const { client } = clientOf(server.url);
    expect(await client.listTargets()).toMatchObject([{ app }]);
  });

  test("a byte order mark is skipped", async () => {
    const server = await httpServer((response) => void response.end("\ufeff[]"));
    const { client } = clientOf(server.url);
    expect(await client.listTargets()).toEqual([]);
    expect(await client.listTestCases("t1", ({ id }) => id)).toEqual([]);
  });

  test("an answer that is compressed without being asked for is reported as compressed", async () => {
    const server = await httpServer((response) =>
      reply(response, 200, { "content-encoding": "gzip" }, "[]"),
    );
    const { client } = clientOf(server.url);
    expect(await failureOf(client.listTargets())).toMatchObject({
      kind: "unreadable",
      why: "compressed",
    });
  });

  test("an informational response before the answer is ignored", async () => {
    const url = await rawServer((socket) =>
      socket.end(
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
      ),
    );
    const { client } = clientOf(url);
    expect(await client.listTargets()).toEqual([]);
  });

  test("status 206 is accepted like status 200", async () => {
    const server = await httpServer((response) => json(response, [TARGET], 206));
    const { client } = clientOf(server.url);
    expect(await client.listTargets()).toHaveLength(1);
  });
});
