import { once } from "node:events";
import { type Server, createServer } from "node:http";
import { afterEach, beforeEach, describe, expect, it, test, vi } from "vitest";
import type { Backend } from "../../src/state/backend.ts";
import { type HttpConfig, readConfig } from "../../src/state/config.ts";
import { openBackend } from "../../src/state/locked.ts";
import { applyEvents } from "../../src/state/events.ts";
import { addressesOf } from "../../src/state/http.ts";
import { createLockInfo } from "../../src/state/lock.ts";
import { explainProblem } from "../../src/state/problem.ts";
import { openSession } from "./support/session.ts";
import { type HttpFixture, httpFixture } from "./support/http-fixture.ts";
import type { LockMethods } from "./support/http-server.ts";
import { killAtRandom } from "./support/killing.ts";
import { SHOP, numbered, stateAfter, plain } from "./support/numbered.ts";
import { problemOf, readOne } from "./support/result.ts";
import { describeBackend } from "./support/suite.ts";
import { steppedClock } from "./support/world.ts";

const OPTIONS = { why: "tasc apply", timeout: 0 };
const GITLAB = { lock: "POST", unlock: "DELETE", suffix: "/lock", status: 409 };
const GITLAB_OPTIONS = {
  address: "{address}/{stage}/{target}",
  lockAddress: "{address}/{stage}/{target}/lock",
  lockMethod: "POST",
  unlockMethod: "DELETE",
};

