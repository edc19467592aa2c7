import { once, setMaxListeners } from "node:events";
import { readFile } from "node:fs/promises";
import { type Socket, connect as connectTcp, isIP } from "node:net";
import { checkServerIdentity, connect as connectTls } from "node:tls";
import type { Sql } from "postgres";
import { defined } from "../model/json.ts";
import type { PostgresConnection } from "./config.ts";
import { codeOf } from "../model/error.ts";

/*
 * The only module that uses postgres.js. There is one connection, because locks belong to it. The socket is made here, with
 * TLS, so that its end is noticed at once, certificates of IP addresses are checked, and no password is sent in clear text.
 */

/** Columns by name. All are selected as text, so that nothing depends on how a type is decoded. */
export type Row = Readonly<Record<string, string | null>>;

/** Timeout of a statement, unless it has to wait for another session, in milliseconds. */
const STATEMENT_TIMEOUT = 8_000;
const CONNECT_TIMEOUT = 10_000;

export class Connection {
  /** Resolves when the connection is prepared for locks. Set by the user of the connection. */
  ready: Promise<void> | undefined;
  /** Whether the tables exist and were checked. Set by the user of the connection. */
  trusted: Promise<boolean> | undefined;
  readonly #loss = new AbortController();
  readonly #waiting = new Set<(reason: Error) => void>();
  readonly #sql: Promise<Sql>;
  #socket: Socket | undefined;
  #reason: Error = new ConnectionLost(CLOSED);

