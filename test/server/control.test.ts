import { request } from "node:http";
import { describe, expect, test } from "vitest";
import type { Json } from "../../src/model/json.ts";
import {
  at,
  CASE,
  ENVIRONMENT,
  id,
  KEY,
  listAt,
  objectAt,
  OTHER_CASE,
  seed,
  start,
  TARGET,
  testCase,
} from "./harness.ts";

const target = `/test-targets/${TARGET}`;

describe("the request log", () => {
  test("lists requests in order with their statuses, without control requests", async () => {
    const { call, control, server } = await start({ seed: seed() });
    await call("PATCH", target, { app: "store" });
    await call("GET", `${target}/test-cases?filter=%7B%7D`);
    await call("PATCH", target, { app: 7 });
    await fetch(`${server.url}/apiKey/v3${target}`, {
      method: "PATCH",
      headers: { "x-api-key": KEY },
      body: "{",
    });
    await control("GET", "/data");
    expect((await control("GET", "/requests")).body).toEqual([
      { method: "PATCH", path: target, query: {}, body: { app: "store" }, status: 200 },
      {
        method: "GET",
        path: `${target}/test-cases`,
        query: { filter: "{}" },
        body: null,
        status: 200,
      },
      { method: "PATCH", path: target, query: {}, body: { app: 7 }, status: 400 },
      { method: "PATCH", path: target, query: {}, body: "{", status: 415 },
    ]);
  });

  test("can be emptied", async () => {
    const { call, control } = await start();
    await call("GET", "/test-targets");
    expect((await control("DELETE", "/requests")).status).toBe(204);
    expect((await control("GET", "/requests")).body).toEqual([]);
  });
});

describe("the data", () => {
  test("can be copied to another service, including unfinished discoveries", async () => {
    const { call, control } = await start({ seed: seed() });
    await call("POST", `${target}/discoveries`, { name: "n", prompt: "p", folderName: "f" });
    await control("POST", "/reports", { testTargetId: TARGET });
    await call("PATCH", target, { trackerIntegration: { apiKey: "k" } });
    const { body } = await control("GET", "/data");
    const second = await start();
    expect((await second.control("PUT", "/data", body)).status).toBe(204);
    expect((await second.control("GET", "/data")).body).toEqual(body);
    expect((await second.control("POST", "/discoveries/finish")).body).toEqual({ finished: 1 });
  });

  test("is replaced as a whole", async () => {
    const { call, control } = await start({ seed: seed() });
    await control("PUT", "/data", { testTargets: [{ id: id(9), app: "only" }] });
    expect((await call("GET", "/test-targets")).body).toEqual([
      { id: id(9), app: "only", tags: [], environments: [] },
    ]);
    expect(at((await control("GET", "/data")).body, "testCases")).toEqual([]);
  });

  const bad: [string, Json, string][] = [
    ["of an unknown kind", { secrets: [] }, "secrets"],
    [
      "with an unknown field",
      { testTargets: [{ id: id(9), app: "a", url: "x" }] },
      "testTargets[0].url",
    ],
    ["whose owner is not there", seed({ testTargets: [] }), "environments[0].testTargetId"],
    ["that comes twice", seed({ testCases: [testCase(), testCase()] }), "testCases[1].id"],
  ];

  test.each(bad)("rejects data %s and keeps the old data", async (_, document, field) => {
    const { control } = await start({ seed: seed() });
    const before = (await control("GET", "/data")).body;
    expect(await control("PUT", "/data", document)).toMatchObject({ status: 400, body: { field } });
    expect((await control("GET", "/data")).body).toEqual(before);
  });

  test("is only seeded if the directory is empty", async () => {
    const first = await start({ seed: seed() });
    await first.call("PATCH", target, { app: "store" });
    await first.server.close();
    const { call } = await start({ dataDir: first.dataDir, seed: seed() });
    expect(at((await call("GET", target)).body, "app")).toBe("store");
  });
});

