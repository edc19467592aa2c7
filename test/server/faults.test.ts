import { describe, expect, test } from "vitest";
import type { Json } from "../../src/model/json.ts";
import { type Harness, KEY, TARGET, at, listAt, objectAt, seed, start } from "./harness.ts";

const target = `/test-targets/${TARGET}`;
const creation = { testTarget: { app: "new", discoveryUrl: "https://new.example.com/" } };

async function faulty(rule: Json): Promise<Harness> {
  const harness = await start({ seed: seed() });
  expect(await harness.control("POST", "/faults", rule)).toMatchObject({ status: 201 });
  return harness;
}

/** Whether the target of `creation` exists. Faults do not apply to control requests. */
async function isCreated({ control }: Harness): Promise<boolean> {
  const apps = listAt((await control("GET", "/data")).body, "testTargets").map((each) =>
    at(each, "app"),
  );
  return apps.includes("new");
}

async function outcomes({ control }: Harness): Promise<Json[]> {
  const entries = listAt((await control("GET", "/requests")).body);
  return entries.map((entry) => [
    objectAt(entry)["status"] ?? null,
    objectAt(entry)["fault"] ?? null,
  ]);
}

test("a status fault before the write sends its own answer and prevents the write", async () => {
  const on = await faulty({
    fault: {
      type: "status",
      status: 503,
      before: true,
      headers: { "retry-after": "7" },
      body: { busy: true },
    },
  });
  const answer = await on.call("POST", "/test-targets", creation);
  expect(answer).toMatchObject({ status: 503, body: { busy: true } });
  expect(answer.headers.get("retry-after")).toBe("7");
  expect(await isCreated(on)).toBe(false);
  expect(await outcomes(on)).toEqual([[503, "status"]]);
});

test("a status fault after the write answers with an error although the write was done", async () => {
  const on = await faulty({ fault: { type: "status", status: 500, before: false } });
  const answer = await on.call("POST", "/test-targets", creation);
  expect(answer).toMatchObject({ status: 500, body: { statusCode: 500 } });
  expect(await isCreated(on)).toBe(true);
});

test.each([
  ["text", "text/plain; charset=utf-8"],
  [{ a: 1 }, "application/json; charset=utf-8"],
])("a status fault's body %j is sent as %s", async (body, type) => {
  const on = await faulty({ fault: { type: "status", status: 429, body } });
  const answer = await on.call("GET", target);
  expect(answer.headers.get("content-type")).toBe(type);
  expect(answer.body).toEqual(body);
});

test.each([
  ["before", false],
  ["after", true],
])("a reset %s the write breaks the connection without an answer", async (when, written) => {
  const on = await faulty({ fault: { type: "reset", when } });
  await expect(on.call("POST", "/test-targets", creation)).rejects.toMatchObject({
    cause: { code: "ECONNRESET" },
  });
  expect(await isCreated(on)).toBe(written);
  expect(await outcomes(on)).toEqual([[null, "reset"]]);
});

test("a truncated answer ends before its content-length, and the write is done", async () => {
  const on = await faulty({ fault: { type: "truncate" } });
  const response = await fetch(`${on.server.url}/apiKey/v3/test-targets`, {
    method: "POST",
    headers: { "x-api-key": KEY, "content-type": "application/json" },
    body: JSON.stringify(creation),
  });
  expect(response.status).toBe(201);
  expect(Number(response.headers.get("content-length"))).toBeGreaterThan(0);
  await expect(response.text()).rejects.toThrow("terminated");
  expect(await isCreated(on)).toBe(true);
  expect(await outcomes(on)).toEqual([[201, "truncate"]]);
});

test("a list can be truncated too", async () => {
  const on = await faulty({ fault: { type: "truncate" } });
  await expect(on.call("GET", `${target}/test-cases`)).rejects.toThrow("terminated");
});

test.each([
  ["before", false],
  ["after", true],
])("a hang %s the write never sends an answer", async (when, written) => {
  const on = await faulty({ fault: { type: "hang", when } });
  const gone = new AbortController();
  const hanging = fetch(`${on.server.url}/apiKey/v3/test-targets`, {
    method: "POST",
    headers: { "x-api-key": KEY, "content-type": "application/json" },
    body: JSON.stringify(creation),
    signal: gone.signal,
  });
  await expect.poll(() => outcomes(on)).toEqual([[null, "hang"]]);
  expect(await isCreated(on)).toBe(written);
  gone.abort();
  await expect(hanging).rejects.toThrow("aborted");
});

