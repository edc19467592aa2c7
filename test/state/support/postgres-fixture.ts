import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import type { StateSettings } from "../../../src/model/settings.ts";
import type { StateRuntime } from "../../../src/state/backend.ts";
import { readConfig } from "../../../src/state/config.ts";
import { openBackend } from "../../../src/state/locked.ts";
import { createLockInfo } from "../../../src/state/lock.ts";
import type { Fixture } from "./fixture.ts";
import { realWorld } from "./world.ts";

export interface PostgresFixture extends Fixture {
  readonly folder: string;
  readonly settings: StateSettings;
  /** A connection of the test itself. */
  readonly sql: postgres.Sql;
  /** Ends the connections of all backends, as a network failure or a restart would. */
  cut(): Promise<void>;
}

let schemas = 0;

/** Creates a schema for one test on the server of the test file. */
export async function postgresFixture(url: string): Promise<PostgresFixture> {
  schemas += 1;
  const folder = await mkdtemp(join(tmpdir(), "tasc-state-"));
  const schema = `test_${schemas}`;
  const settings: StateSettings = { backend: "postgres", options: { url, schema } };
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  const table = sql(`${schema}.state`);
  return {
    folder,
    settings,
    sql,
    world: (over) => realWorld(folder, over),
    open: async (over) => await openBackend(readConfig(settings), await realWorld(folder, over)),
    text: async ({ stage, target }) => {
      const [there] = await sql`select to_regclass(${`${schema}.state`}) is not null as made`;
      if (there?.["made"] !== true) return undefined;
      const rows = await sql<{ document: string }[]>`
        select document::text as document from ${table} where stage = ${stage} and target = ${target}`;
      return rows[0]?.document;
    },
    put: async ({ stage, target }, text) => {
      await makeTables(settings, await realWorld(folder));
      await sql`insert into ${table} values (${stage}, ${target}, 7, ${text}::text::json)`;
    },
    cut: async () => {
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and client_addr is not null`;
    },
    dispose: async () => {
      await sql.unsafe(`drop schema if exists ${schema} cascade`);
      await sql.end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Taking a lock creates the tables. */
async function makeTables(settings: StateSettings, world: StateRuntime): Promise<void> {
  const backend = await openBackend(readConfig(settings), world);
  const key = { stage: "any", target: "any", service: "any" };
  await (await backend.lock(key, createLockInfo(world, "test"))).unlock();
  await backend.close();
}