async function portOf(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

describeBackend("http", async () => await httpFixture());
describeBackend(
  "http (GitLab's addresses and methods)",
  async () => await httpFixture(GITLAB_OPTIONS, GITLAB),
);

describe("the http backend alone", () => {
  let fixture: HttpFixture;
  let backend: Backend;
  const begin = async (
    options?: Readonly<Record<string, string>>,
    methods?: LockMethods,
  ): Promise<void> => {
    fixture = await httpFixture(options, methods);
    backend = await fixture.open();
  };
  beforeEach(async () => await begin());
  afterEach(async () => {
    await backend.close();
    await fixture.dispose();
  });

  const record = async (...numbers: readonly number[]): Promise<void> => {
    const session = await openSession(backend, SHOP, await fixture.world(), OPTIONS);
    await session.record(numbers.map(numbered));
    await session.close();
  };
  const calls = () => fixture.server.seen.map(({ method, path }) => `${method} ${path}`);

  it("accepts an address with a percent sign that is not an escape", async () => {
    await fixture.dispose();
    await begin({ address: "{address}/100%/{target}" });
    await record(0);
    expect(backend.place).toMatch(/\/100%\/\{target\}$/u);
  });

  it("sends the calls of the protocol in order", async () => {
    let id = 0;
    const world = await fixture.world({ newId: () => `id-${(id += 1)}` });
    const save = async (n: number) => {
      const session = await openSession(backend, SHOP, world, OPTIONS);
      await session.record([numbered(n)]);
      await session.close();
    };
    await save(0);
    expect(calls()).toEqual([
      "LOCK /base/staging/shop",
      "GET /base/staging/shop",
      // Targets without a document are added to the stage's index together, and then looked up in
      // it.
      "GET /base/staging/_index",
      "POST /base/staging/_index",
      "GET /base/staging/_index",
      "GET /base/staging/shop",
      "POST /base/staging/shop?ID=id-1",
      "GET /base/staging/_index",
      "UNLOCK /base/staging/shop?ID=id-1",
    ]);
    fixture.server.seen.length = 0;
    await save(1);
    expect(calls()).toEqual([
      "LOCK /base/staging/shop",
      "GET /base/staging/shop",
      "GET /base/staging/_index",
      "GET /base/staging/shop",
      "POST /base/staging/shop?ID=id-3",
      "UNLOCK /base/staging/shop?ID=id-3",
    ]);
  });

  it("counts the document's versions, for servers that keep versions by number", async () => {
    await record(0);
    await record(1);
    expect(await fixture.text(SHOP)).toContain('\n  "serial": 2,\n');
  });

  it("sends a lock in the format of the protocol", async () => {
    const world = await fixture.world({ newId: () => "id-1", user: "ci" });
    const info = createLockInfo(world, "tasc apply");
    await backend.lock(SHOP, info);
    const body: unknown = JSON.parse(fixture.server.locks.get("/base/staging/shop") ?? "");
    expect(body).toEqual({
      ID: "id-1",
      Operation: "tasc apply",
      Info: JSON.stringify(info),
      Who: info.who,
      Version: "1",
      Created: info.since,
      Path: "staging/shop",
    });
  });

  it("reports the holder of a lock that another program took", async () => {
    const other = {
      ID: "x-1",
      Operation: "OperationTypeApply",
      Who: "ann@laptop",
      Created: "2026-01-02",
    };
    fixture.server.locks.set("/base/staging/shop", JSON.stringify(other));
    const refused = await problemOf(
      backend.lock(SHOP, createLockInfo(await fixture.world(), "tasc apply")),
    );
    const holder = { id: "x-1", who: "ann@laptop", since: "2026-01-02", why: "OperationTypeApply" };
    expect(refused).toEqual({ kind: "locked", key: SHOP, holder });
    expect(await backend.forceUnlock(SHOP)).toEqual(holder);
    expect(fixture.server.locks.size).toBe(0);
  });

  it.each([
    ["asker", undefined],
    ["id", "somebody"],
  ] as const)(
    "frees a lock by its id if the server reports the %s, not the holder",
    async (says, who) => {
      await fixture.dispose();
      await begin({}, { lock: "LOCK", unlock: "UNLOCK", suffix: "", status: 409, says });
      const [holder, asker] = [
        createLockInfo(await fixture.world(), "tasc apply"),
        createLockInfo(await fixture.world(), "tasc plan"),
      ];
      await backend.lock(SHOP, holder);
      const refused = await problemOf(backend.lock(SHOP, asker));
      expect(refused).toMatchObject({ kind: "locked" });
      if (refused.kind === "locked") expect(refused.holder?.who).toBe(who);
      expect(explainProblem(refused).detail).not.toContain(asker.id);
      expect((await problemOf(backend.forceUnlock(SHOP, "another-lock-s-id"))).kind).toBe("locked");
      expect(fixture.server.locks.size).toBe(1);
      expect((await backend.forceUnlock(SHOP, holder.id))?.id).toBe(holder.id);
      expect(fixture.server.locks.size).toBe(0);
    },
  );

  it("reads a document again if the server was still writing it", async () => {
    await record(0);
    const whole = (await fixture.text(SHOP)) ?? "";
    const clock = steppedClock(() => fixture.put(SHOP, whole));
    await fixture.put(SHOP, whole.slice(0, 100));
    const other = await fixture.open({ clock });
    expect(plain((await readOne(other, SHOP))?.state)).toEqual(stateAfter(1));
    expect(clock.slept).toHaveLength(1);
    await other.close();
  });

  it("uses the proxy that the environment names", async () => {
    const asked: (string | undefined)[] = [];
    const proxy = createServer();
    proxy.on("connect", (request, socket) => {
      asked.push(request.url);
      socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    });
    const options = { address: "https://state.example.com/base" };
    const world = await fixture.world({
      environment: { HTTPS_PROXY: `http://127.0.0.1:${await portOf(proxy)}` },
    });
    const reader = await openBackend(readConfig({ backend: "http", options }), world);
    expect((await problemOf(readOne(reader, SHOP))).kind).toBe("failed");
    expect(new Set(asked)).toEqual(new Set(["state.example.com:443"]));
    await reader.close();
    proxy.close();
  });

  it("rejects an endless answer once it is larger than 256 MB", async () => {
    // A slow machine may need longer for so much than the limit of time of a call.
    vi.spyOn(AbortSignal, "timeout").mockImplementation(() => new AbortController().signal);
    const piece = Buffer.alloc(4 * 1024 * 1024);
    const endless = createServer((_, response) => {
      const more = () => response.write(piece, (error) => (error ? undefined : more()));
      more();
      response.on("error", () => {});
    });
    const port = await portOf(endless);
    const config = readConfig({
      backend: "http",
      options: { address: `http://127.0.0.1:${port}` },
    });
    const reader = await openBackend(config, await fixture.world());
    expect(explainProblem(await problemOf(readOne(reader, SHOP))).detail).toContain(
      "larger than 256 MB",
    );
    await reader.close();
    endless.closeAllConnections();
    endless.close();
  });

  it("stops waiting for an endless answer after at most 60 seconds", async () => {
    const limits: number[] = [];
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    vi.spyOn(AbortSignal, "timeout").mockImplementation((limit) => {
      limits.push(limit);
      return timeout(50);
    });
    const slow = createServer((_, response) => {
      const more = setInterval(() => response.write(" "), 10);
      response.on("close", () => clearInterval(more));
    });
    const port = await portOf(slow);
    const config = readConfig({
      backend: "http",
      options: { address: `http://127.0.0.1:${port}` },
    });
    const reader = await openBackend(config, await fixture.world());
    expect((await problemOf(readOne(reader, SHOP))).kind).toBe("failed");
    expect(Math.max(...limits)).toBeLessThanOrEqual(60_000);
    await reader.close();
    slow.closeAllConnections();
    slow.close();
  });

  it("combines many concurrent records into a few writes", async () => {
    const session = await openSession(backend, SHOP, await fixture.world(), OPTIONS);
    await Promise.all(Array.from({ length: 500 }, (_, n) => session.record([numbered(n)])));
    await session.close();
    expect(plain((await readOne(backend, SHOP))?.state)).toEqual(stateAfter(500));
    expect(
      calls().filter((call) => call.startsWith("POST /base/staging/shop")).length,
    ).toBeLessThanOrEqual(3);
  });

  it("keeps all targets in the index if they are first written at the same time", async () => {
    const targets = Array.from({ length: 8 }, (_, n) => `t${n}`);
    const world = await fixture.world();
    await Promise.all(
      targets.map(async (target) => {
        const session = await openSession(backend, { ...SHOP, target }, world, OPTIONS);
        await session.record([{ type: "folder", name: target, id: "f" }]);
        await session.close();
      }),
    );
    expect(await backend.list("staging")).toEqual(targets);
  });

  it("puts a target back in the index if a run that read it earlier wrote it later", async () => {
    const session = await openSession(backend, SHOP, await fixture.world(), OPTIONS);
    await session.record([numbered(0)]);
    expect(await backend.list("staging")).toEqual(["shop"]);
    const index = [...fixture.server.documents.keys()].find((path) => path.endsWith("/_index"));
    fixture.server.documents.delete(index ?? "");
    await session.close();
    expect(await backend.list("staging")).toEqual(["shop"]);
  });

  it.each(["cut before", "cut after", 500, 429, 503] as const)(
    "retries after: %s",
    async (fault) => {
      const failed = new Set<string>();
      fixture.server.fault = ({ method, path }) => {
        const call = `${method} ${path.split("?")[0]}`;
        if (failed.has(call)) return undefined;
        failed.add(call);
        return fault;
      };
      await record(0);
      await record(1);
      expect(plain((await readOne(backend, SHOP))?.state)).toEqual(stateAfter(2));
      expect(fixture.server.locks.size).toBe(0);
    },
  );

  it("gives up after four attempts, and saves the unsaved records when the session closes", async () => {
    const session = await openSession(backend, SHOP, await fixture.world(), OPTIONS);
    await session.record([numbered(0)]);
    fixture.server.seen.length = 0;
    fixture.server.fault = () => "cut after";
    await expect(session.record([numbered(1)])).rejects.toMatchObject({
      problem: { kind: "failed" },
    });
    expect(calls().filter((call) => call.startsWith("POST"))).toHaveLength(4);
    await expect(session.record([numbered(2)])).rejects.toMatchObject({
      problem: { kind: "failed" },
    });
    fixture.server.fault = () => undefined;
    await session.close();
    expect(plain((await readOne(backend, SHOP))?.state)).toEqual(stateAfter(3));
  });

  it.each([
    [401, "state.username"],
    [403, "does not allow"],
    [302, "Redirects are not followed"],
    [405, "state.lockMethod"],
    [418, "status 418"],
  ])("fails with advice on status %i", async (status, words) => {
    fixture.server.fault = () => status;
    const problem = await problemOf(openSession(backend, SHOP, await fixture.world(), OPTIONS));
    expect(problem).toMatchObject({
      kind: "failed",
      where: `${fixture.server.address}/staging/shop`,
    });
    expect(explainProblem(problem).detail).toContain(words);
    expect(fixture.server.seen).toHaveLength(1);
  });

  it("sends credentials but does not show them in errors", async () => {
    await fixture.dispose();
    await begin({ username: "ci", password: "hush-hush" });
    await record(0);
    const expected = `Basic ${Buffer.from("ci:hush-hush").toString("base64")}`;
    expect(new Set(fixture.server.seen.map(({ authorization }) => authorization))).toEqual(
      new Set([expected]),
    );
    fixture.server.fault = () => 401;
    expect(JSON.stringify(await problemOf(readOne(backend, SHOP)))).not.toContain("hush-hush");
  });

  it("works without locks if the server has none, and does not overwrite the work of others", async () => {
    await fixture.dispose();
    await begin({ lock: "false", updateMethod: "PUT" });
    fixture.server.fault = ({ method }) => (method === "GET" || method === "PUT" ? undefined : 405);
    const first = await openSession(backend, SHOP, await fixture.world(), OPTIONS);
    const second = await openSession(backend, SHOP, await fixture.world(), OPTIONS);
    await first.record([numbered(0)]);
    await expect(second.record([numbered(1)])).rejects.toMatchObject({
      problem: { kind: "changed" },
    });
    await first.close();
    await expect(second.close()).rejects.toMatchObject({ problem: { kind: "changed" } });
    expect(plain((await readOne(backend, SHOP))?.state)).toEqual(stateAfter(1));
    expect(await backend.list("staging")).toEqual(["shop"]);
  });

  it("treats an answer without content as a missing document", async () => {
    fixture.server.fault = () => 204;
    expect(await readOne(backend, SHOP)).toBeUndefined();
  });

  it("rejects an index in an unknown format, and leaves it unchanged", async () => {
    fixture.server.documents.set("/base/staging/_index", "{}");
    expect((await problemOf(backend.list("staging"))).kind).toBe("corrupt");
    const refused = openSession(backend, SHOP, await fixture.world(), OPTIONS);
    expect((await problemOf(refused)).kind).toBe("corrupt");
    expect(fixture.server.locks.size).toBe(0);
    expect(fixture.server.documents.get("/base/staging/_index")).toBe("{}");
  });

  it("rejects a history that is nested too deeply to be written again", async () => {
    const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    const text = `{"format":"tasc-state-history","version":1,"stage":"staging","entries":[${deep}]}`;
    fixture.server.documents.set("/base/staging/_history", text);
    expect(await problemOf(backend.addHistory("staging", {}))).toMatchObject({
      kind: "corrupt",
      reason: "it is not in the expected format",
    });
  });

  it("accepts a document without a serial, because another tool may have copied it there", async () => {
    await record(0);
    const text = (await fixture.text(SHOP)) ?? "";
    await fixture.put(SHOP, text.replace(/ {2}"serial": \d+,\n/, ""));
    await record(1);
    expect(plain((await readOne(backend, SHOP))?.state)).toEqual(
      applyEvents(stateAfter(1), [numbered(1)]),
    );
  });

  it("keeps a prefix of the events that killed processes recorded", async () => {
    const { folder, settings } = fixture;
    const betweenRounds = async () => {
      await backend.forceUnlock(SHOP);
    };
    await killAtRandom({ folder, settings, backend, rounds: 6, betweenRounds });
  });
});

describe("addresses", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["https://state.example.com", "https://state.example.com/staging/shop"],
    ["https://state.example.com/team/", "https://state.example.com/team/staging/shop"],
    [
      "https://state.example.com/team?token=x",
      "https://state.example.com/team/staging/shop?token=x",
    ],
    [
      "https://git.example.com/state/{stage}-{target}",
      "https://git.example.com/state/staging-shop",
    ],
    [
      "https://git.example.com/{stage}/state/{target}/raw",
      "https://git.example.com/staging/state/shop/raw",
    ],
    ["https://git.example.com/fixed/{target}", "https://git.example.com/fixed/shop"],
  ];

  test.each(rows)("%s gives the document address %s", (address, expected) => {
    const config: HttpConfig = {
      backend: "http",
      address,
      locking: undefined,
      updateMethod: "POST",
      username: undefined,
      password: undefined,
    };
    expect(addressesOf(config, SHOP).document).toBe(expected);
  });
});
