import { createHash } from "node:crypto";
import { type State, type StateEvent, emptyState } from "../model/state.ts";
import { type Backend, type HeldLock, NO_DOCUMENT, type Revision, type StoredState } from "./backend.ts";
import type { PostgresConfig } from "./config.ts";
import { areStateEvents, formatDocument, parseDocument, parseJson } from "./document.ts";
import { applyEvents } from "./events.ts";
import { type LockInfo, isLockInfo } from "./lock.ts";
import {
  type Client,
  type Query,
  type Row,
  attempt,
  codeOf,
  isLossOfConnection,
  openClient,
} from "./postgres-client.ts";
import {
  type DocumentKey,
  type Result,
  type StateKey,
  type StateProblem,
  refusal,
  success,
} from "./problem.ts";

/**
 * Keeps documents in a PostgreSQL database. A lock is an advisory lock of the connection, so that the database
 * itself frees it when its holder dies, wherever that ran; a row beside it tells who holds it.
 *
 * It needs connections of its own: behind a pooler that lends one for each transaction, no lock lasts.
 */
export async function openPostgresBackend(config: PostgresConfig): Promise<Backend> {
  return new PostgresBackend(await openClient(config), tablesOf(config));
}

class PostgresBackend implements Backend {
  readonly #client: Client;
  readonly #tables: Tables;
  /** Locks of this process, by number: to its own connection, the database would give them once more. */
  readonly #held = new Map<string, LockInfo>();

  constructor(client: Client, tables: Tables) {
    this.#client = client;
    this.#tables = tables;
  }

