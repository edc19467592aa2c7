import { describe, expect, test } from "vitest";
import {
  readCreatedBatchGeneration,
  readCreatedDiscovery,
  readCreatedEnvironment,
  readCreatedTarget,
  readUpdatedElement,
  readUpdatedEnvironment,
  readUpdatedTestCase,
} from "../../src/service/answers.ts";
import { readCreation } from "../../src/service/client.ts";
import type { WriteCall } from "../../src/service/request.ts";
import { clientOf, failureOf, valueOf } from "./support/client.ts";
import { httpServer, json, reply } from "./support/server.ts";

const POST: WriteCall = {
  method: "POST",
  path: ["apiKey", "v3", "test-targets"],
  body: { testTarget: { app: "Größe" } },
};
const PATCH: WriteCall = { ...POST, method: "PATCH", path: [...POST.path, "t1"] };

describe("send", () => {
  test.each([POST, PATCH])("$method carries its body as JSON", async (call) => {
    const server = await httpServer((response) => json(response, { id: "t1" }, 201));
    const { client } = clientOf(server.url);
    expect(await valueOf(client.send(call))).toEqual({ body: { id: "t1" }, attempts: 1 });
    expect(server.received[0]).toMatchObject({
      method: call.method,
      url: `/${call.path.join("/")}`,
      body: '{"testTarget":{"app":"Größe"}}',
    });
    expect(server.received[0]?.headers).toMatchObject({
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength('{"testTarget":{"app":"Größe"}}')),
    });
  });

  test.each([
    [200, ""],
    [201, ""],
    [204, undefined],
  ])("an empty %i is an answer without a body", async (status, body) => {
    const server = await httpServer((response) => void response.writeHead(status).end(body));
    const { client } = clientOf(server.url);
    expect(await valueOf(client.send(PATCH))).toEqual({ body: undefined, attempts: 1 });
    expect(await valueOf(client.send(POST))).toEqual({ body: undefined, attempts: 1 });
  });

  test.each([
    ["a page", "<html>done</html>", {}],
    ["half of it", '{"id":', {}],
    ["compressed", "abc", { "content-encoding": "br" }],
  ])(
    "an update whose answer is unreadable (%s) went well; a creation may have",
    async (_name, body, headers) => {
      const server = await httpServer((response) => reply(response, 200, headers, body));
      const { client } = clientOf(server.url);
      expect(await failureOf(client.send(POST))).toMatchObject({
        kind: "unreadable",
        acted: "maybe",
        attempts: 1,
      });
      expect(await valueOf(client.send(PATCH))).toEqual({ body: undefined, attempts: 1 });
      expect(server.received).toHaveLength(2);
    },
  );
});

describe("answers of creations", () => {
  test.each([
    ["target", readCreatedTarget, { id: "t1" }, { id: "t1", environments: undefined }],
    [
      "target with environments",
      readCreatedTarget,
      { id: "t1", environments: [{ id: "e1", type: "DEFAULT", discoveryUrl: "https://a.example" }] },
      { id: "t1", environments: [{ id: "e1", type: "DEFAULT", discoveryUrl: "https://a.example" }] },
    ],
    ["target with odd environments", readCreatedTarget, { id: "t1", environments: [7] }, { id: "t1" }],
    ["environment", readCreatedEnvironment, { id: "e1", name: 7 }, { id: "e1" }],
    [
      "discovery",
      readCreatedDiscovery,
      { discoveryId: "d1", testCaseId: "c1" },
      { discoveryId: "d1", testCaseId: "c1" },
    ],
    ["discovery, half shown", readCreatedDiscovery, { testCaseId: "c1" }, { testCaseId: "c1" }],
    [
      "batch generation",
      readCreatedBatchGeneration,
      { batchGenerationId: "b1" },
      { batchGenerationId: "b1" },
    ],
  ])("%s", (_name, read, body, value) => {
    const result: { readonly ok: boolean } = read(body);
    expect(result).toEqual({ ok: true, value });
  });

  test.each([
    ["target without id", readCreatedTarget, { app: "Shop" }, ["id"], "an id", "nothing"],
    ["target with another id", readCreatedTarget, { id: 7 }, ["id"], "an id", "a number"],
    ["target with an empty id", readCreatedTarget, { id: "" }, ["id"], "an id", "an empty string"],
    ["no answer", readCreatedTarget, undefined, [], "an object", "nothing"],
    ["environment in a list", readCreatedEnvironment, [{ id: "e1" }], [], "an object", "a list"],
    [
      "discovery without case",
      readCreatedDiscovery,
      { discoveryId: "d1" },
      ["testCaseId"],
      "an id",
      "nothing",
    ],
    [
      "batch of null",
      readCreatedBatchGeneration,
      { batchGenerationId: null },
      ["batchGenerationId"],
      "an id",
      "null",
    ],
  ])("%s is not readable", (_name, read, body, at, expected, found) => {
    const result: { readonly ok: boolean } = read(body);
    expect(result).toEqual({ ok: false, failure: { at, expected, found } });
  });

  test("one that shows no id may have been made all the same", async () => {
    const server = await httpServer((response) => json(response, {}));
    const { client } = clientOf(server.url);
    const outcome = await client.send(POST);
    expect(readCreation(POST, outcome, readCreatedTarget)).toEqual({
      ok: false,
      failure: {
        kind: "misshapen",
        at: ["id"],
        expected: "an id",
        found: "nothing",
        method: "POST",
        path: "/apiKey/v3/test-targets",
        attempts: 1,
        acted: "maybe",
      },
    });
  });

  test("a failure stays what it is", async () => {
    const server = await httpServer((response) => reply(response, 400));
    const { client } = clientOf(server.url);
    const outcome = await client.send(POST);
    expect(readCreation(POST, outcome, readCreatedTarget)).toBe(outcome);
  });
});

describe("answers of updates", () => {
  test("what a test case's update shows is taken, what does not fit is not", () => {
    expect(
      readUpdatedTestCase({
        id: "c1",
        description: 7,
        status: "ENABLED",
        folderId: "f1",
        externalId: null,
        tags: ["a", null, "b"],
        elements: [
          { id: "e2", index: 1 },
          { id: "e1", index: 0 },
        ],
      }),
    ).toMatchObject({
      id: "c1",
      description: undefined,
      status: "ENABLED",
      runStatus: undefined,
      folderId: "f1",
      externalId: null,
      tags: ["a", "b"],
      elements: [{ id: "e1" }, { id: "e2" }],
    });
  });

  test.each([undefined, null, [], "done", 7])("of a test case: %j shows nothing", (body) => {
    expect(readUpdatedTestCase(body)).toBeUndefined();
  });

  test("of an element and of an environment", () => {
    expect(readUpdatedElement({ id: "e1", ignoreFailure: true })).toMatchObject({
      id: "e1",
      parts: { ignoreFailure: true },
    });
    expect(readUpdatedElement({ id: 7 })).toBeUndefined();
    expect(readUpdatedElement(undefined)).toBeUndefined();
    expect(readUpdatedEnvironment({ id: "e1" })).toMatchObject({ id: "e1" });
    expect(readUpdatedEnvironment("done")).toBeUndefined();
  });
});
