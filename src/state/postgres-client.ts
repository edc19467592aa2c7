import type { Sql, TransactionSql } from "postgres";
import type { PostgresConfig } from "./config.ts";
import { type Result, refusal } from "./problem.ts";

/*
 * The one module that knows postgres.js. One connection serves all, for locks belong to a connection: were there
 * several, a write could go out on one that holds none. If it breaks, the next query opens another one by itself,
 * without the locks; hence every write asks, in its own statement, whether the lock is still held (`fence.ts`).
 */

/** Columns by name; all of them are selected as text, so that nothing depends on how a type is decoded. */
export type Row = Readonly<Record<string, string | null>>;

export type Query = (text: string, ...parameters: readonly (string | null)[]) => Promise<readonly Row[]>;

export interface Client {
  /** The server and database, without credentials. */
  readonly name: string;
  query: Query;
  /** Runs the statements as one; they count only if the work resolves. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const CONNECT_SECONDS = 15;
const CLOSE_SECONDS = 5;

/** Nothing is connected before the first query. */
export async function openClient({ url }: PostgresConfig): Promise<Client> {
  const { default: postgres } = await import("postgres");
  const sql = postgres(url.reveal(), {
    max: 1,
    max_lifetime: null,
    idle_timeout: 0,
    connect_timeout: CONNECT_SECONDS,
    fetch_types: false,
    connection: { application_name: "tasc" },
    onnotice: () => {},
  });
  const { host, port, database } = sql.options;
  return {
    name: `postgres://${host[0] ?? ""}:${port[0] ?? ""}/${database}`,
    query: queryOn(sql),
    transaction: async (work) => await inTransaction(sql, work),
    close: async () => await sql.end({ timeout: CLOSE_SECONDS }),
  };
}

/** Parameters go as text, and the statement says what they are: `$1::bigint`. */
function queryOn(sql: Sql | TransactionSql): Query {
  return async (text, ...parameters) => await sql.unsafe<Row[]>(text, [...parameters]);
}

/** The result goes in a wrapper, since the type of `begin` would take arrays apart. */
async function inTransaction<T>(sql: Sql, work: (query: Query) => Promise<T>): Promise<T> {
  const { result } = await sql.begin(async (transaction) => ({ result: await work(queryOn(transaction)) }));
  return result;
}

/** Errors of the database or the way to it become a problem; anything else stays an exception. */
export async function attempt<T>(where: string, work: () => Promise<Result<T>>): Promise<Result<T>> {
  try {
    return await work();
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined || !(error instanceof Error)) throw error;
    // A refused connection may come without a message, for it is several errors: one for each address.
    return refusal({ kind: "failed", where, reason: error.message === "" ? code : error.message });
  }
}

/** SQLSTATE of what the database said, or the code of a failed connection. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** SQLSTATE of connections that fail (class 08) and of servers that shut down or end a connection (57P). */
const LOSS = /^(?:08|57P)/;

/** Whether the connection is gone, and with it every lock that it held. */
export function isLossOfConnection(error: unknown): boolean {
  const code = codeOf(error);
  if (code === undefined || !(error instanceof Error)) return false;
  return error.name === "PostgresError" ? LOSS.test(code) : true;
}
