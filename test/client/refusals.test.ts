import { describe, expect, test } from "vitest";
import { Secret } from "../../src/model/value.ts";
import { describeFailure } from "../../src/service/failure.ts";
import { KEY, clientOf, failureOf } from "./support/client.ts";
import { httpServer, json, reply } from "./support/server.ts";

const POST = { method: "POST", path: ["apiKey", "v3", "test-targets"], body: {} } as const;

describe("refusals", () => {
  test.each([401, 403])(
    "%i is a refused key, reported with the service's message",
    async (status) => {
      const server = await httpServer((response) =>
        json(response, { message: "no such key" }, status),
      );
      const { client } = clientOf(server.url);
      expect(await failureOf(client.send(POST))).toMatchObject({
        kind: "key-refused",
        status,
        words: "no such key",
        acted: "no",
      });
      expect(server.received).toHaveLength(1);
    },
  );

  test.each([
    [301, "https://elsewhere.example:8443/path?token=abc", "elsewhere.example:8443"],
    [302, "//elsewhere.example/path", "elsewhere.example"],
    [303, undefined, undefined],
    [304, undefined, undefined],
    [307, "http://[", undefined],
    [308, "mailto:someone@example.com", undefined],
  ])("a redirect (%i to %s) is not followed", async (status, location, host) => {
    const server = await httpServer((response) =>
      reply(response, status, location === undefined ? {} : { location }),
    );
    const { client } = clientOf(server.url);
    const failure = await failureOf(client.listTargets());
    expect(failure).toMatchObject({ kind: "redirect", status, host, attempts: 1 });
    expect(JSON.stringify(failure)).not.toContain("token");
    expect(server.received).toHaveLength(1);
  });

  test("a redirect within the host names the host", async () => {
    const server = await httpServer((response) => reply(response, 302, { location: "/login" }));
    const { client } = clientOf(server.url);
    expect(await failureOf(client.listTargets())).toMatchObject({ host: new URL(server.url).host });
  });

  test.each([
    [400, "no"],
    [404, "no"],
    [409, "no"],
    [422, "no"],
    [408, "maybe"],
    [500, "maybe"],
    [504, "maybe"],
    [302, "maybe"],
    [600, "maybe"],
  ])("after %i a creation has happened: %s", async (status, acted) => {
    const server = await httpServer((response) => reply(response, status));
    const { client } = clientOf(server.url);
    expect(await failureOf(client.send(POST))).toMatchObject({ acted });
  });

  test("an endless error body is not read to its end", async () => {
    const server = await httpServer((response) => {
      response.writeHead(400);
      response.write("x".repeat(100_000));
    });
    const { client } = clientOf(server.url);
    expect(await failureOf(client.listTargets())).toMatchObject({
      kind: "status",
      words: `${"x".repeat(499)}…`,
    });
  });
});

describe("the key", () => {
  test("is never shown, even if the service repeats it", async () => {
    const server = await httpServer((response, _received, nth) =>
      json(response, { message: `the key ${KEY} is not known` }, nth === 1 ? 503 : 401),
    );
    const { client, events } = clientOf(server.url);
    const failure = await failureOf(client.listTargets());
    expect(failure).toMatchObject({ words: "the key (sensitive) is not known" });
    expect(JSON.stringify([failure, events, describeFailure(failure)])).not.toContain(KEY);
  });

  test("other secrets are removed before the service's message is shortened", async () => {
    const secret = "s3cret-s3cret";
    const server = await httpServer((response) =>
      reply(response, 400, {}, `${"x".repeat(490)} ${secret}`),
    );
    const { client } = clientOf(server.url, {
      redact: (text) => text.replaceAll(secret, "(sensitive)"),
    });
    const failure = await failureOf(client.listTargets());
    expect(JSON.stringify(failure)).not.toContain("s3c");
  });

  test.each(["", "key\n", " key", "k€y"])(
    "is not sent if a header cannot contain it (%j)",
    async (key) => {
      const server = await httpServer((response) => json(response, []));
      const { client } = clientOf(server.url, { apiKey: new Secret(key) });
      expect(await failureOf(client.listTargets())).toMatchObject({
        kind: "unsendable",
        acted: "no",
        attempts: 0,
      });
      expect(server.received).toEqual([]);
    },
  );
});
