import { createHash } from "node:crypto";
import { isIP } from "node:net";
import { codeOf } from "../model/error.ts";
import { type JsonObject, jsonIn } from "../model/json.ts";
import { areStateEvents } from "../model/state.ts";
import {
  type Backend,
  type DocumentKey,
  type HeldLock,
  type LockInfo,
  NO_DOCUMENT,
  type StateKey,
  type StoredState,
  lockInfoIn,
} from "./backend.ts";
import type { PostgresConfig } from "./config.ts";
import { storedState } from "./document.ts";
import { Connection, type Row } from "./postgres-client.ts";
import { NO_SERIAL, OwnLocks, PostgresLock } from "./postgres-lock.ts";
import { refuseForeign } from "./postgres-owner.ts";
import { MIGRATING, type Tables, migrations, tablesOf } from "./postgres-tables.ts";
import { StateFailure, attempt, locked, problemOf } from "./problem.ts";

/*
 * A lock is an advisory lock of the connection, so the database itself frees it when its holder dies; a row says who holds
 * it. Each operation is one atomic statement, and many are sent without waiting for each other. Each write checks in its own
 * statement that the lock is held and the document is the one that was read. Functions and operators are those of
 * `pg_catalog`, by full name if they take any type: another role's could match better, and would run with our rights.
 */

/** Number of entries of a stage's history that are kept. */
const ENTRIES = 1000;

/**
 * Maximum number of queued sends of other jobs. More were taken at a far lower rate, which a branch
 * may declare.
 */
const MOST_AHEAD = 1000;

/** Longest wait for other jobs' sends, in seconds, whatever the table says. */
const LONGEST_WAIT = 10;

/** Whether a table or a schema is missing, by SQLSTATE. */
function isMissing(error: unknown): boolean {
  return ["42P01", "3F000"].includes(codeOf(error) ?? "");
}

/**
 * Milliseconds to wait for another session: while it migrates, and after its connection was ended.
 */
const MIGRATION_TIMEOUT = 60_000;
const UNLOCK_TIMEOUT = 10_000;

export class PostgresBackend implements Backend {
  readonly place: string;
  /** The server and database, without credentials. */
  readonly #name: string;
  readonly #config: PostgresConfig;
  readonly #tables: Tables;
  #open: Connection | undefined;
  #isClosed = false;
  readonly #locks: OwnLocks;

  constructor(config: PostgresConfig) {
    this.#config = config;
    this.#tables = tablesOf(config);
    const { hosts, database } = config.connection;
    const places = hosts.map(
      ({ host, port }) => `${isIP(host) === 6 ? `[${host}]` : host}:${port}`,
    );
    this.#name = `postgres://${places.join(",")}/${database}`;
    this.place = `${this.#tables.documents} in ${this.#name}`;
    this.#locks = new OwnLocks(this.#tables);
  }

  /**
   * Returns the connection. A lost one is replaced, but not while locks are held on it: they are
   * gone with it.
   */
  get #connection(): Connection {
    const isKept =
      this.#open?.lost.aborted !== true || this.#isClosed || this.#locks.granted.size > 0;
    if (this.#open === undefined || !isKept) this.#open = new Connection(this.#config.connection);
    return this.#open;
  }

  /**
   * Reads documents and journals, as of one moment. Without tables, it returns nothing and creates
   * none.
   */
  async readAll(keys: readonly DocumentKey[]): Promise<ReadonlyMap<string, StoredState>> {
    const [first] = keys;
    if (first === undefined) return new Map();
    const { documents, journal } = this.#tables;
    const rows = await this.#read(
      this.#name,
      `select k.target, d.document::text as document, coalesce(d.serial, ${NO_SERIAL})::text as serial,
         (select pg_catalog.json_agg(j.events order by j.n)::text from ${journal} j
           where j.stage = $1 and j.target = k.target and j.base = coalesce(d.serial, ${NO_SERIAL})) as events,
         (exists (select from ${journal} j
           where j.stage = $1 and j.target = k.target and j.base <> coalesce(d.serial, ${NO_SERIAL})))::text as stranded
       from json_array_elements_text($2::text::json) k (target)
         left join ${documents} d on d.stage = $1 and d.target = k.target`,
      [first.stage, JSON.stringify(keys.map(({ target }) => target))],
    );
    const all = new Map<string, StoredState>();
    for (const row of rows) {
      const key = { ...first, target: row["target"] ?? "" };
      const stored = storedOf(row, key, this.#where(key));
      if (stored !== undefined) all.set(key.target, stored);
    }
    return all;
  }

