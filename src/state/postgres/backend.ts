import type { Backend, HeldLock, StoredState } from "../backend.ts";
import type { PostgresConfig } from "../config.ts";
import type { LockInfo } from "../lock-info.ts";
import type { DocumentKey, Result, StateKey } from "../problem.ts";
import { refusal, success } from "../problem.ts";
import type { Client } from "./client.ts";
import { attempt, openClient } from "./client.ts";
import { lockNumber } from "./fence.ts";
import { PostgresLock } from "./held-lock.ts";
import { freeByForce, takeLock } from "./locks.ts";
import { readStored } from "./stored.ts";
import type { Tables } from "./tables.ts";
import { makeTables, queryIfMade, tablesOf } from "./tables.ts";

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
