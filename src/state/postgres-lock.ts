import type { State, StateEvent } from "../model/state.ts";
import {
  type DocumentKey,
  FRESH,
  type HeldLock,
  type LockInfo,
  type Moment,
  NO_DOCUMENT,
  type Revision,
  isPast,
  moment,
} from "./backend.ts";
import { formatDocument } from "./document.ts";
import { type Connection, isLossOfConnection } from "./postgres-client.ts";
import type { Tables } from "./postgres-tables.ts";
import { StateFailure, attempt, lockLost, problemOf } from "./problem.ts";

/** Number of earlier versions of a document that are kept. */
const VERSIONS = 20;

/** The serial if there is no document. The first document has 1. */
export const NO_SERIAL = "0";

/** The locks of this process. */
export class OwnLocks {
  /** By number. The database would grant them to its own connection once more. */
  readonly held = new Map<string, LockInfo>();
  /** Ids of the locks that the database has granted. */
  readonly granted = new Set<string>();
  readonly #tables: Tables;
  /** The last check whether these locks still have their rows. */
  #look:
    { asked: ReadonlySet<string>; began: Moment; there: Promise<ReadonlySet<string>> } | undefined;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /** Whether a lock still has its row. One query checks all locks, and is valid for a moment. */
  async isThere(id: string, connection: Connection): Promise<boolean> {
    for (;;) {
      if (this.#look?.asked.has(id) !== true || isPast(this.#look.began, FRESH)) {
        const asked = new Set(this.granted);
        const rows = connection.query(
          `select id from ${this.#tables.locks} where id in (select json_array_elements_text($1::text::json))`,
          [JSON.stringify([...asked])],
        );
        const there = rows.then((all) => new Set(all.map((row) => row["id"] ?? "")));
        this.#look = { asked, began: moment(), there };
      }
      const { began, there } = this.#look;
      const isThere = (await there).has(id);
      if (!isThere || !isPast(began, FRESH)) return isThere;
    }
  }
}

/** What the database has granted. */
interface Granted {
  readonly key: DocumentKey;
  /** The document, in words. */
  readonly where: string;
  readonly info: LockInfo;
  /** The number of the advisory lock. */
  readonly number: string;
  /** The database's process for this connection. It has the lock as long as it lives. */
  readonly session: string;
  readonly connection: Connection;
  readonly locks: OwnLocks;
}

/** A held lock: an advisory lock of the connection, and a row that says who holds it. */
export class PostgresLock implements HeldLock {
  readonly key: DocumentKey;
  readonly takenOver?: LockInfo;
  readonly lost: AbortSignal;
  readonly #granted: Granted;
  readonly #tables: Tables;

  constructor(granted: Granted, tables: Tables, takenOver: LockInfo | undefined) {
    this.key = granted.key;
    this.lost = granted.connection.lost;
    this.#granted = granted;
    this.#tables = tables;
    if (takenOver !== undefined) this.takenOver = takenOver;
  }

