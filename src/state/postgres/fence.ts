import { createHash } from "node:crypto";
import type { StateKey } from "../problem.ts";
import type { Tables } from "./tables.ts";

/** The number that a document's lock goes by: 64 bits of a digest, signed. */
export function lockNumber(tables: Tables, { stage, target }: StateKey): string {
  const name = JSON.stringify(["tasc state", tables.documents, stage, target]);
  return createHash("sha256").update(name).digest().readBigInt64BE().toString();
}

/**
 * A condition: the process of this pid, by default that of the asking connection, holds the lock of this number.
 * In `pg_locks` a 64-bit number stands in two halves, with `objsubid` 1.
 */
export function holdsLock(number: string, pid = "pg_backend_pid()"): string {
  return `exists (
    select from pg_locks held
    where held.locktype = 'advisory' and held.granted and held.objsubid = 1 and held.pid = ${pid}
      and held.database = (select oid from pg_database where datname = current_database())
      and (held.classid::bigint << 32) | held.objid::bigint = ${number}::bigint)`;
}

/** A condition: nobody took the lock away. Parameters: stage, target, and the id of our holding. */
export function isHolder(tables: Tables, stage: string, target: string, id: string): string {
  return `exists (select from ${tables.locks} where stage = ${stage} and target = ${target} and id = ${id})`;
}
