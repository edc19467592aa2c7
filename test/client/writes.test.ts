import { describe, expect, test } from "vitest";
import type { WriteCall } from "../../src/service/request.ts";
import { clientOf, failureOf } from "./support/client.ts";
import { httpServer, json, reply } from "./support/server.ts";

const POST: WriteCall = {
  method: "POST",
  path: ["apiKey", "v3", "test-targets"],
  body: { testTarget: { app: "Größe" } },
};
const PATCH: WriteCall = { ...POST, method: "PATCH", path: [...POST.path, "t1"] };

describe("send", () => {
  test.each([POST, PATCH])("$method sends its body as JSON", async (call) => {
    const server = await httpServer((response) => json(response, { id: "t1" }, 201));
    const { client } = clientOf(server.url);
    expect(await client.send(call)).toEqual({ id: "t1" });
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
    expect(await client.send(PATCH)).toBeUndefined();
    expect(await client.send(POST)).toBeUndefined();
  });

  test.each([
    ["a page", "<html>done</html>", {}],
    ["half of it", '{"id":', {}],
    ["compressed", "abc", { "content-encoding": "br" }],
  ])(
    "after an unreadable answer (%s) an update counts as done, and a creation as possibly done",
    async (_name, body, headers) => {
      const server = await httpServer((response) => reply(response, 200, headers, body));
      const { client } = clientOf(server.url);
      expect(await failureOf(client.send(POST))).toMatchObject({
        kind: "unreadable",
        acted: "maybe",
        attempts: 1,
      });
      expect(await client.send(PATCH)).toBeUndefined();
      expect(server.received).toHaveLength(2);
    },
  );
});
