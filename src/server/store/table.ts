import type Database from "libsql";
import type { Json } from "../../model/json.ts";
import { parseOwn } from "../read/parse.ts";

/** How many rows are held at once while a table is walked. */
const PAGE = 200;

/** One kind of resource, a row each, in creation order. */
export type Table<T> = {
  insert(row: T): void;
  /** Replaces the row of the same id; its place in the order stays. */
  update(row: T): void;
  get(id: string): T | undefined;
  /** The rows of one test target, read as the walk goes on: rows written meanwhile may or may not be met. */
  of(testTargetId: string): Iterable<T>;
  all(): Iterable<T>;
  /** The rows as they are stored. */
  documents(): Json[];
  remove(id: string): void;
  clear(): void;
};

export function openTable<T extends { readonly id: string }>(
  db: Database.Database,
  name: string,
  testTargetId: (row: T) => string,
): Table<T> {
  createTable(db, name);
  const insert = db.prepare(`INSERT INTO ${name} (id, target, json) VALUES (?, ?, ?)`);
  const update = db.prepare(`UPDATE ${name} SET json = ? WHERE id = ?`);
  const get = db.prepare(`SELECT seq, json FROM ${name} WHERE id = ?`);
  const pageOf = db.prepare(
    `SELECT seq, json FROM ${name} WHERE target = ? AND seq > ? ORDER BY seq LIMIT ${PAGE}`,
  );
  const page = db.prepare(`SELECT seq, json FROM ${name} WHERE seq > ? ORDER BY seq LIMIT ${PAGE}`);
  const remove = db.prepare(`DELETE FROM ${name} WHERE id = ?`);
  const clear = db.prepare(`DELETE FROM ${name}`);
  // Nothing but the two statements above writes rows, and the file's version says so of earlier processes too: what
  // is parsed here is a T. Reading it like a request would cost more than all the rest of a long list.
  const parse: (written: string) => T = JSON.parse;
  return {
    insert: (row) => void insert.run(row.id, testTargetId(row), JSON.stringify(row)),
    update: (row) => void update.run(JSON.stringify(row), row.id),
    get(id) {
      const row = get.get(id);
      return row === undefined ? undefined : parse(rowOf(row).json);
    },
    of: (target) => walk((after) => pageOf.all(target, after), parse),
    all: () => walk((after) => page.all(after), parse),
    documents: () => [...walk((after) => page.all(after), parseOwn)],
    remove: (id) => void remove.run(id),
    clear: () => void clear.run(),
  };
}

/** AUTOINCREMENT: a removed row's place is never taken again, so a walk under way meets no row twice. */
function createTable(db: Database.Database, name: string): void {
  db.exec(
    `CREATE TABLE IF NOT EXISTS ${name} (
       seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, target TEXT NOT NULL, json TEXT NOT NULL);
     CREATE INDEX IF NOT EXISTS ${name}_of_target ON ${name} (target, seq);`,
  );
}

/** Walks page by page, so that no statement stays open while someone slow reads the answer. */
function* walk<T>(pageAfter: (seq: number) => readonly unknown[], parse: (json: string) => T): Generator<T> {
  let rows = pageAfter(0).map(rowOf);
  while (rows.length > 0) {
    for (const { json } of rows) yield parse(json);
    rows = pageAfter(rows.at(-1)?.seq ?? 0).map(rowOf);
  }
}

function rowOf(row: unknown): { readonly seq: number; readonly json: string } {
  if (typeof row === "object" && row !== null && "seq" in row && "json" in row) {
    const { seq, json } = row;
    if (typeof seq === "number" && typeof json === "string") return { seq, json };
  }
  throw new Error("a stored row is not of the expected shape");
}