  constructor(config: PostgresConnection) {
    setMaxListeners(0, this.#loss.signal);
    this.#sql = this.#make(config);
    this.#sql.catch(() => {});
  }

  /** Aborted when the connection ends. Locks that were taken on it end, too. */
  get lost(): AbortSignal {
    return this.#loss.signal;
  }

  /**
   * Runs a statement, without waiting for earlier ones. Parameters are sent as text, and the
   * statement casts them: `$1::bigint`. @param timeout milliseconds; more for a statement that may
   * wait for another session
   */
  async query(
    text: string,
    parameters: readonly (string | null)[] = [],
    timeout = STATEMENT_TIMEOUT,
  ) {
    const timer = setTimeout(() => {
      this.#end(new ConnectionLost(`no answer within ${timeout / 1000} s`));
    }, timeout);
    const options = { prepare: parameters.length > 0 };
    const run = async () => await (await this.#sql).unsafe<Row[]>(text, [...parameters], options);
    try {
      return await this.#orLost(run());
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Returns the database's process id: as it was announced (a pooler invents it), and as a
   * statement sees it now.
   */
  async process(): Promise<{ readonly announced: number; readonly now: number }> {
    const rows = await this.query("select pg_backend_pid()::text as pid");
    const [row] = rows;
    if (row === undefined) throw new ConnectionLost(MALFORMED);
    return { announced: rows.state.pid, now: Number(row["pid"]) };
  }

  async close(): Promise<void> {
    if (this.lost.aborted) return;
    const end = async () => await (await this.#sql).end({ timeout: 2 });
    await this.#orLost(end()).catch(() => {});
    this.#end(new ConnectionLost(CLOSED));
  }

  async #orLost<T>(work: Promise<T>): Promise<T> {
    return await new Promise<T>((resolve, reject) => {
      this.#waiting.add(reject);
      const failed = (error: unknown): void => {
        // postgres.js throws these errors if the server sends something malformed.
        if (error instanceof TypeError || error instanceof RangeError)
          this.#end(new ConnectionLost(MALFORMED));
        reject(error);
      };
      void work.then(resolve, failed).finally(() => this.#waiting.delete(reject));
      if (this.lost.aborted) reject(this.#reason);
    });
  }

  #end(reason: Error): void {
    if (this.lost.aborted) return;
    this.#reason = reason;
    this.#loss.abort();
    for (const reject of this.#waiting) reject(reason);
    this.#socket?.destroy();
  }

  async #make(config: PostgresConnection): Promise<Sql> {
    const { default: postgres } = await import("postgres");
    const { hosts, user, password, sessionAttributes = "any" } = config;
    const untried = hosts.values();
    const options = {
      // postgres.js counts the hosts: as long as there may be another one, a server that does not
      // match is not the end.
      host: [...hosts.map(({ host }) => host), "another"].join(","),
      database: config.database,
      ...(user !== undefined && { username: user }),
      ...(password !== undefined && { password: password.reveal() }),
      ...(sessionAttributes !== "any" && { target_session_attrs: sessionAttributes }),
      ssl: false as const,
      max: 1,
      max_lifetime: null,
      idle_timeout: 0,
      fetch_types: false,
      connection: { application_name: config.applicationName },
      onnotice: () => {},
      // Called when the connection ends, but not when a server does not match and the next one is
      // tried.
      onclose: () => this.#end(new ConnectionLost(CLOSED)),
      // Called again if a server does not match. Without a socket postgres.js would wait forever,
      // so it is ended here.
      socket: async () => {
        let failure: unknown;
        for (const { host, port } of this.lost.aborted ? [] : untried) {
          try {
            this.#socket = await openSocket(config, host, port);
            return this.#socket.once("error", (error) => this.#end(error));
          } catch (error) {
            failure = error;
          }
        }
        const unfit =
          sessionAttributes === "any"
            ? CLOSED
            : `no server fits target_session_attrs=${sessionAttributes}`;
        this.#end(failure instanceof Error ? failure : new ConnectionLost(unfit));
        throw this.#reason;
      },
    };
    const sql = postgres(options);
    void this.#orLost(sql.unsafe<Row[]>(OWN_FIRST)).then(
      ([row]) => row ?? this.#end(new ConnectionLost(MALFORMED)),
      (error: Error) => this.#end(error),
    );
    return sql;
  }
}

// pg_catalog comes first, because a database's owner can set another order. The rest stays: a
// pooler may share sessions.
const OWN_FIRST = `select pg_catalog.set_config('search_path', pg_catalog.concat('pg_catalog, ',
  pg_catalog.replace(pg_catalog.current_setting('search_path'), 'pg_catalog, ', '')), false)`;

const CLOSED = "the connection was closed";

class ConnectionLost extends Error {
  readonly code: string;

  constructor(reason: string, code = "CONNECTION_LOST") {
    super(reason);
    this.code = code;
  }
}

/** The request for TLS that a PostgreSQL client sends first. The server answers with one letter. */
const TLS_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const YES = 83;

async function openSocket(config: PostgresConnection, host: string, port: number): Promise<Socket> {
  const socket = connectTcp({
    host,
    port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
  });
  const timer = setTimeout(() => {
    socket.destroy(new ConnectionLost(`no connection within ${CONNECT_TIMEOUT / 1000} s`));
  }, CONNECT_TIMEOUT);
  try {
    await once(socket, "connect");
    const { tls } = config;
    // `allow` uses TLS only if the server refuses to work without it. Most do not, so it is treated
    // as `disable`.
    if (tls === "disable" || tls === "allow") return guarded(socket, false);
    socket.write(TLS_REQUEST);
    const answer = await new Promise<Buffer>((resolve, reject) => {
      socket.once("data", resolve).once("error", reject);
    });
    if (answer[0] === YES) return await encrypted(socket, config, host);
    if (tls === "prefer") return guarded(socket, false);
    throw new ConnectionLost(
      `the server offers no TLS, and sslmode is ${tls}; without TLS, state and passwords can be read on the way`,
      "TLS_NOT_OFFERED",
    );
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function encrypted(
  socket: Socket,
  config: PostgresConnection,
  host: string,
): Promise<Socket> {
  const { tls, rootCertificate } = config;
  const isGiven = rootCertificate !== undefined && rootCertificate !== "system";
  const ca = isGiven ? await readFile(rootCertificate) : undefined;
  const checked = connectTls({
    ...defined({ socket, ca, servername: isIP(host) === 0 ? host : undefined }),
    rejectUnauthorized: tls === "verify-full" || tls === "verify-ca" || ca !== undefined,
    // With an existing socket, Node would check the certificate of an IP address against
    // "localhost".
    checkServerIdentity: (_, certificate) =>
      tls === "verify-full" ? checkServerIdentity(host, certificate) : undefined,
  });
  await once(checked, "secureConnect");
  return guarded(checked, true);
}

/** The types of the messages that a server sends to a client that only asks for rows. */
const TYPES = "RKSNZTDC12tnEA";
/** Supported ways to log in: none, clear text, MD5, and the three steps of SCRAM. */
const LOGINS = [0, 3, 5, 10, 11, 12];
const CHALLENGE = /^r=[^,]+,s=[\w+/=]+,i=\d{1,6}$/;
const MALFORMED = "the server's answer does not follow PostgreSQL's protocol";
const ASKED =
  "the server asks for the password in clear text, and the connection has no TLS; set sslmode=verify-full";

/**
 * Passes only messages to postgres.js that it can handle. On its own it sends the password in clear
 * text whenever a server asks, prints messages that it does not know, and crashes or loops forever
 * on malformed ones.
 */
function guarded(socket: Socket, isEncrypted: boolean): Socket {
  const emit = socket.emit.bind(socket);
  let rest = Buffer.alloc(0);
  let skipped = 0;
  /**
   * Follows the messages across chunks: one byte for the type, four for the length.
   * @returns why they are refused
   */
  const refusal = (bytes: Buffer): string | undefined => {
    for (rest = Buffer.concat([rest, bytes]); ;) {
      const known = Math.min(skipped, rest.length);
      skipped -= known;
      rest = rest.subarray(known);
      if (rest.length < 5) return undefined;
      const type = rest.toString("latin1", 0, 1);
      const length = rest.readUInt32BE(1) + 1;
      const isRead = type === "R" || type === "T";
      if (!TYPES.includes(type) || length < 5 || (isRead && length > 0xffff)) return MALFORMED;
      if (isRead && rest.length < length) return undefined;
      const body = rest.subarray(5, length);
      const reason =
        type === "R"
          ? wrongLogin(body, isEncrypted)
          : type === "T"
            ? wrongColumns(body)
            : undefined;
      if (reason !== undefined) return reason;
      skipped = length;
    }
  };
  return Object.assign(socket, {
    emit: (event: string, ...values: unknown[]): boolean => {
      const [bytes] = values;
      const reason = event === "data" && Buffer.isBuffer(bytes) ? refusal(bytes) : undefined;
      if (reason === undefined) return emit(event, ...values);
      socket.destroy(new ConnectionLost(reason));
      return true;
    },
  });
}

function wrongLogin(body: Buffer, isEncrypted: boolean): string | undefined {
  if (body.length < 4) return MALFORMED;
  const way = body.readUInt32BE(0);
  if (way === 3 && !isEncrypted) return ASKED;
  if (way === 11 && !CHALLENGE.test(body.toString("utf8", 4))) return MALFORMED;
  return LOGINS.includes(way)
    ? undefined
    : `tasc does not support the login that the server asks for (${way})`;
}

/** Checks the description of columns: each name ends with a zero byte, and 18 bytes follow. */
function wrongColumns(body: Buffer): string | undefined {
  let at = 2;
  for (let left = body.length < 2 ? Infinity : body.readUInt16BE(0); left > 0; left -= 1) {
    const end = body.indexOf(0, at);
    if (end < 0) return MALFORMED;
    at = end + 19;
  }
  return at <= body.length ? undefined : MALFORMED;
}

/**
 * SQLSTATEs of failed connections (08), and of servers that shut down or end a connection (57P).
 */
const LOSS = /^(?:08|57P)/;

/** Whether an error means that the connection is gone, and with it every lock on it. */
export function isLossOfConnection(error: unknown): boolean {
  const code = codeOf(error);
  if (code === undefined || !(error instanceof Error)) return false;
  // Only errors of the database have `severity`. Their class cannot be checked: in the bundle it
  // has another name.
  return "severity" in error ? LOSS.test(code) : true;
}
