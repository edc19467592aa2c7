import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { readConfig } from "../../src/state/config.ts";
import { openBackend } from "../../src/state/locked.ts";
import { createLockInfo } from "../../src/state/lock.ts";
import { explainProblem } from "../../src/state/problem.ts";
import { openSession } from "./support/session.ts";
import { killAtRandom } from "./support/killing.ts";
import { SHOP, numbered, stateAfter, plain } from "./support/numbered.ts";
import { type PostgresFixture, postgresFixture } from "./support/postgres-fixture.ts";
import { type PostgresServer, startPostgres } from "./support/postgres-server.ts";
import { problemOf, readOne } from "./support/result.ts";
import { describeBackend } from "./support/suite.ts";
import { realWorld } from "./support/world.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  await server.stop();
});

const OPTIONS = { why: "tasc apply", timeout: 0 };

describeBackend("postgres", async () => await postgresFixture(server.url));

describe("the postgres backend alone", () => {
  let fixture: PostgresFixture;
  beforeEach(async () => {
    fixture = await postgresFixture(server.url);
  });
  afterEach(async () => {
    await fixture.dispose();
  });

  it("reads without creating tables", async () => {
    const backend = await fixture.open();
    expect(await readOne(backend, SHOP)).toBeUndefined();
    const made = await fixture.sql`select 1 from pg_namespace where nspname like 'test_%'`;
    expect(made).toHaveLength(0);
    await backend.close();
  });

  it("reports a missing journal table as a failure, not as missing state", async () => {
    const backend = await fixture.open();
    const session = await openSession(backend, SHOP, await fixture.world(), OPTIONS);
    await session.record([numbered(0)]);
    await session.close();
    await fixture.sql.unsafe(
      `drop table ${String(fixture.settings.options["schema"])}.state_journal`,
    );
    expect((await problemOf(readOne(backend, SHOP))).kind).toBe("failed");
    await backend.close();
  });

  it("creates the tables once if several backends start at the same time", async () => {
    const backends = await Promise.all(Array.from({ length: 4 }, () => fixture.open()));
    const world = await fixture.world();
    const locks = await Promise.all(
      backends.map((backend, n) =>
        backend.lock({ ...SHOP, target: `t${n}` }, createLockInfo(world, "x")),
      ),
    );
    for (const lock of locks) await lock.unlock();
    for (const backend of backends) await backend.close();
  });

  it("needs no right to create tables if they exist", async () => {
    const owner = await fixture.open();
    const session = await openSession(owner, SHOP, await fixture.world(), OPTIONS);
    await session.record([numbered(0)]);
    await session.close();
    await owner.close();
    const { schema } = fixture.settings.options;
    await fixture.sql.unsafe(`
      drop role if exists guest; create role guest login;
      grant usage on schema ${String(schema)} to guest;
      grant select, insert, update, delete on all tables in schema ${String(schema)} to guest`);
    const url = server.url.replace("tasc@", "guest@");
    const guest = await openBackend(
      readConfig({
        backend: "postgres",
        options: { ...fixture.settings.options, url, owner: "tasc" },
      }),
      await fixture.world(),
    );
    const again = await openSession(guest, SHOP, await fixture.world(), OPTIONS);
    await again.record([numbered(1)]);
    await again.close();
    expect(plain((await readOne(guest, SHOP))?.state)).toEqual(stateAfter(2));
    await guest.close();
    await fixture.sql.unsafe(`drop owned by guest; drop role guest`);
  });

  it("does not run functions or operators that another role has created", async () => {
    const { sql } = fixture;
    await sql.unsafe(`
      create role mallory; grant create on schema public to mallory; set role mallory;
      create function public.trap(json, json) returns json language sql as 'select to_json(1 / 0)';
      create aggregate public.json_agg(json) (sfunc = trap, stype = json);
      create function public.trap(numeric, int) returns numeric language sql as 'select 1 / 0 * $1';
      create operator public.* (leftarg = numeric, rightarg = int, function = trap);
      reset role`);
    const backend = await fixture.open();
    const session = await openSession(backend, SHOP, await fixture.world(), OPTIONS);
    await session.record([numbered(0)]);
    expect(plain((await readOne(backend, SHOP))?.state)).toEqual(stateAfter(1));
    expect(await backend.takeSends?.("bucket", 1, 1)).toBe(0);
    expect(await backend.takeSends?.("bucket", 1, 1)).toBeGreaterThan(500);
    await session.close();
    await backend.close();
    await sql.unsafe(`drop owned by mallory cascade; drop role mallory`);
  });

  it("does not run functions that the database owner puts before PostgreSQL's own", async () => {
    const { sql } = fixture;
    await sql.unsafe(`create role mallory`);
    await sql.unsafe(`create database shared owner mallory`);
    const url = server.url.replace(/\/\w+$/, "/shared");
    const other = await postgresFixture(url);
    await other.sql.unsafe(`
      set role mallory; create schema trap;
      create function trap.pg_try_advisory_lock(bigint) returns boolean language sql as 'select 1 / 0 = 1';
      create function trap.pg_backend_pid() returns int language sql as 'select 1 / 0';
      reset role`);
    for (const path of ["trap, pg_catalog", "''"]) {
      await other.sql.unsafe(`alter database shared set search_path = ${path}`);
      const backend = await other.open();
      const session = await openSession(backend, SHOP, await other.world(), OPTIONS);
      await session.record([numbered(0)]);
      expect(plain((await readOne(backend, SHOP))?.state)).toEqual(stateAfter(1));
      await session.close();
      await backend.close();
    }
    await other.dispose();
    await sql.unsafe(`drop database shared with (force)`);
    await sql.unsafe(`drop role mallory`);
  });

  it("limits the wait of a job even if another job has declared a very low rate", async () => {
    const backend = await fixture.open();
    for (let job = 0; job < 3; job += 1) await backend.takeSends?.("bucket", 4, 1 / 3600);
    const wait = (await backend.takeSends?.("bucket", 4, 20)) ?? 0;
    expect(wait).toBeGreaterThan(9_000);
    expect(wait).toBeLessThanOrEqual(10_000);
    await fixture.sql.unsafe(
      `update ${String(fixture.settings.options["schema"])}.state_rate set next = 'infinity'`,
    );
    expect(await backend.takeSends?.("bucket", 4, 20)).toBeLessThanOrEqual(10_000);
    await backend.close();
  });

  describe("with tables of another role", () => {
    const trap = (schema: string) => `
      create function ${schema}.trap() returns trigger language plpgsql as
        $$ begin execute 'create role taken'; return new; end $$;
      create trigger trap before insert on ${schema}.state_lock for each row execute function ${schema}.trap();`;
    const asMallory = async (text: string) =>
      await fixture.sql.unsafe(`set role mallory; ${text}; reset role`);
    const problems = async (user = "tasc", owner?: string) => {
      const { options } = fixture.settings;
      const url = server.url.replace("tasc@", `${user}@`);
      const more = owner === undefined ? {} : { owner };
      const settings = { ...fixture.settings, options: { ...options, ...more, url } };
      const world = await fixture.world();
      const backend = await openBackend(readConfig(settings), world);
      // Nothing is awaited before all have a handler for their rejection.
      const tries = [
        readOne(backend, SHOP),
        backend.list("staging"),
        backend.history("staging"),
        backend.takeSends?.("bucket", 1, 1),
        backend.lock(SHOP, createLockInfo(world, "x")).then((lock) => lock.unlock()),
      ];
      const found = await Promise.all(
        tries.map(
          async (one) =>
            await one?.then(
              () => "works",
              (error: unknown) => error,
            ),
        ),
      );
      await backend.close();
      return found;
    };
    const refused = (found: readonly unknown[], reason: RegExp) =>
      found.forEach((one) => {
        expect(one).toMatchObject({ problem: { kind: "foreign-schema" } });
        expect(JSON.stringify(one)).toMatch(reason);
      });
    const schema = () => String(fixture.settings.options["schema"]);
    const works = ["works", "works", "works", "works", "works"];
    beforeEach(async () => {
      await fixture.sql.unsafe(
        `create role mallory login; grant create on database postgres to mallory`,
      );
    });
    afterEach(async () => {
      await fixture.sql.unsafe(`drop owned by mallory cascade; drop role mallory`);
      expect(await fixture.sql`select from pg_roles where rolname = 'taken'`).toHaveLength(0);
    });

    it("uses no schema that another role made first, unless it is the owner that the settings name", async () => {
      expect(await problems()).toEqual(works);
      await fixture.sql.unsafe(`alter schema ${schema()} rename to kept`);
      await asMallory(`create schema ${schema()}`);
      const key = "stage text, target text";
      await asMallory(`create table ${schema()}.state_lock (${key}, id text, info json); ${trap(schema())}
        create view ${schema()}.state as select 'a' as stage, 1 / (random() * 0) as target`);
      refused(await problems(), /belongs to the role mallory.*owner: mallory/);
      await fixture.sql.unsafe(
        `drop schema ${schema()} cascade; alter schema kept rename to ${schema()}`,
      );
      await fixture.sql.unsafe(`create role guest_of_tasc login;
        grant usage on schema ${schema()} to guest_of_tasc;
        grant all on all tables in schema ${schema()} to guest_of_tasc`);
      refused(await problems("guest_of_tasc"), /belongs to the role tasc/);
      expect(await problems("guest_of_tasc", "tasc")).toEqual(works);
      await fixture.sql.unsafe(`grant tasc to guest_of_tasc`);
      expect(await problems("guest_of_tasc")).toEqual(works);
      await fixture.sql.unsafe(`drop owned by guest_of_tasc; drop role guest_of_tasc`);
    });

    it("uses no table or trigger of another role in a schema of its own", async () => {
      expect(await problems()).toEqual(works);
      await fixture.sql.unsafe(`grant usage, create on schema ${schema()} to mallory;
        grant trigger on ${schema()}.state_lock to mallory`);
      await asMallory(trap(schema()));
      refused(await problems(), /trigger trap on state_lock \(mallory\)/);
      await fixture.sql.unsafe(
        `drop trigger trap on ${schema()}.state_lock; drop table ${schema()}.state_rate`,
      );
      await asMallory(
        `create table ${schema()}.state_rate (bucket text primary key, next timestamptz)`,
      );
      refused(await problems(), /table state_rate \(mallory\)/);
    });
  });

  it("rejects writes after the connection that held the lock is lost", async () => {
    const backend = await fixture.open();
    const session = await openSession(backend, SHOP, await fixture.world(), OPTIONS);
    await session.record([numbered(0)]);
    await fixture.cut();
    await expect(session.record([numbered(1)])).rejects.toMatchObject({
      problem: { kind: "lock-lost" },
    });
    await expect(session.close()).rejects.toMatchObject({ problem: { kind: "lock-lost" } });
    expect(plain((await readOne(backend, SHOP))?.state)).toEqual(stateAfter(1));
    await backend.close();
  });

  it("does not report a lost lock if the connection ends after the session is closed", async () => {
    const backend = await fixture.open();
    const session = await openSession(backend, SHOP, await fixture.world(), OPTIONS);
    await session.close();
    await backend.close();
    expect(session.lost.aborted).toBe(false);
  });

  it("frees the lock of a process that ended, and reports the former holder", async () => {
    const first = await fixture.open();
    const world = await fixture.world({ user: "killed" });
    await first.lock(SHOP, createLockInfo(world, "tasc apply"));
    await first.close();
    const second = await fixture.open();
    const session = await openSession(second, SHOP, world, OPTIONS);
    expect(session.takenOver?.who).toBe(createLockInfo(world, "").who);
    await session.close();
    const third = await openSession(second, SHOP, world, OPTIONS);
    expect(third.takenOver).toBeUndefined();
    await third.close();
    await second.close();
  });

  it("appends records to the journal, and folds them once at the end", async () => {
    const backend = await fixture.open();
    const session = await openSession(backend, SHOP, await fixture.world(), OPTIONS);
    for (let n = 0; n < 10; n += 1) await session.record([numbered(n)]);
    const { schema } = fixture.settings.options;
    const count = async (table: string) =>
      (await fixture.sql.unsafe(`select 1 from ${String(schema)}.${table}`)).length;
    expect([await count("state"), await count("state_journal")]).toEqual([0, 10]);
    await session.close();
    expect([await count("state"), await count("state_journal"), await count("state_lock")]).toEqual(
      [1, 0, 0],
    );
    await backend.close();
  });

  it("reports an unreachable server without showing the password", async () => {
    const url = "postgres://ci:hush-hush@127.0.0.1:1/state";
    const config = readConfig({ backend: "postgres", options: { url } });
    const backend = await openBackend(config, await realWorld(fixture.folder));
    const problem = await problemOf(readOne(backend, SHOP));
    expect(problem.kind).toBe("failed");
    expect(explainProblem(problem).detail).toContain("ECONNREFUSED");
    expect(JSON.stringify(problem)).not.toContain("hush-hush");
    await backend.close();
  });

  it("keeps a prefix of the events that killed processes recorded", async () => {
    const { folder, settings } = fixture;
    const backend = await fixture.open();
    await killAtRandom({ folder, settings, backend, rounds: 6 });
    await backend.close();
  });
});