  async write(state: State, base: Revision): Promise<Revision> {
    const { documents, journal, versions } = this.#tables;
    await this.#fenced(
      base,
      `ours as (${this.#isOurs}),
       old as (insert into ${versions} (stage, target, serial, document, written)
         select d.stage, d.target, d.serial, d.document, d.written from ${documents} d, ours
         where d.stage = $1 and d.target = $2 on conflict do nothing),
       rotated as (delete from ${versions} v using ours
         where v.stage = $1 and v.target = $2 and v.serial <= $4::bigint - ${VERSIONS}),
       folded as (delete from ${journal} j using ours where j.stage = $1 and j.target = $2),
       written as (insert into ${documents} (stage, target, serial, document)
         select $1::text, $2::text, $4::bigint + 1, $5::text::json from ours
         on conflict (stage, target) do update
         set serial = excluded.serial, document = excluded.document, written = now() returning 1)`,
      formatDocument(state),
    );
    return (BigInt(serialOf(base)) + 1n).toString();
  }

  /** Earlier versions are kept, so that `state history` still has them. */
  async remove(base: Revision): Promise<void> {
    const { documents, journal } = this.#tables;
    await this.#fenced(
      base,
      `ours as (${this.#isOurs}),
       folded as (delete from ${journal} j using ours where j.stage = $1 and j.target = $2),
       written as (delete from ${documents} d using ours
         where d.stage = $1 and d.target = $2 and $5::text is not null returning 1)`,
      "",
    );
  }

  async append(events: readonly StateEvent[], base: Revision): Promise<void> {
    await this.#fenced(
      base,
      `written as (insert into ${this.#tables.journal} (stage, target, base, events)
         select $1::text, $2::text, $4::bigint, $5::text::json where exists (${this.#isOurs}) returning 1)`,
      JSON.stringify(events),
    );
  }

  async confirm(): Promise<void> {
    const { locks, info, connection } = this.#granted;
    await this.#orLost(async () => {
      if (!(await locks.isThere(info.id, connection))) throw lockLost(this.key, TAKEN);
    });
  }

  async unlock(): Promise<void> {
    const { locks, info, number, connection } = this.#granted;
    if (!locks.granted.delete(info.id)) return;
    const { stage, target } = this.key;
    const unlocking = this.#orLost(async () => {
      // The row is deleted first: otherwise the next holder would take it for one that a dead
      // process left.
      const row = `delete from ${this.#tables.locks} where stage = $1 and target = $2 and id = $3`;
      await Promise.all([
        connection.query(row, [stage, target, info.id]),
        connection.query(`select pg_advisory_unlock($1::bigint)::text`, [number]),
      ]);
    });
    // If the connection is lost, so are its locks.
    await unlocking
      .catch((error: unknown) => void problemOf(error, "lock-lost"))
      .finally(() => locks.held.delete(number));
  }

  /** Reports a lost connection as a lost lock, whether or not the statement was executed. */
  async #orLost<T>(work: () => Promise<T>): Promise<T> {
    return await attempt(this.#granted.where, async () => {
      try {
        if (this.lost.aborted) throw lockLost(this.key, BROKEN);
        return await work();
      } catch (error) {
        if (error instanceof StateFailure || !isLossOfConnection(error)) throw error;
        throw lockLost(this.key, error instanceof Error ? `${BROKEN}: ${error.message}` : BROKEN);
      }
    });
  }

  /**
   * Selects a row if our connection has the lock, the lock was not taken away, and the document is
   * the one that was read. Compares the session, because a search in `pg_locks` takes longer the
   * more locks there are.
   */
  get #isOurs(): string {
    const { documents, locks } = this.#tables;
    return `select where pg_backend_pid() = $6::int
      and exists (select from ${locks} where stage = $1 and target = $2 and id = $3)
      and coalesce((select serial from ${documents} where stage = $1 and target = $2), ${NO_SERIAL}) = $4::bigint`;
  }

  /**
   * Runs a write. Its parameters: stage, target, the required lock id and serial, the content, the
   * session.
   */
  async #fenced(base: Revision, statement: string, content: string): Promise<void> {
    const { info, session, connection, where } = this.#granted;
    const { stage, target } = this.key;
    await this.#orLost(async () => {
      const [row] = await connection.query(
        `with ${statement} select (exists (select from written))::text as written,
           (pg_backend_pid() = $6::int)::text as connected,
           (exists (select from ${this.#tables.locks} where stage = $1 and target = $2 and id = $3))::text as holder`,
        [stage, target, info.id, serialOf(base), content, session],
      );
      if (row?.["written"] === "true") return;
      if (row?.["connected"] !== "true") throw lockLost(this.key, BROKEN);
      if (row["holder"] !== "true") throw lockLost(this.key, TAKEN);
      throw new StateFailure({ kind: "changed", where });
    });
  }
}

const BROKEN = "the connection that held it broke";
const TAKEN = "somebody took it away";

function serialOf(revision: Revision): string {
  return revision === NO_DOCUMENT ? NO_SERIAL : revision;
}
