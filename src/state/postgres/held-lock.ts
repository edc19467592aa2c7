import type { State, StateEvent } from "../../model/state.ts";
import type { HeldLock, Revision } from "../backend.ts";
import { NO_DOCUMENT } from "../backend.ts";
import { formatDocument } from "../document.ts";
import type { LockInfo } from "../lock-info.ts";
import type { Result, StateProblem } from "../problem.ts";
import { refusal, success } from "../problem.ts";
import type { Client, Query } from "./client.ts";
import { attempt, isLossOfConnection } from "./client.ts";
import { holdsLock, isHolder } from "./fence.ts";
import type { LockName } from "./locks.ts";
import { freeLock } from "./locks.ts";
import { NO_SERIAL } from "./stored.ts";
import type { Tables } from "./tables.ts";

const BROKEN = "the connection that held it broke";

/** What a lock belongs to. */
export interface LockPlace extends LockName {
  readonly client: Client;
  /** The document's row, for people. */
  readonly where: string;
  /** Tells the backend that this process holds it no more. */
  readonly release: () => void;
}

/** An advisory lock of our connection, and what may be done as long as that connection has it. */
export class PostgresLock implements HeldLock {
  readonly info: LockInfo;
  readonly takenOver?: LockInfo;
  readonly #place: LockPlace;

  constructor(place: LockPlace, info: LockInfo, takenOver: LockInfo | undefined) {
    this.#place = place;
    this.info = info;
    if (takenOver !== undefined) this.takenOver = takenOver;
  }

  async write(state: State, base: Revision): Promise<Result<Revision>> {
    const { client } = this.#place;
    const document = formatDocument(state);
    return await this.#attempt(
      async () =>
        await client.transaction(async (query) => {
          const serial = serialOf(base);
          const refused = await this.#refusal(query, serial);
          if (refused !== undefined) return refusal(refused);
          const next = (BigInt(serial) + 1n).toString();
          await this.#replace(query, document, next);
          return success(next);
        }),
    );
  }

  readonly append = async (events: readonly StateEvent[], base: Revision): Promise<Result<void>> => {
    const { client, tables, key, number, where } = this.#place;
    return await this.#attempt(async () => {
      const added = await client.query(
        `insert into ${tables.journal} (stage, target, base, events)
         select $1::text, $2::text, $3::bigint, $4::text::json
         where ${holdsLock(number)} and ${isHolder(tables, "$1", "$2", "$5")}
           and ${serialIn(tables)} = $3::bigint
         returning n::text`,
        key.stage,
        key.target,
        serialOf(base),
        JSON.stringify(events),
        this.info.id,
      );
      if (added.length === 1) return success(undefined);
      return refusal((await this.#refusal(client.query, serialOf(base))) ?? { kind: "changed", where });
    });
  };

  async unlock(): Promise<Result<void>> {
    const { client, where, release } = this.#place;
    release();
    return await attempt(where, async () => success(await freeLock(client, this.#place, this.info.id)));
  }

  /** With the connection goes the lock, whatever had become of the statement. */
  async #attempt<T>(work: () => Promise<Result<T>>): Promise<Result<T>> {
    const { key, where } = this.#place;
    return await attempt(where, async () => {
      try {
        return await work();
      } catch (error) {
        if (!isLossOfConnection(error)) throw error;
        return refusal({ kind: "lock-lost", key, reason: BROKEN });
      }
    });
  }

  /** Why nothing may be written; `undefined` if it may. */
  async #refusal(query: Query, serial: string): Promise<StateProblem | undefined> {
    const { tables, key, number, where } = this.#place;
    const [row] = await query(
      `select (${holdsLock(number)})::text as connected, (${isHolder(tables, "$1", "$2", "$3")})::text as holder,
         ${serialIn(tables)}::text as serial`,
      key.stage,
      key.target,
      this.info.id,
    );
    if (row?.["connected"] !== "true") return { kind: "lock-lost", key, reason: BROKEN };
    if (row["holder"] !== "true") return { kind: "lock-lost", key, reason: "somebody took it away" };
    return row["serial"] === serial ? undefined : { kind: "changed", where };
  }

  async #replace(query: Query, document: string, serial: string): Promise<void> {
    const { tables, key } = this.#place;
    await query(
      `insert into ${tables.documents} (stage, target, serial, document)
       values ($1, $2, $3::bigint, $4::text::json)
       on conflict (stage, target) do update
       set serial = excluded.serial, document = excluded.document, written = now()`,
      key.stage,
      key.target,
      serial,
      document,
    );
    await query(`delete from ${tables.journal} where stage = $1 and target = $2`, key.stage, key.target);
  }
}

function serialOf(revision: Revision): string {
  return revision === NO_DOCUMENT ? NO_SERIAL : revision;
}

/** The document's serial now; parameters 1 and 2 are stage and target. */
function serialIn({ documents }: Tables): string {
  return `coalesce((select serial from ${documents} where stage = $1 and target = $2), ${NO_SERIAL})`;
}