test("latency delays the request, which is then carried out", async () => {
  const on = await faulty({ fault: { type: "latency", ms: 60 } });
  const before = performance.now();
  expect((await on.call("POST", "/test-targets", creation)).status).toBe(201);
  expect(performance.now() - before).toBeGreaterThanOrEqual(55);
  expect(await isCreated(on)).toBe(true);
});

test("a server can close while answers are delayed or hang", async () => {
  const on = await faulty({ path: "notifications", fault: { type: "hang" } });
  await on.control("POST", "/faults", {
    path: "test-cases",
    fault: { type: "latency", ms: 600_000 },
  });
  const waiting = [
    on.call("GET", `${target}/notifications`),
    on.call("GET", `${target}/test-cases`),
  ];
  const failures = waiting.map((each) => expect(each).rejects.toThrow("fetch failed"));
  const received = async () => (await outcomes(on)).length;
  await expect.poll(received).toBe(2);
  await on.server.close();
  await Promise.all(failures);
});

describe("a fault rule", () => {
  const fault = { type: "status", status: 503 };
  const rows: [string, Json, number[]][] = [
    ["every request", { fault }, [503, 503, 503, 503, 503]],
    ["those of its method", { method: "PATCH", fault }, [200, 503, 200, 503, 200]],
    ["those whose path matches", { path: "^/test-targets$", fault }, [503, 200, 200, 200, 503]],
    ["the nth", { nth: 2, fault }, [200, 503, 200, 200, 200]],
    ["the first few", { times: 2, fault }, [503, 503, 200, 200, 200]],
    ["a few from the nth on", { nth: 2, times: 3, fault }, [200, 503, 503, 503, 200]],
    ["the nth of its kind", { method: "PATCH", nth: 2, fault }, [200, 200, 200, 503, 200]],
  ];

  test.each(rows)("applies to %s", async (_, rule, expected) => {
    const { call } = await faulty(rule);
    const requests = [
      ["GET", "/test-targets"],
      ["PATCH", target],
      ["GET", target],
      ["PATCH", target],
      ["GET", "/test-targets"],
    ] as const;
    const statuses: number[] = [];
    for (const [method, path] of requests)
      statuses.push((await call(method, path, method === "GET" ? undefined : {})).status);
    expect(statuses).toEqual(expected);
  });

  test("takes precedence over later rules, which still count the request", async () => {
    const { call, control } = await faulty({ nth: 1, fault });
    await control("POST", "/faults", { nth: 2, fault: { type: "status", status: 502 } });
    const statuses = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await call("GET", target)).status);
    expect(statuses).toEqual([503, 502, 200]);
  });
});

test("faults are listed with their number of matches and can be deleted", async () => {
  const { call, control } = await faulty({
    path: "notifications$",
    fault: { type: "latency", ms: 0 },
  });
  await call("GET", `${target}/notifications`);
  expect((await control("GET", "/faults")).body).toEqual([
    { path: "notifications$", fault: { type: "latency", ms: 0 }, matched: 1 },
  ]);
  expect((await control("DELETE", "/faults")).status).toBe(204);
  expect((await control("GET", "/faults")).body).toEqual([]);
});

const badRules: [string, Json, string][] = [
  ["without fault", {}, "fault"],
  ["of no type", { fault: {} }, "fault.type"],
  ["of an unknown type", { fault: { type: "fire" } }, "fault.type"],
  ["with a field of another type", { fault: { type: "truncate", ms: 1 } }, "fault.ms"],
  ["with an invalid status", { fault: { type: "status", status: 99 } }, "fault.status"],
  [
    "with a header that is none",
    { fault: { type: "status", status: 500, headers: { "a b": "c" } } },
    "fault.headers.a b",
  ],
  ["with a path that is no expression", { path: "(", fault: { type: "truncate" } }, "path"],
  ["for the zeroth", { nth: 0, fault: { type: "truncate" } }, "nth"],
];

test.each(badRules)("a rule %s is refused", async (_, rule, field) => {
  const { control } = await start();
  expect(await control("POST", "/faults", rule)).toMatchObject({ status: 400, body: { field } });
});