describe("an edit through the control interface", () => {
  test("changes any field of a test case, and its updatedAt", async () => {
    const { call, control } = await start({ seed: seed() });
    const before = at((await call("GET", `${target}/test-cases`)).body, 0);
    const set = {
      description: "sign in",
      tags: ["x"],
      teardownTestCaseId: id(5),
      createdBy: "IMPORT",
    };
    expect((await control("POST", "/edit", { kind: "testCase", id: CASE, set })).status).toBe(200);
    const after = at((await call("GET", `${target}/test-cases`)).body, 0);
    expect(after).toEqual({ ...objectAt(before), ...set, updatedAt: at(after, "updatedAt") });
    expect(at(after, "updatedAt")).not.toBe(at(before, "updatedAt"));
  });

  test("accepts elements in the form in which they are listed", async () => {
    const { call, control } = await start({ seed: seed() });
    const before = at((await call("GET", `${target}/test-cases`)).body, 0, "elements");
    await control("POST", "/edit", { kind: "testCase", id: CASE, set: { elements: before } });
    expect(at((await call("GET", `${target}/test-cases`)).body, 0, "elements")).toEqual(before);
  });

  test("sets a test case to DELETED, which removes it from the list", async () => {
    const { call, control } = await start({ seed: seed() });
    await control("POST", "/edit", { kind: "testCase", id: CASE, set: { status: "DELETED" } });
    expect((await call("GET", `${target}/test-cases`)).body).toEqual([]);
    expect(listAt((await control("GET", "/data")).body, "testCases")).toHaveLength(2);
  });

  test("removes a test case, an environment, and a target with its contents", async () => {
    const { call, control } = await start({ seed: seed() });
    const remove = (kind: string, resource: string) =>
      control("POST", "/edit", { kind, id: resource, remove: true });
    expect((await remove("testCase", CASE)).status).toBe(204);
    expect((await call("PATCH", `${target}/test-cases/${CASE}`, {})).status).toBe(404);
    await remove("environment", ENVIRONMENT);
    expect(at((await call("GET", target)).body, "environments")).toEqual([]);
    await remove("testTarget", id(2));
    const { body } = await control("GET", "/data");
    expect(at(body, "testTargets")).toHaveLength(1);
    expect([at(body, "environments"), at(body, "testCases")]).toEqual([[], []]);
  });

  test("changes an environment and a target", async () => {
    const { call, control } = await start({ seed: seed() });
    const set = { type: "ADDITIONAL", emailPrefix: "qa", emailDomain: "example.org" };
    await control("POST", "/edit", { kind: "environment", id: ENVIRONMENT, set });
    await control("POST", "/edit", {
      kind: "testTarget",
      id: TARGET,
      set: { app: "store", tags: [null] },
    });
    expect((await call("GET", target)).body).toEqual({
      id: TARGET,
      app: "store",
      tags: [null],
      environments: [
        {
          id: ENVIRONMENT,
          type: "ADDITIONAL",
          discoveryUrl: "https://shop.example.com/",
          email: "qa@example.org",
        },
      ],
    });
  });

  const bad: [string, Json, number][] = [
    ["an unknown resource", { kind: "testCase", id: id(0xdead), set: {} }, 404],
    ["an unknown kind", { kind: "folder", id: CASE, set: {} }, 400],
    ["an unknown field", { kind: "testCase", id: CASE, set: { name: "x" } }, 400],
    ["an unknown status", { kind: "testCase", id: CASE, set: { status: "GONE" } }, 400],
    ["an identity", { kind: "testCase", id: CASE, set: { id: OTHER_CASE } }, 400],
  ];

  test.each(bad)("rejects %s", async (_, body, status) => {
    const { control } = await start({ seed: seed() });
    expect((await control("POST", "/edit", body)).status).toBe(status);
  });
});

describe("access", () => {
  const rows: [string, Record<string, string>, number][] = [
    ["a loopback name", { host: "localhost:4010" }, 200],
    ["another loopback address", { host: "127.0.0.2" }, 200],
    ["the other loopback address", { host: "[::1]:4010" }, 200],
    ["a name that was made to point here", { host: "evil.example.com" }, 403],
    ["a name that only begins like ours", { host: "127.0.0.1.example.com" }, 403],
    ["a page from elsewhere", { host: "127.0.0.1", origin: "https://evil.example.com" }, 403],
    ["a page without origin", { host: "127.0.0.1", origin: "null" }, 403],
    ["a tool of this machine", { host: "127.0.0.1", origin: "http://localhost:3000" }, 200],
    ["an address that someone typed", { host: "127.0.0.1", "sec-fetch-site": "none" }, 200],
    ["a page of another site", { host: "127.0.0.1", "sec-fetch-site": "cross-site" }, 403],
    ["a page of this machine", { host: "127.0.0.1", "sec-fetch-site": "same-site" }, 403],
  ];

  test.each(rows)("%s with headers %j gets status %i", async (_, headers, status) => {
    const { server } = await start();
    const answered = (url: string) =>
      new Promise((resolve, reject) => {
        request(url, { headers: { "x-api-key": KEY, ...headers } }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
          .on("error", reject)
          .end();
      });
    expect(await answered(`${server.controlUrl}/data`)).toBe(status);
    expect(await answered(`${server.url}/apiKey/v3/test-targets`)).toBe(status);
    expect(await answered(`${server.url}/elsewhere`)).toBe(status === 200 ? 404 : status);
  });

  test("the body of a request with a wrong key is not logged", async () => {
    const { call, control } = await start();
    expect(
      (await call("POST", "/test-targets", { app: "Large" }, { "x-api-key": "wrong" })).status,
    ).toBe(403);
    expect((await control("GET", "/requests")).body).toMatchObject([{ status: 403, body: null }]);
  });

  test("the control interface requires the key", async () => {
    const { server } = await start();
    expect((await fetch(`${server.controlUrl}/data`)).status).toBe(401);
    const wrong = await fetch(`${server.controlUrl}/data`, { headers: { "x-api-key": "wrong" } });
    expect(wrong.status).toBe(403);
  });

  test("a write without a JSON content type is refused, so that web forms cannot write", async () => {
    const { server } = await start();
    const answer = await fetch(`${server.controlUrl}/data`, {
      method: "PUT",
      headers: { "x-api-key": KEY },
      body: "{}",
    });
    expect(answer.status).toBe(415);
  });
});

test("unknown control paths and methods are refused", async () => {
  const { control } = await start();
  expect((await control("GET", "/nothing")).status).toBe(404);
  const answer = await control("PATCH", "/data", {});
  expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, PUT"]);
});
