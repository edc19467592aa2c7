import { describe, expect, test } from "vitest";
import { clientOf, failureOf } from "./support/client.ts";
import { httpServer, json, reply } from "./support/server.ts";

const TARGET = { id: "t1", app: "Shop" };

describe("calls of any kind", () => {
  test("do not exceed the concurrency, also in connections, and start in the order in which they were made", async () => {
    const connections = new Set<unknown>();
    let inFlight = 0;
    let most = 0;
    const server = await httpServer(async (response) => {
      connections.add(response.socket);
      most = Math.max(most, ++inFlight);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inFlight--;
      json(response, TARGET);
    });
    const { client, events } = clientOf(server.url, { concurrency: 3 });
    const calls = Array.from({ length: 12 }, (_, at) =>
      at % 2 === 0
        ? client.getTarget(`t${at}`)
        : client.send({
            method: "POST",
            path: ["apiKey", "v3", "test-targets", `t${at}`],
            body: {},
          }),
    );
    await expect(Promise.all(calls)).resolves.toHaveLength(12);
    expect(most).toBe(3);
    expect(connections.size).toBe(3);
    const started = events.flatMap((event) => (event.kind === "started" ? [event.path] : []));
    expect(started).toEqual(calls.map((_, at) => `/apiKey/v3/test-targets/t${at}`));
  });

  test("all wait after one of them gets a 429, and have a lower concurrency afterwards", async () => {
    const server = await httpServer((response, _received, nth) =>
      nth === 1 ? reply(response, 429, { "retry-after": "30" }) : json(response, TARGET),
    );
    const { client, events, world } = clientOf(server.url, { concurrency: 2 });
    const first = client.getTarget("t1");
    const others = Promise.all([
      client.getTarget("t2"),
      client.getTarget("t3"),
      client.getTarget("t4"),
    ]);
    await expect(first).resolves.toBeDefined();
    await others;
    expect(world.sleeps).toEqual([30_000]);
    expect(events).toContainEqual({ kind: "slowed", pause: 30_000, concurrency: 1 });
    const afterwards = events.slice(events.findIndex(({ kind }) => kind === "slowed"));
    // t2 was in flight already; then the rejected call goes before those that had not begun.
    expect(
      afterwards.flatMap((event) => (event.kind === "started" ? [event.path.slice(-2)] : [])),
    ).toEqual(["t1", "t3", "t4"]);
  });

  test("also wait if the rejected call is not retried", async () => {
    const server = await httpServer((response, _received, nth) =>
      nth === 1 ? reply(response, 429) : json(response, TARGET),
    );
    const { client, world } = clientOf(server.url, { concurrency: 1, retries: 0 });
    const first = failureOf(client.getTarget("t1"));
    const second = client.getTarget("t2");
    expect(await first).toMatchObject({ kind: "status", status: 429 });
    await expect(second).resolves.toBeDefined();
    expect(world.sleeps).toEqual([1000]);
  });
});

test("no call is sent between a 429 and the end of its pause", async () => {
  const server = await httpServer((response, _received, nth) =>
    nth <= 3 ? reply(response, 429) : json(response, TARGET),
  );
  const sleeping: (() => void)[] = [];
  const sleep = (): Promise<void> => new Promise((resolve) => sleeping.push(resolve));
  const { client } = clientOf(server.url, {
    concurrency: 2,
    world: { now: () => 0, random: () => 1, sleep },
  });
  const calls = Promise.all([client.getTarget("t1"), client.getTarget("t2")]);
  // Both must wait. Then one goes, because the limit is lower, and must wait again while the other
  // waits its turn.
  await expect.poll(() => sleeping.length).toBe(2);
  for (const wake of sleeping.splice(0)) wake();
  await expect.poll(() => sleeping.length).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(server.received).toHaveLength(3);
  for (const wake of sleeping) wake();
  await expect(calls).resolves.toHaveLength(2);
});

describe("events", () => {
  test("report the sends and waits of a call, but no body, header or query", async () => {
    const server = await httpServer((response, _received, nth) =>
      nth === 1 ? reply(response, 503) : json(response, { data: [], hasNextPage: false }),
    );
    const { client, events } = clientOf(server.url);
    await client.listReports("t1", { createdAt: "2024" });
    const call = { call: 1, method: "GET", path: "/apiKey/v3/test-targets/t1/test-reports" };
    const date: unknown = expect.any(String);
    expect(events).toEqual([
      { kind: "started", ...call, attempt: 1 },
      { kind: "finished", ...call, attempt: 1, status: 503, ms: 0, fault: "status", date },
      {
        kind: "waiting",
        ...call,
        attempt: 1,
        attempts: 6,
        status: 503,
        fault: "status",
        delay: 250,
      },
      { kind: "started", ...call, attempt: 2 },
      { kind: "finished", ...call, attempt: 2, status: 200, ms: 0, fault: undefined, date },
    ]);
  });
});
