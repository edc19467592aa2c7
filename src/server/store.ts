import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { join, sep } from "node:path";
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

/** The format version, increased when the shape of a stored row changes. */
const FORMAT = 1;

function prepare(db: Database, place: string): void {
  // The version is checked before anything is read: 0 is a new file, and rows of another format
  // cannot be trusted.
  const version = db.prepare("PRAGMA user_version").get()?.["user_version"];
  const summary = `The data in ${place} has format ${String(version)}; this version reads ${FORMAT}`;
  if (version !== 0 && version !== FORMAT)
    throw failed("data-unusable", summary, "Use the version of tasc that wrote it.");
  db.exec(`PRAGMA user_version = ${FORMAT}`);
  db.exec("PRAGMA journal_mode = WAL");
  // FULL, not NORMAL as usual with WAL: an answered write must be on the disk, not only on its way
  // there.
  db.exec("PRAGMA synchronous = FULL");
}

/**
 * Locks the data folder, because two processes would have different faults and timers in memory.
 * The lock is an open transaction on a separate database, which the system releases when the
 * process dies. It is not the data file, because a connection with prepared statements keeps its
 * locks after close() until the statements are garbage-collected.
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

/**
 * Loads Node's own SQLite (from 22.13), or libsql, which a project on Node 20 installs next to
 * tasc.
 */
async function sqlite(): Promise<OpenDatabase> {
  const builtIn = await withoutWarning(() => import("node:sqlite")).catch(() => undefined);
  if (builtIn !== undefined) return (file) => new builtIn.DatabaseSync(file);
  try {
    const { default: Libsql } = await import("libsql");
    return (file) => new Libsql(file);
  } catch {
    const detail = `Node ${process.versions.node} has no SQLite of its own: run \`${installDriver(process.argv[1] ?? "")}\`, or use Node 22.13 or later.`;
    throw failed("sqlite-missing", "The local service needs SQLite", detail);
  }
}

/**
 * Returns the command that installs libsql where this tasc finds it: beside itself. npm keeps what
 * is installed globally in a folder that is not a project.
 * @param program the file that Node runs; a link is followed
 */
function installDriver(program: string): string {
  const file = existsSync(program) ? realpathSync(program) : program;
  const at = file.split(sep).indexOf("node_modules");
  const project = file.split(sep).slice(0, at).join(sep);
  return at < 0 || existsSync(join(project, "package.json"))
    ? "npm install --save-dev libsql"
    : "npm install --global libsql";
}

/**
 * Suppresses Node's warning that the module is experimental, because users did not choose the
 * module.
 */
async function withoutWarning<T>(load: () => Promise<T>): Promise<T> {
  const warn = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    return await load();
  } finally {
    process.emitWarning = warn;
  }
}

/** Maximum number of rows in memory while a table is read. */
const PAGE = 200;

/** One kind of resource, with one row each, in creation order. A test target belongs to itself. */
export type StoredRows<T> = {
  insert(row: T): void;
  update(row: T): void;
  get(id: string): T | undefined;
  /**
   * The rows of one test target, read during the iteration: rows written meanwhile may or may not
   * appear.
   */
  of(testTargetId: string): Iterable<T>;
  all(): Iterable<T>;
  remove(id: string): void;
  clear(): void;
};

function openTable<T extends { readonly id: string; readonly testTargetId?: string }>(
  db: Database,
  name: string,
): StoredRows<T> {
  // AUTOINCREMENT: the position of a removed row is never reused, so an iteration never sees a row
  // twice.
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
  // Only the two statements above write rows, and the file's version guarantees the same for
  // earlier processes: so the parsed value is a T. Reading it like a request would cost more than
  // all the rest of a long list.
  const parse: (json: string) => T = JSON.parse;
  /** Reads page by page, so that no statement stays open while a slow client reads the answer. */
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
