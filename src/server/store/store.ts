import type Database from "libsql";
import type { Data, Kind } from "../data/data.ts";
import { openDatabase } from "./database.ts";
import { type Table, openTable } from "./table.ts";

export type Tables = { readonly [K in Kind]: Table<Data[K][number]> };

export type Store = Tables & {
  /** Runs one write as one transaction: all of it is kept or, when it throws, nothing. */
  write<T>(work: () => T): T;
  readonly close: () => void;
};

/** Opens the durable store in `dataDir`; throws DataDirInUseError while another process has it. */
export function openStore(dataDir: string): Store {
  const { db, close } = openDatabase(dataDir);
  const tables = db.transaction(() => openTables(db)).immediate();
  const write = <T>(work: () => T): T => db.transaction(work).immediate();
  return { ...tables, write, close };
}

function openTables(db: Database.Database): Tables {
  return {
    testTargets: openTable(db, "test_targets", (row) => row.id),
    environments: openTable(db, "environments", (row) => row.testTargetId),
    folders: openTable(db, "folders", (row) => row.testTargetId),
    testCases: openTable(db, "test_cases", (row) => row.testTargetId),
    testReports: openTable(db, "test_reports", (row) => row.testTargetId),
    notifications: openTable(db, "notifications", (row) => row.testTargetId),
    generations: openTable(db, "generations", (row) => row.testTargetId),
  };
}
