import { mkdirSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";

/** Counts up when the shape of a stored row changes. */
const FORMAT = 1;

/** Another process serves the same data: two would answer from different memories of faults and running timers. */
export class DataDirInUseError extends Error {
  override readonly name = "DataDirInUseError";

  constructor(dataDir: string) {
    super(
      `the data directory ${dataDir} is in use by another running service; stop it or choose another directory`,
    );
  }
}

export type OpenDatabase = { readonly db: Database.Database; readonly close: () => void };

/** Opens the data directory for this process alone. */
export function openDatabase(dataDir: string): OpenDatabase {
  mkdirSync(dataDir, { recursive: true });
  const lock = takeLock(dataDir);
  const db = new Database(join(dataDir, "service.db"));
  const close = () => {
    db.close();
    lock.close();
  };
  try {
    prepare(db, dataDir);
    return { db, close };
  } catch (error) {
    close();
    throw error;
  }
}

function prepare(db: Database.Database, dataDir: string): void {
  refuseOtherFormats(db, dataDir);
  db.exec("PRAGMA journal_mode = WAL");
  // FULL, not the usual NORMAL of WAL: an answered write must be on the disk, not merely on its way.
  db.exec("PRAGMA synchronous = FULL");
}

/** A file says what it is before it is read: 0 is one just made, and rows of another format are not ours to trust. */
function refuseOtherFormats(db: Database.Database, dataDir: string): void {
  const [row] = db.prepare("PRAGMA user_version").all();
  const version =
    typeof row === "object" && row !== null && "user_version" in row ? row.user_version : undefined;
  if (version !== 0 && version !== FORMAT)
    throw new Error(`the data in ${dataDir} has format ${String(version)}; this version reads ${FORMAT}`);
  db.exec(`PRAGMA user_version = ${FORMAT}`);
}

/**
 * The lock is an open transaction on a database of its own. The system drops it when the process dies, however it
 * dies, so there is no stale lock to clear; and it is not the data file, because a connection with prepared
 * statements keeps its locks past close() until they are collected.
 */
function takeLock(dataDir: string): Database.Database {
  const lock = new Database(join(dataDir, "lock.db"));
  try {
    lock.exec("BEGIN EXCLUSIVE");
    return lock;
  } catch (cause) {
    lock.close();
    if (cause instanceof Database.SqliteError && cause.code === "SQLITE_BUSY")
      throw new DataDirInUseError(dataDir);
    throw cause;
  }
}
