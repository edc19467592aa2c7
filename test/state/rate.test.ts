// `service.rateLimit` of several jobs that use one API key and keep their state in one database.
import { afterAll, beforeAll, expect, it, test } from "vitest";
import { setTimeout as delay } from "node:timers/promises";
import { Limiter } from "../../src/service/limiter.ts";
import { Fleet, openWay } from "./support/fleet.ts";
import { type PostgresServer, startPostgres } from "./support/postgres-server.ts";

let database: PostgresServer;
beforeAll(async () => {
  database = await startPostgres();
});
afterAll(async () => {
  await database.stop();
});

it("two processes together keep the rate limit", async () => {
  const fleet = await Fleet.open(12, "{ backend: local }");
  const times: number[] = [];
  const way = await openWay(Number(new URL(fleet.base).port), (bytes) => {
    if (/^(?:GET|POST|PATCH) /.test(bytes.toString("latin1", 0, 8))) times.push(performance.now());
  });
  try {
    fleet.base = `http://127.0.0.1:${way.port}`;
    fleet.setState(
      `{ backend: postgres, url: "${database.url}", schema: rate }`,
      ", rateLimit: 20/s",
    );
    const half = (parity: number) =>
      Array.from({ length: 6 }, (_, n) => `t${2 * n + parity}`).flatMap((key) => [
        "--only",
        `*.${key}`,
        "--only",
        `*.${key}.*`,
      ]);
    const ended = await Promise.all(
      [0, 1].map((parity) => fleet.start(["apply", "--auto-approve", ...half(parity)]).ended),
    );
    for (const { code, stderr } of ended) expect(code, stderr).toBe(0);
    // Each alone may send 20 in a second; together they may not be faster, apart from a few late
    // sends.
    const busiest = times.map(
      (from) => times.filter((at) => at >= from && at < from + 1_000).length,
    );
    expect(times.length).toBeGreaterThan(50);
    expect(Math.max(...busiest)).toBeLessThanOrEqual(28);
    expect(ended.map(({ stderr }) => stderr).join("")).not.toContain("not shared");
  } finally {
    await way.close();
    await fleet.close();
  }
});

it("each process keeps the rate limit alone, with a warning, if the database refuses to share it", async () => {
  const fleet = await Fleet.open(
    1,
    `{ backend: postgres, url: "${database.url}", schema: reader }`,
  );
  try {
    expect((await fleet.run("apply", "--auto-approve")).code).toBe(0);
    const { default: postgres } = await import("postgres");
    const sql = postgres(database.url, { max: 1, onnotice: () => {} });
    await sql.unsafe(
      `create role reader login; grant usage on schema reader to reader; grant select on all tables in schema reader to reader`,
    );
    await sql.end();
    const url = database.url.replace("tasc@", "reader@");
    fleet.setState(
      `{ backend: postgres, url: "${url}", schema: reader, owner: tasc }`,
      ", rateLimit: 1000/s",
    );
    const plan = await fleet.run("plan", "--detailed-exitcode");
    expect(plan.code, plan.stderr).toBe(0);
    expect(plan.stderr).toContain("The rate limit is not shared");
  } finally {
    await fleet.close();
  }
});

test("sharing the rate limit takes less than one query per ten calls", async () => {
  const taken: number[] = [];
  const limiter = new Limiter({
    concurrency: 8,
    rateLimit: 10_000,
    shareRate: async (sends) => {
      taken.push(sends);
      return 0;
    },
    world: { now: () => performance.now(), sleep: (ms) => delay(ms) },
    signal: new AbortController().signal,
  });
  for (let call = 0; call < 200; call += 1) {
    expect(await limiter.enter()).toBe(true);
    limiter.sent(true);
    limiter.leave();
  }
  expect(taken.slice(0, 5)).toEqual([4, 8, 16, 20, 20]);
  expect(taken.length).toBeLessThan(20);
});
