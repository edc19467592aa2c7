import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync as Database } from "node:sqlite";
import { codeOf, failed } from "../model/error.ts";
import type { Collection, Data } from "./resources.ts";

export type StoredTables = { readonly [K in Collection]: StoredRows<Data[K][number]> };

export type Store = StoredTables & {
  write<T>(work: () => T): T;
  readonly close: () => void;
};

/** Opens the store in `dataDir`, or an empty one in memory. @throws TascError */
export async function openStore(dataDir: string | undefined): Promise<Store> {
  const open = await sqlite();
  if (dataDir !== undefined) mkdirSync(dataDir, { recursive: true });
  const lock = dataDir === undefined ? undefined : takeLock(open, dataDir);
  let db: Database | undefined;
  let isOpen = true;
  const close = () => {
    if (isOpen) for (const each of [db, lock]) each?.close();
    isOpen = false;
  };
  try {
    const opened = (db = open(dataDir === undefined ? ":memory:" : join(dataDir, "service.db")));
    prepare(opened, dataDir ?? "memory");
    const write = <T>(work: () => T): T => {
      opened.exec("BEGIN IMMEDIATE");
      try {
        const done = work();
        opened.exec("COMMIT");
        return done;
      } catch (error) {
        opened.exec("ROLLBACK");
        throw error;
      }
    };
    const tables = write((): StoredTables => ({
      testTargets: openTable(opened, "test_targets"),
      environments: openTable(opened, "environments"),
      folders: openTable(opened, "folders"),
      testCases: openTable(opened, "test_cases"),
      testReports: openTable(opened, "test_reports"),
      notifications: openTable(opened, "notifications"),
      generations: openTable(opened, "generations"),
    }));
    return { ...tables, write, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** Counts up when the shape of a stored row changes. */
const FORMAT = 1;

function prepare(db: Database, place: string): void {
  // A file says what it is before it is read: 0 is a new one, and rows of another format are not ours to trust.
  const version = db.prepare("PRAGMA user_version").get()?.["user_version"];
  const summary = `The data in ${place} has format ${String(version)}; this version reads ${FORMAT}`;
  if (version !== 0 && version !== FORMAT)
    throw failed("data-unusable", summary, "Use the version of tasc that wrote it.");
  db.exec(`PRAGMA user_version = ${FORMAT}`);
  db.exec("PRAGMA journal_mode = WAL");
  // FULL, not the usual NORMAL of WAL: an answered write must be on the disk, not merely on its way.
  db.exec("PRAGMA synchronous = FULL");
}

/**
 * Two processes would answer from different memories of faults and running timers. The lock is an open transaction on a
 * database of its own, which the system drops when the process dies. It is not the data file, because a connection with
 * prepared statements keeps its locks past close() until they are collected.
 */
function takeLock(open: OpenDatabase, dataDir: string): Database {
  const lock = open(join(dataDir, "lock.db"));
  try {
    lock.exec("BEGIN EXCLUSIVE");
    return lock;
  } catch (cause) {
    lock.close();
    const isBusy = cause instanceof Error && "errcode" in cause && cause.errcode === 5;
    if (!isBusy && codeOf(cause) !== "SQLITE_BUSY") throw cause;
    const summary = `Another process is serving ${dataDir}`;
    throw failed("data-in-use", summary, "Stop it, or use another folder with --data.");
  }
}

type OpenDatabase = (file: string) => Database;

/** Node's own SQLite (from 22.13), else libsql, which a project on Node 20 installs beside tasc. */
async function sqlite(): Promise<OpenDatabase> {
  const builtIn = await withoutWarning(() => import("node:sqlite")).catch(() => undefined);
  if (builtIn !== undefined) return (file) => new builtIn.DatabaseSync(file);
  try {
    const { default: Libsql } = await import("libsql");
    return (file) => new Libsql(file);
  } catch {
    const detail = `Node ${process.versions.node} has no SQLite of its own: run \`npm install libsql\`, or use Node 22.13 or later.`;
    throw failed("sqlite-missing", "The local service needs SQLite", detail);
  }
}

/** Loading it warns that it is experimental, on the terminal of someone who did not choose it. */
async function withoutWarning<T>(load: () => Promise<T>): Promise<T> {
  const warn = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    return await load();
  } finally {
    process.emitWarning = warn;
  }
}

/** How many rows are held at once while a table is walked. */
const PAGE = 200;

/** One kind of resource, a row each, in creation order. A test target is its own. */
export type StoredRows<T> = {
  insert(row: T): void;
  update(row: T): void;
  get(id: string): T | undefined;
  /** The rows of one test target, read as the walk goes on: rows written meanwhile may or may not be met. */
  of(testTargetId: string): Iterable<T>;
  all(): Iterable<T>;
  remove(id: string): void;
  clear(): void;
};

function openTable<T extends { readonly id: string; readonly testTargetId?: string }>(
  db: Database,
  name: string,
): StoredRows<T> {
  // AUTOINCREMENT: a removed row's place is never taken again, so a walk under way meets no row twice.
  db.exec(
    `CREATE TABLE IF NOT EXISTS ${name} (
       seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, target TEXT NOT NULL, json TEXT NOT NULL);
     CREATE INDEX IF NOT EXISTS ${name}_of_target ON ${name} (target, seq);`,
  );
  const insert = db.prepare(`INSERT INTO ${name} (id, target, json) VALUES (?, ?, ?)`);
  const update = db.prepare(`UPDATE ${name} SET json = ? WHERE id = ?`);
  const get = db.prepare(`SELECT json FROM ${name} WHERE id = ?`);
  const page = (where: string) =>
    db.prepare(`SELECT seq, json FROM ${name} WHERE ${where} seq > ? ORDER BY seq LIMIT ${PAGE}`);
  const [pageOf, pageOfAll] = [page("target = ? AND"), page("")];
  const remove = db.prepare(`DELETE FROM ${name} WHERE id = ?`);
  const clear = db.prepare(`DELETE FROM ${name}`);
  // Nothing but the two statements above writes rows, and the file's version says so of earlier processes too: what
  // is parsed here is a T. Reading it like a request would cost more than all the rest of a long list.
  const parse: (json: string) => T = JSON.parse;
  /** Page by page, so that no statement stays open while someone slow reads the answer. */
  function* walk(pageAfter: (seq: number) => ReturnType<typeof pageOf.all>): Generator<T> {
    let rows = pageAfter(0);
    while (rows.length > 0) {
      for (const { json } of rows) yield parse(String(json));
      rows = pageAfter(Number(rows.at(-1)?.["seq"]));
    }
  }
  return {
    insert: (row) => void insert.run(row.id, row.testTargetId ?? row.id, JSON.stringify(row)),
    update: (row) => void update.run(JSON.stringify(row), row.id),
    get(id) {
      const row = get.get(id);
      return row && parse(String(row["json"]));
    },
    of: (target) => walk((after) => pageOf.all(target, after)),
    all: () => walk((after) => pageOfAll.all(after)),
    remove: (id) => void remove.run(id),
    clear: () => void clear.run(),
  };
}
