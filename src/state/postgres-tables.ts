import type { PostgresConfig } from "./config.ts";

export type Tables = ReturnType<typeof tablesOf>;

/**
 * Returns names quoted for SQL, except `schemaName` and `metaName`. docs/how-to/operate-postgres.md
 * explains the tables.
 */
export function tablesOf({ schema, table }: PostgresConfig) {
  const quoted = (identifier: string) => `"${identifier.replaceAll('"', '""')}"`;
  const name = (suffix: string) => `${quoted(schema)}.${quoted(`${table}${suffix}`)}`;
  return {
    schema: quoted(schema),
    schemaName: schema,
    documents: name(""),
    journal: name("_journal"),
    locks: name("_lock"),
    versions: name("_version"),
    history: name("_history"),
    rates: name("_rate"),
    meta: name("_meta"),
    metaName: `${table}_meta`,
  };
}

/**
 * An arbitrary number. It prevents two processes from creating the tables at once, which `if not
 * exists` alone does not.
 */
export const MIGRATING = "7236833021149372";

/**
 * Returns the steps from one version of the tables to the next, in PL/pgSQL. The first step may
 * find tables from before there were migrations. `json` instead of `jsonb` keeps the text
 * unchanged.
 */
export function migrations(tables: Tables): readonly string[] {
  const { schemaName, schema, documents, journal, locks, versions, history, rates } = tables;
  const key = "stage text not null, target text not null";
  return [
    `if not exists (select from pg_namespace where nspname = '${schemaName}') then create schema ${schema}; end if;
     create table if not exists ${documents} (${key}, serial bigint not null, document json not null,
       written timestamptz not null default now(), primary key (stage, target));
     create table if not exists ${journal} (n bigint generated always as identity, ${key}, base bigint not null,
       events json not null, primary key (stage, target, n));
     create table if not exists ${locks} (${key}, id text not null, info json not null, primary key (stage, target));`,
    `create table ${versions} (${key}, serial bigint not null, document json not null, written timestamptz not null,
       primary key (stage, target, serial));
     create table ${history} (n bigint generated always as identity primary key, stage text not null,
       at timestamptz not null default now(), entry json not null);`,
    `create table ${rates} (bucket text primary key, next timestamptz not null);`,
  ];
}
