import { parseJson } from "../json-text.ts";
import type { LockInfo } from "../lock-info.ts";
import { isLockInfo } from "../lock-info.ts";
import type { StateKey } from "../problem.ts";
import type { Client, Query } from "./client.ts";
import { holdsLock } from "./fence.ts";
import type { Tables } from "./tables.ts";
import { queryIfMade } from "./tables.ts";

/** A document's lock: where its row is, and the number of the advisory lock. */
export interface LockName {
  readonly tables: Tables;
  readonly key: StateKey;
  readonly number: string;
}

export interface Taking {
  readonly taken: boolean;
  /** Who holds it; or, if it was taken, who left it without freeing it. */
  readonly holder: LockInfo | undefined;
}

/** Takes the lock and says so in its row, in one statement: nobody sees the one without the other. */
export async function takeLock(
  { query }: Client,
  { tables, key, number }: LockName,
  info: LockInfo,
): Promise<Taking> {
  await prepareConnection(query);
  const [row] = await query(
    `with attempt as materialized (select pg_try_advisory_lock($5::bigint) as taken),
       before as (select info from ${tables.locks} where stage = $1 and target = $2),
       entry as (
         insert into ${tables.locks} (stage, target, id, info)
         select $1::text, $2::text, $3::text, $4::text::json from attempt where taken
         on conflict (stage, target) do update set id = excluded.id, info = excluded.info)
     select (select taken from attempt)::text as taken, (select info from before)::text as info`,
    key.stage,
    key.target,
    info.id,
    JSON.stringify(info),
    number,
  );
  return { taken: row?.["taken"] === "true", holder: parseInfo(row?.["info"]) };
}

/**
 * A machine that vanishes leaves a connection that the database keeps, with its locks, until it notices: by
 * default in two hours, so in a minute or two. And a flush is to be one, whatever the server does by default.
 */
async function prepareConnection(query: Query): Promise<void> {
  await query(
    `select set_config('tcp_keepalives_idle', '30', false), set_config('tcp_keepalives_interval', '10', false),
       set_config('tcp_keepalives_count', '3', false)`,
  );
  await query(
    `select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`,
  );
}

/** Frees the lock and removes its row, if they still are of this holding. */
export async function freeLock({ query }: Client, name: LockName, id: string): Promise<void> {
  const { tables, key, number } = name;
  await query(
    `delete from ${tables.locks} where stage = $1 and target = $2 and id = $3`,
    key.stage,
    key.target,
    id,
  );
  await query(`select pg_advisory_unlock($1::bigint)::text where ${holdsLock("$1")}`, number);
}

/**
 * Takes the lock away from whoever holds it, by ending the connection that does: as long as that lives, the
 * database keeps the lock for it. Returns who it was.
 */
export async function freeByForce(client: Client, name: LockName): Promise<LockInfo | undefined> {
  const { tables, key, number } = name;
  const [row] = await queryIfMade(
    client,
    tables,
    `delete from ${tables.locks} where stage = $1 and target = $2 returning info::text as info`,
    key.stage,
    key.target,
  );
  await client.query(`select pg_advisory_unlock($1::bigint)::text where ${holdsLock("$1")}`, number);
  await client.query(
    `select pg_terminate_backend(pid)::text from pg_stat_activity where ${holdsLock("$1", "pg_stat_activity.pid")}`,
    number,
  );
  await waitUntilFree(client, number);
  return parseInfo(row?.["info"]);
}

/** The end of a connection takes a moment; to get its lock, and give it back at once, is to wait for that. */
async function waitUntilFree(client: Client, number: string): Promise<void> {
  await client.transaction(async (query) => {
    await query(`set local lock_timeout = '10s'`);
    await query(`select pg_advisory_xact_lock($1::bigint)`, number);
  });
}

function parseInfo(text: string | null | undefined): LockInfo | undefined {
  const info = parseJson(text ?? "");
  return isLockInfo(info) ? info : undefined;
}