  async read(key: DocumentKey): Promise<Result<StoredState | undefined>> {
    const where = this.#where(key);
    return await attempt(where, async () => await readStored(this.#client, this.#tables, key, where));
  }

  async list(stage: string): Promise<Result<readonly string[]>> {
    const { documents, journal } = this.#tables;
    const query = `select target from ${documents} where stage = $1
      union select target from ${journal} where stage = $1`;
    return await attempt(this.#client.name, async () => {
      const rows = await queryIfMade(this.#client, this.#tables, query, stage);
      return success(rows.map((row) => row["target"] ?? "").toSorted());
    });
  }

  async lock(key: DocumentKey, info: LockInfo): Promise<Result<HeldLock>> {
    const number = lockNumber(this.#tables, key);
    const mine = this.#held.get(number);
    if (mine !== undefined) return locked(key, mine);
    this.#held.set(number, info);
    const lock = await attempt(this.#where(key), async () => await this.#take(key, number, info));
    if (!lock.ok) this.#held.delete(number);
    return lock;
  }

  async #take({ stage, target }: StateKey, number: string, info: LockInfo): Promise<Result<HeldLock>> {
    const key = { stage, target };
    await makeTables(this.#client, this.#tables);
    const name = { tables: this.#tables, key, number };
    const { taken, holder } = await takeLock(this.#client, name, info);
    if (!taken) return locked(key, holder);
    const release = () => this.#held.delete(number);
    const place = { ...name, client: this.#client, where: this.#where(key), release };
    return success(new PostgresLock(place, info, holder));
  }

  async forceUnlock({ stage, target }: StateKey): Promise<Result<LockInfo | undefined>> {
    const key = { stage, target };
    const number = lockNumber(this.#tables, key);
    this.#held.delete(number);
    return await attempt(this.#where(key), async () =>
      success(await freeByForce(this.#client, { tables: this.#tables, key, number })),
    );
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  #where({ stage, target }: StateKey): string {
    return `${this.#tables.documents}, row ${stage}/${target}, in ${this.#client.name}`;
  }
}

function locked({ stage, target }: StateKey, holder: LockInfo | undefined): Result<never> {
  const key = { stage, target };
  return refusal({ kind: "locked", key, ...(holder === undefined ? {} : { holder }) });
}

/** The number that a document's lock goes by: 64 bits of a digest, signed. */
function lockNumber(tables: Tables, { stage, target }: StateKey): string {
  const name = JSON.stringify(["tasc state", tables.documents, stage, target]);
  return createHash("sha256").update(name).digest().readBigInt64BE().toString();
}

/**
 * A condition: the process of this pid, by default that of the asking connection, holds the lock of this number.
 * In `pg_locks` a 64-bit number stands in two halves, with `objsubid` 1.
 */
function holdsLock(number: string, pid = "pg_backend_pid()"): string {
  return `exists (
    select from pg_locks held
    where held.locktype = 'advisory' and held.granted and held.objsubid = 1 and held.pid = ${pid}
      and held.database = (select oid from pg_database where datname = current_database())
      and (held.classid::bigint << 32) | held.objid::bigint = ${number}::bigint)`;
}

/** A condition: nobody took the lock away. Parameters: stage, target, and the id of our holding. */
function isHolder(tables: Tables, stage: string, target: string, id: string): string {
  return `exists (select from ${tables.locks} where stage = ${stage} and target = ${target} and id = ${id})`;
}

const BROKEN = "the connection that held it broke";

/** What a lock belongs to. */
export interface LockPlace extends LockName {
  readonly client: Client;
  /** The document's row, for people. */
  readonly where: string;
  /** Tells the backend that this process holds it no more. */
  readonly release: () => void;
}

/** An advisory lock of our connection, and what may be done as long as that connection has it. */
class PostgresLock implements HeldLock {
  readonly info: LockInfo;
  readonly takenOver?: LockInfo;
  readonly #place: LockPlace;

  constructor(place: LockPlace, info: LockInfo, takenOver: LockInfo | undefined) {
    this.#place = place;
    this.info = info;
    if (takenOver !== undefined) this.takenOver = takenOver;
  }

  async write(state: State, base: Revision): Promise<Result<Revision>> {
    const { client } = this.#place;
    const document = formatDocument(state);
    return await this.#attempt(
      async () =>
        await client.transaction(async (query) => {
          const serial = serialOf(base);
          const refused = await this.#refusal(query, serial);
          if (refused !== undefined) return refusal(refused);
          const next = (BigInt(serial) + 1n).toString();
          await this.#replace(query, document, next);
          return success(next);
        }),
    );
  }

  readonly append = async (events: readonly StateEvent[], base: Revision): Promise<Result<void>> => {
    const { client, tables, key, number, where } = this.#place;
    return await this.#attempt(async () => {
      const added = await client.query(
        `insert into ${tables.journal} (stage, target, base, events)
         select $1::text, $2::text, $3::bigint, $4::text::json
         where ${holdsLock(number)} and ${isHolder(tables, "$1", "$2", "$5")}
           and ${serialIn(tables)} = $3::bigint
         returning n::text`,
        key.stage,
        key.target,
        serialOf(base),
        JSON.stringify(events),
        this.info.id,
      );
      if (added.length === 1) return success(undefined);
      return refusal((await this.#refusal(client.query, serialOf(base))) ?? { kind: "changed", where });
    });
  };

  async unlock(): Promise<Result<void>> {
    const { client, where, release } = this.#place;
    release();
    return await attempt(where, async () => success(await freeLock(client, this.#place, this.info.id)));
  }

  /** With the connection goes the lock, whatever had become of the statement. */
  async #attempt<T>(work: () => Promise<Result<T>>): Promise<Result<T>> {
    const { key, where } = this.#place;
    return await attempt(where, async () => {
      try {
        return await work();
      } catch (error) {
        if (!isLossOfConnection(error)) throw error;
        return refusal({ kind: "lock-lost", key, reason: BROKEN });
      }
    });
  }

  /** Why nothing may be written; `undefined` if it may. */
  async #refusal(query: Query, serial: string): Promise<StateProblem | undefined> {
    const { tables, key, number, where } = this.#place;
    const [row] = await query(
      `select (${holdsLock(number)})::text as connected, (${isHolder(tables, "$1", "$2", "$3")})::text as holder,
         ${serialIn(tables)}::text as serial`,
      key.stage,
      key.target,
      this.info.id,
    );
    if (row?.["connected"] !== "true") return { kind: "lock-lost", key, reason: BROKEN };
    if (row["holder"] !== "true") return { kind: "lock-lost", key, reason: "somebody took it away" };
    return row["serial"] === serial ? undefined : { kind: "changed", where };
  }

  async #replace(query: Query, document: string, serial: string): Promise<void> {
    const { tables, key } = this.#place;
    await query(
      `insert into ${tables.documents} (stage, target, serial, document)
       values ($1, $2, $3::bigint, $4::text::json)
       on conflict (stage, target) do update
       set serial = excluded.serial, document = excluded.document, written = now()`,
      key.stage,
      key.target,
      serial,
      document,
    );
    await query(`delete from ${tables.journal} where stage = $1 and target = $2`, key.stage, key.target);
  }
}

function serialOf(revision: Revision): string {
  return revision === NO_DOCUMENT ? NO_SERIAL : revision;
}

/** The document's serial now; parameters 1 and 2 are stage and target. */
function serialIn({ documents }: Tables): string {
  return `coalesce((select serial from ${documents} where stage = $1 and target = $2), ${NO_SERIAL})`;
}

/** A document's lock: where its row is, and the number of the advisory lock. */
interface LockName {
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
async function takeLock(
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
async function freeLock({ query }: Client, name: LockName, id: string): Promise<void> {
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
async function freeByForce(client: Client, name: LockName): Promise<LockInfo | undefined> {
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

/** The serial that stands for no document; a document's first is 1. */
const NO_SERIAL = "0";

/** Document and journal, as of one moment. Without tables there is neither, and reading makes none. */
async function readStored(
  client: Client,
  tables: Tables,
  key: DocumentKey,
  where: string,
): Promise<Result<StoredState | undefined>> {
  const [row] = await queryIfMade(client, tables, readingOf(tables), key.stage, key.target);
  return row === undefined ? success(undefined) : storedOf(row, key, where);
}

function readingOf({ documents, journal }: Tables): string {
  return `
    select d.document::text as document, coalesce(d.serial, ${NO_SERIAL})::text as serial,
      (select json_agg(j.events order by j.n)::text from ${journal} j
        where j.stage = k.stage and j.target = k.target and j.base = coalesce(d.serial, ${NO_SERIAL})) as events,
      (exists (select from ${journal} j
        where j.stage = k.stage and j.target = k.target and j.base <> coalesce(d.serial, ${NO_SERIAL})))::text as stranded
    from (select $1::text as stage, $2::text as target) k left join ${documents} d using (stage, target)`;
}

function storedOf(row: Row, key: DocumentKey, where: string): Result<StoredState | undefined> {
  if (row["stranded"] === "true")
    return refusal({ kind: "stranded-journal", where, journal: `the journal of ${where}` });
  const document = row["document"] ?? undefined;
  const journal = row["events"] ?? undefined;
  if (document === undefined && journal === undefined) return success(undefined);
  const below = belowJournal(document, key, where);
  if (!below.ok) return below;
  const events = eventsOf(journal);
  if (events === undefined)
    return refusal({ kind: "corrupt", where, reason: "its journal is not as tasc writes it" });
  const revision = document === undefined ? NO_DOCUMENT : (row["serial"] ?? NO_DOCUMENT);
  const state = applyEvents(below.value, events);
  return success({ state, revision, journalled: events.length > 0 });
}

function belowJournal(document: string | undefined, key: DocumentKey, where: string): Result<State> {
  if (document === undefined) return success(emptyState(key.stage, key.target, key.service));
  const parsed = parseDocument(document, key, where);
  return parsed.ok ? success(parsed.value.state) : parsed;
}

/** The events of all rows in their order; `undefined` if they are not events. */
function eventsOf(journal: string | undefined): readonly StateEvent[] | undefined {
  if (journal === undefined) return [];
  const rows = parseJson(journal);
  if (!Array.isArray(rows)) return undefined;
  const events: StateEvent[] = [];
  for (const row of rows) {
    if (!areStateEvents(row)) return undefined;
    for (const event of row) events.push(event);
  }
  return events;
}

/** Names of the tables, quoted for SQL. */
interface Tables {
  readonly schema: string;
  /** A row for each document: its text, and a serial that counts its versions. */
  readonly documents: string;
  /** A row for each group of events since the document of serial `base`. */
  readonly journal: string;
  /** A row for each lock: who holds it. That it is held is an advisory lock of the holder's connection. */
  readonly locks: string;
}

function tablesOf({ schema, table }: PostgresConfig): Tables {
  const name = (suffix: string) => `${quoted(schema)}.${quoted(`${table}${suffix}`)}`;
  return { schema, documents: name(""), journal: name("_journal"), locks: name("_lock") };
}

function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}

/** Any number; it keeps two processes from making the tables at once, which `if not exists` alone does not. */
const MAKING_TABLES = "7236833021149372";

/**
 * Makes what is missing. Asks first: a role that may only use the tables is not to fail over making them.
 */
async function makeTables(client: Client, tables: Tables): Promise<void> {
  if (await areThere(client.query, tables)) return;
  await client.transaction(async (query) => {
    await query(`select pg_advisory_xact_lock($1::bigint)`, MAKING_TABLES);
    const [schema] = await query(`select nspname::text from pg_namespace where nspname = $1`, tables.schema);
    if (schema === undefined) await query(`create schema ${quoted(tables.schema)}`);
    for (const statement of definitions(tables)) await query(statement);
  });
}

async function areThere(query: Query, { documents, journal, locks }: Tables): Promise<boolean> {
  const [row] = await query(
    `select (to_regclass($1) is not null and to_regclass($2) is not null and to_regclass($3) is not null)::text as there`,
    documents,
    journal,
    locks,
  );
  return row?.["there"] === "true";
}

/** `json` rather than `jsonb`: it keeps the text as it is, and can be queried all the same. */
function definitions({ documents, journal, locks }: Tables): readonly string[] {
  return [
    `create table if not exists ${documents} (
      stage text not null,
      target text not null,
      serial bigint not null,
      document json not null,
      written timestamptz not null default now(),
      primary key (stage, target)
    )`,
    `create table if not exists ${journal} (
      n bigint generated always as identity,
      stage text not null,
      target text not null,
      base bigint not null,
      events json not null,
      primary key (stage, target, n)
    )`,
    `create table if not exists ${locks} (
      stage text not null,
      target text not null,
      id text not null,
      info json not null,
      primary key (stage, target)
    )`,
  ];
}

const UNDEFINED_TABLE = "42P01";
const INVALID_SCHEMA = "3F000";

/**
 * The query's rows; none where the tables have not been made yet. Where only some are missing, somebody took them
 * away, and that stays an error: to see no state then would be to make everything once more.
 */
async function queryIfMade(
  { query }: Client,
  { documents }: Tables,
  text: string,
  ...parameters: readonly string[]
): ReturnType<Query> {
  try {
    return await query(text, ...parameters);
  } catch (error) {
    const code = codeOf(error);
    if (code !== UNDEFINED_TABLE && code !== INVALID_SCHEMA) throw error;
    const [row] = await query(`select to_regclass($1)::text as made`, documents);
    if (row?.["made"] === null) return [];
    throw error;
  }
}
