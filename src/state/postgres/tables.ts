import type { PostgresConfig } from "../config.ts";
import type { Client, Query } from "./client.ts";
import { codeOf } from "./client.ts";

/** Names of the tables, quoted for SQL. */
export interface Tables {
  readonly schema: string;
  /** A row for each document: its text, and a serial that counts its versions. */
  readonly documents: string;
  /** A row for each group of events since the document of serial `base`. */
  readonly journal: string;
  /** A row for each lock: who holds it. That it is held is an advisory lock of the holder's connection. */
  readonly locks: string;
}

export function tablesOf({ schema, table }: PostgresConfig): Tables {
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
export async function makeTables(client: Client, tables: Tables): Promise<void> {
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
export async function queryIfMade(
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