  async list(stage: string): Promise<readonly string[]> {
    const { documents, journal } = this.#tables;
    const query = `select target from ${documents} where stage = $1
      union select target from ${journal} where stage = $1`;
    const rows = await this.#read(this.#name, query, [stage]);
    return rows.map((row) => row["target"] ?? "").toSorted();
  }

  /**
   * Takes the lock and writes its row, in one statement, so that neither is done without the other.
   */
  async lock(key: DocumentKey, info: LockInfo): Promise<HeldLock> {
    const { stage, target } = key;
    const number = this.#lockNumber(key);
    const mine = this.#locks.held.get(number);
    if (mine !== undefined) throw locked(key, mine);
    this.#locks.held.set(number, info);
    const where = this.#where(key);
    return await attempt(where, async () => {
      const connection = await this.#prepared();
      const { locks } = this.#tables;
      const [row] = await connection.query(
        `with attempt as materialized (select pg_try_advisory_lock($5::bigint) as taken),
             before as (select info from ${locks} where stage = $1 and target = $2),
             entry as (
               insert into ${locks} (stage, target, id, info)
               select $1::text, $2::text, $3::text, $4::text::json from attempt where taken
               on conflict (stage, target) do update set id = excluded.id, info = excluded.info)
           select (select taken from attempt)::text as taken, (select info from before)::text as info,
             pg_backend_pid()::text as session`,
        [stage, target, info.id, JSON.stringify(info), number],
      );
      const other = lockInfoIn(row?.["info"] ?? "");
      if (row?.["taken"] !== "true") throw locked(key, other ?? (await this.holder(key)));
      this.#locks.granted.add(info.id);
      const session = row["session"] ?? "";
      const granted = { key, where, info, number, session, connection, locks: this.#locks };
      return new PostgresLock(granted, this.#tables, other);
    }).catch((error: unknown) => {
      this.#locks.held.delete(number);
      throw error;
    });
  }

  /**
   * Returns the connection, once it is certain that no other role has made the tables: whoever owns
   * a table can let it run code, by a trigger, a rule or a view, with the rights of its users.
   */
  async #trusted(): Promise<Connection> {
    const connection = this.#connection;
    connection.trusted ??= refuseForeign(connection, this.#config, this.#name).catch(
      (error: unknown) => {
        connection.trusted = undefined;
        throw error;
      },
    );
    // Tables that do not exist yet are checked again once they are there.
    if (!(await connection.trusted)) connection.trusted = undefined;
    return connection;
  }

  /** Returns the connection, prepared once. */
  async #prepared(): Promise<Connection> {
    const connection = this.#connection;
    connection.ready ??= this.#prepare(connection).catch((error: unknown) => {
      connection.ready = undefined;
      throw error;
    });
    await connection.ready;
    return connection;
  }

  /**
   * Creates the tables, and lets the database notice the end of a connection in a minute, rather
   * than in two hours.
   */
  async #prepare(connection: Connection): Promise<void> {
    await this.#refusePooler(connection);
    await this.#trusted();
    await this.#migrate(connection);
    await this.#trusted();
    await connection.query(`select set_config('tcp_keepalives_idle', '30', false),
      set_config('tcp_keepalives_interval', '10', false), set_config('tcp_keepalives_count', '3', false),
      case when current_setting('synchronous_commit') = 'off' then set_config('synchronous_commit', 'on', false) end`);
  }

  /**
   * Refuses a pooler that lends a connection for each transaction. Poolers announce an invented
   * pid. This kind gives a second client the process that served the first client, or the first
   * client another process.
   */
  async #refusePooler(connection: Connection): Promise<void> {
    const first = await connection.process();
    if (first.announced === first.now) return;
    const other = new Connection(this.#config.connection);
    try {
      for (let round = 0; round < 3; round += 1) {
        const theirs = (await other.process()).now;
        const mine = (await connection.process()).now;
        if (theirs === mine || mine !== first.now)
          throw new StateFailure({ kind: "misconfigured", reason: POOLER });
      }
    } finally {
      await other.close();
    }
  }

  async #migrate(connection: Connection): Promise<void> {
    const { meta, metaName, schemaName } = this.#tables;
    const all = migrations(this.#tables);
    const version = async () => {
      const [row] = await this.#read(meta, `select version::text as version from ${meta}`);
      return Number(row?.["version"] ?? 0);
    };
    if ((await version()) >= all.length) return;
    // A process that waits for the lock checks afterwards what is left to do.
    const steps = all.map((step, at) => `if done < ${at + 1} then ${step} end if;`);
    await connection.query(
      `do $migrate$ declare done int := 0; begin
         perform pg_advisory_xact_lock(${MIGRATING});
         -- not to_regclass: what it learnt before the lock was waited for may be out of date
         if exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
             where n.nspname = '${schemaName}' and c.relname = '${metaName}') then
           select coalesce(max(version), 0) into done from ${meta};
         end if;
         ${steps.join("\n")}
         create table if not exists ${meta} (version int not null);
         delete from ${meta} where done < ${all.length};
         insert into ${meta} select ${all.length} where done < ${all.length};
       end $migrate$`,
      [],
      MIGRATION_TIMEOUT,
    );
  }

  /**
   * Returns the holder if a process has the lock. A row alone proves nothing: a process that died
   * may have left it.
   */
  async holder(key: StateKey): Promise<LockInfo | undefined> {
    const [row] = await this.#read(
      this.#where(key),
      `select (select info from ${this.#tables.locks} where stage = $1 and target = $2)::text as info,
         held.pid::text as pid, a.usename::text as role, a.backend_start::text as since
       from (${holdersOf("$3")}) held left join pg_stat_activity a on a.pid = held.pid`,
      [key.stage, key.target, this.#lockNumber(key)],
    );
    return row && (lockInfoIn(row["info"] ?? "") ?? foreignHolder(row));
  }

  /**
   * Ends the connection that holds the lock, and deletes the lock's row unless the connection may
   * not be ended.
   */
  async forceUnlock(key: StateKey, id?: string): Promise<LockInfo | undefined> {
    const number = this.#lockNumber(key);
    const where = this.#where(key);
    const holder = await this.holder(key);
    const isForeign = holder?.id.startsWith(FOREIGN) === true;
    if (holder !== undefined && id !== undefined && holder.id !== id) throw locked(key, holder);
    const ended = await this.#endSessions(
      where,
      holder,
      `with gone as (delete from ${this.#tables.locks}
           where stage = $1 and target = $2 and ($4::text is null or id = $4) returning id)
       select pg_terminate_backend(held.pid)::text from (${holdersOf("$3")}) held
       where held.pid <> pg_backend_pid() and ($4::text is null or exists (select from gone))`,
      [key.stage, key.target, number, isForeign ? null : (holder?.id ?? id ?? null)],
    );
    if (ended.length === 0) return holder;
    // The end of a connection takes a moment. Taking its lock waits for that.
    const waiting = `select pg_advisory_xact_lock($1::bigint)::text`;
    await attempt(where, () => this.#connection.query(waiting, [number], UNLOCK_TIMEOUT));
    return holder;
  }

  /** Ends the sessions that hold a lock. @throws StateFailure that says who may, if it may not */
  async #endSessions(
    where: string,
    holder: LockInfo | undefined,
    query: string,
    parameters: readonly (string | null)[],
  ) {
    return await this.#read(where, query, parameters).catch((error: unknown) => {
      const { reason } = problemOf(error, "failed");
      if (!/permission denied|must be/i.test(reason)) throw error;
      const who = holder === undefined ? "another role" : holder.who;
      throw new StateFailure({
        kind: "failed",
        where,
        reason: `${who} holds the lock, and ending its connection needs the rights of that role, or pg_signal_backend (${reason})`,
        next: "Run the command as a role that may, or end that connection in the database.",
      });
    });
  }

  async versions(key: StateKey) {
    const { versions } = this.#tables;
    const rows = await this.#read(
      this.#where(key),
      `select serial::text as serial,
         to_char(written at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as written
       from ${versions} where stage = $1 and target = $2 order by ${versions}.serial desc`,
      [key.stage, key.target],
    );
    return rows.map(({ serial, written }) => ({ serial: serial ?? "", written: written ?? "" }));
  }

  /**
   * Takes sends from a token bucket, stored as the time of its next token. Unused tokens expire, so
   * none pile up.
   */
  async takeSends(bucket: string, sends: number, perSecond: number): Promise<number> {
    const { rates } = this.#tables;
    return await attempt(`${rates} in ${this.#name}`, async () => {
      const take = async (connection: Connection): Promise<readonly Row[]> =>
        await connection.query(
          `insert into ${rates} as r (bucket, next) values ($1, clock_timestamp() + $2::interval)
           on conflict (bucket) do update set
             next = least(greatest(r.next, clock_timestamp()), clock_timestamp() + $3::interval) + $2::interval
           returning extract(epoch from next - $2::interval - clock_timestamp())::text as wait`,
          [
            bucket,
            `${sends / perSecond} seconds`,
            `${Math.min(MOST_AHEAD / perSecond, LONGEST_WAIT)} seconds`,
          ],
        );
      const [row] = await take(await this.#trusted()).catch(async (error: unknown) => {
        if (!isMissing(error)) throw error;
        return await take(await this.#prepared());
      });
      return Math.min(Math.max(0, Number(row?.["wait"])), LONGEST_WAIT) * 1000;
    });
  }

  async addHistory(stage: string, entry: JsonObject): Promise<void> {
    const { history } = this.#tables;
    return await attempt(history, async () => {
      const connection = await this.#trusted();
      await connection.query(
        `with added as (insert into ${history} (stage, entry) values ($1, $2::text::json))
         delete from ${history} where stage = $1 and n <= (
           select n from ${history} where stage = $1 order by n desc offset ${ENTRIES - 1} limit 1)`,
        [stage, JSON.stringify(entry)],
      );
    });
  }

  async history(stage: string): Promise<readonly unknown[]> {
    const query = `select entry::text as entry from ${this.#tables.history} where stage = $1 order by n`;
    const rows = await this.#read(this.#tables.history, query, [stage]);
    return rows.map((row) => jsonIn(row["entry"] ?? ""));
  }

  /** Returns the number of a document's lock: 64 bits of a digest, signed. */
  #lockNumber({ stage, target }: StateKey): string {
    const name = JSON.stringify(["tasc state", this.#tables.documents, stage, target]);
    return createHash("sha256").update(name).digest().readBigInt64BE().toString();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#open?.close();
  }

  #where({ stage, target }: StateKey): string {
    return `${this.#tables.documents}, row ${stage}/${target}, in ${this.#name}`;
  }

  /**
   * Runs a query. Returns no rows if the tables have not been created yet. If only some are
   * missing, they were removed, and that stays an error: without state, everything would be created
   * once more.
   */
  async #read(where: string, text: string, parameters: readonly (string | null)[] = []) {
    return await attempt(where, async () => {
      const connection = await this.#trusted();
      const query = async (): Promise<readonly Row[]> => await connection.query(text, parameters);
      const rows = await query().catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
      if (rows !== undefined) return rows;
      const [row] = await connection.query(
        `select to_regclass($1)::text as made, to_regclass($2)::text as migrated`,
        [this.#tables.documents, this.#tables.meta],
      );
      // Tables from before there were migrations lack the tables of later migrations.
      if (
        row?.["made"] === null ||
        (row?.["migrated"] === null && !text.includes(this.#tables.journal))
      )
        return [];
      // Another process may have created them in between.
      return await query();
    });
  }
}

const POOLER =
  "state.url leads to a pooler that lends a connection for each transaction (PgBouncer's pool_mode = transaction). Locks belong to connections, so they would be lost or never freed. Use the address of the database itself, or a pool with pool_mode = session";

/**
 * Selects the process that holds a lock. `pg_locks` shows a 64-bit number in two halves, with
 * `objsubid` 1.
 */
function holdersOf(number: string): string {
  return `select held.pid from pg_locks held
    where held.locktype = 'advisory' and held.granted and held.objsubid = 1
      and held.database = (select oid from pg_database where datname = current_database())
      and (held.classid::bigint << 32) | held.objid::bigint = ${number}::bigint`;
}

/** How the id of a lock begins that was not taken by tasc: its number is the database's process. */
const FOREIGN = "session-";

/** Returns who holds an advisory lock that has no row: any role that can connect can take one. */
function foreignHolder({ pid, role, since }: Row): LockInfo {
  const id = `${FOREIGN}${pid}`;
  const start = since === null || since === undefined ? "an unknown time" : since;
  return { id, who: `the role ${role ?? "?"}`, since: start, why: "an advisory lock, not by tasc" };
}

function storedOf(row: Row, key: DocumentKey, where: string): StoredState | undefined {
  if (row["stranded"] === "true")
    throw new StateFailure({ kind: "stranded-journal", where, journal: `the journal of ${where}` });
  const groups = jsonIn(row["events"] ?? "null");
  const events: unknown = Array.isArray(groups) ? groups.flat() : undefined;
  if (groups !== null && !areStateEvents(events))
    throw new StateFailure({
      kind: "corrupt",
      where,
      reason: "its journal is not in the expected format",
    });
  const document = row["document"] ?? undefined;
  const revision = document === undefined ? NO_DOCUMENT : (row["serial"] ?? NO_DOCUMENT);
  return storedState(
    { document, revision, events: areStateEvents(events) ? events : undefined },
    key,
    where,
  );
}
