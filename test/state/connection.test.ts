// Connections to a database: connection strings, TLS, poolers, and servers that break the protocol.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type Socket, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, test, vi } from "vitest";
import { readConfig, readPostgresUrl } from "../../src/state/config.ts";
import { openBackend } from "../../src/state/locked.ts";
import { explainProblem } from "../../src/state/problem.ts";
import { createLockInfo } from "../../src/state/lock.ts";
import { Fleet } from "./support/fleet.ts";
import { SHOP } from "./support/numbered.ts";
import { type PostgresServer, startPostgres } from "./support/postgres-server.ts";
import { problemOf, readOne } from "./support/result.ts";
import { realWorld } from "./support/world.ts";

describe("a connection string", () => {
  test.each([
    ["postgres://ci:p%40ss@db.example.com/state", "p@ss"],
    ["postgres://ci:a%23b%2Fc%25d@e%3Ff@db.example.com/state", "a#b/c%d@e?f"],
    ["postgres://ci:100%@db.example.com/state?sslmode=verify-full", "100%"],
  ])("%s has the password %s", (url, password) => {
    const connection = readPostgresUrl(url);
    expect(connection.password?.reveal()).toBe(password);
    expect(connection).toMatchObject({
      user: "ci",
      database: "state",
      hosts: [{ host: "db.example.com", port: 5432 }],
    });
  });

  test.each([
    ["postgres://db.example.com/x", "verify-full"],
    ["postgres://10.0.0.7/x", "verify-full"],
    ["postgres://localhost/x", "disable"],
    ["postgres://[::1]:5433/x", "disable"],
    ["postgres://127.0.0.1,db.example.com/x", "verify-full"],
    ["postgres://db.example.com/x?sslmode=require", "require"],
  ])("%s has the TLS mode %s", (url, tls) => {
    expect(readPostgresUrl(url).tls).toBe(tls);
  });

  test.each([
    ["postgres://db/x?sslmode=verify_full", "sslmode must be one of"],
    ["postgres://db/x?pgbouncer=true", "locks belong to connections"],
    ["postgres://db/x?channel_binding=require", "channel_binding=require is not supported"],
    ["postgres://db/x?sslmod=require", "sslmod is not supported"],
    ["postgres://db:port/x", "port"],
    ["postgres://ci:a#b@db/x", "escaped"],
    ["postgres://other/ci:a@db/x", "escaped"],
    ["postgres://other?ci:a@db/x", "escaped"],
  ])("%s is rejected", async (url, words) => {
    const problem = await problemOf(() => readConfig({ backend: "postgres", options: { url } }));
    expect(problem.kind).toBe("misconfigured");
    expect(explainProblem(problem).detail).toContain(words);
  });
});

test("credentials are not sent to another machine over plain http unless that is allowed", async () => {
  const options = { address: "http://state.example.com", username: "ci", password: "x" };
  const refused = await problemOf(() => readConfig({ backend: "http", options }));
  expect(refused.kind).toBe("misconfigured");
  readConfig({ backend: "http", options }, { insecure: true });
  readConfig({ backend: "http", options: { address: "http://127.0.0.1:1", username: "ci" } });
});

describe("TLS", () => {
  const folder = mkdtempSync(join(tmpdir(), "tasc-tls-"));
  const at = (file: string) => join(folder, file);
  const openssl = (...args: readonly string[]) =>
    execFileSync("openssl", args, { cwd: folder, stdio: "ignore" });
  let database: PostgresServer;
  let other: PostgresServer;
  beforeAll(async () => {
    const authority = [
      "-x509",
      "-newkey",
      "rsa:2048",
      "-nodes",
      "-days",
      "2",
      "-keyout",
      "ca.key",
      "-out",
      "ca.crt",
    ];
    openssl("req", ...authority, "-subj", "/CN=test authority");
    for (const [name, names] of [
      ["here", "DNS:localhost,IP:127.0.0.1"],
      ["elsewhere", "DNS:db.example.com"],
    ] as const) {
      openssl(
        "req",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        `${name}.key`,
        "-out",
        `${name}.csr`,
        "-subj",
        "/CN=db",
      );
      writeFileSync(at(`${name}.ext`), `subjectAltName=${names}`);
      const signed = [
        "-CA",
        "ca.crt",
        "-CAkey",
        "ca.key",
        "-CAcreateserial",
        "-days",
        "2",
        "-extfile",
        `${name}.ext`,
      ];
      openssl("x509", "-req", "-in", `${name}.csr`, "-out", `${name}.crt`, ...signed);
    }
    const server = (name: string) =>
      startPostgres({
        cert: readFileSync(at(`${name}.crt`), "utf8"),
        key: readFileSync(at(`${name}.key`), "utf8"),
      });
    [database, other] = await Promise.all([server("here"), server("elsewhere")]);
  });
  afterAll(async () => {
    await Promise.all([database.stop(), other.stop()]);
    rmSync(folder, { recursive: true, force: true });
  });

  const read = async (server: PostgresServer, host: string, query: string) => {
    const url = `${server.url.replace("127.0.0.1", host)}?${query}`;
    const world = await realWorld(folder);
    const backend = await openBackend(readConfig({ backend: "postgres", options: { url } }), world);
    try {
      return await readOne(backend, SHOP);
    } finally {
      await backend.close();
    }
  };
  const CA = `sslrootcert=${at("ca.crt")}`;

  test.each([
    ["127.0.0.1", `sslmode=verify-full&${CA}`],
    ["localhost", `sslmode=verify-full&${CA}`],
    ["127.0.0.1", "sslmode=require"],
  ])("accepts the server at %s with %s", async (host, query) => {
    expect(await read(database, host, query)).toBeUndefined();
  });

  test.each([
    ["an unknown authority", "sslmode=verify-full", "certificate"],
    ["another name", `sslmode=verify-full&${CA}`, "altnames"],
    ["a missing file", "sslmode=verify-full&sslrootcert=/no/such/file", "ENOENT"],
  ])("rejects %s", async (_, query, words) => {
    const problem = await problemOf(read(other, "127.0.0.1", query));
    expect(explainProblem(problem).detail).toContain(words);
  });

  it("accepts a certificate for another name with sslmode=verify-ca", async () => {
    expect(await read(other, "127.0.0.1", `sslmode=verify-ca&${CA}`)).toBeUndefined();
  });
});

describe("a database server or pooler", () => {
  let database: PostgresServer;
  beforeAll(async () => {
    database = await startPostgres();
  });
  afterAll(async () => {
    await database.stop();
  });

  const lockThrough = async (port: number) => {
    const url = `postgres://tasc:hush-hush@127.0.0.1:${port}/postgres`;
    const world = await realWorld("/tmp");
    const backend = await openBackend(readConfig({ backend: "postgres", options: { url } }), world);
    try {
      return await backend.lock(SHOP, createLockInfo(world, "test"));
    } finally {
      await backend.close();
    }
  };

  it("is rejected with the reason if it lends a connection for each transaction", async () => {
    const pooler = await openPooler(Number(new URL(database.url).port), "transaction");
    const problem = await problemOf(lockThrough(pooler.port));
    expect(problem.kind).toBe("misconfigured");
    expect(explainProblem(problem).detail).toContain("pool_mode = transaction");
    pooler.close();
  });

  it("is reported by doctor and makes an apply fail if it lends a connection for each transaction", async () => {
    const pooler = await openPooler(Number(new URL(database.url).port), "transaction");
    const fleet = await Fleet.open(
      1,
      `{ backend: postgres, url: "postgres://tasc@127.0.0.1:${pooler.port}/postgres" }`,
    );
    for (const args of [["doctor"], ["apply", "--auto-approve"]]) {
      const ended = await fleet.run(...args);
      expect(ended.code).not.toBe(0);
      expect(ended.stdout + ended.stderr).toMatch(/pool_mode =\s+transaction/);
    }
    await fleet.close();
    pooler.close();
  });

  it("is accepted if it lends a connection for a session", async () => {
    const pooler = await openPooler(Number(new URL(database.url).port), "session");
    expect((await lockThrough(pooler.port)).takenOver).toBeUndefined();
    pooler.close();
  });

  it("is skipped if it is unreachable or does not match target_session_attrs", async () => {
    const replica = await startPostgres(undefined, { default_transaction_read_only: "on" });
    const world = await realWorld("/tmp");
    const portOf = ({ url }: PostgresServer) => new URL(url).port;
    const read = async (attributes: string, ...ports: readonly (string | number)[]) => {
      const hosts = ports.map((port) => `127.0.0.1:${port}`).join(",");
      const url = `postgres://tasc@${hosts}/postgres?target_session_attrs=${attributes}`;
      const backend = await openBackend(
        readConfig({ backend: "postgres", options: { url } }),
        world,
      );
      try {
        return await readOne(backend, { ...SHOP, target: "nobody" });
      } finally {
        await backend.close();
      }
    };
    expect(await read("read-write", 1, portOf(database))).toBeUndefined();
    expect(await read("read-write", portOf(replica), portOf(database))).toBeUndefined();
    expect(await read("read-only", portOf(database), 1, portOf(replica))).toBeUndefined();
    for (const ports of [
      [1, portOf(database)],
      [portOf(replica), portOf(database)],
      [portOf(database)],
    ]) {
      const problem = await problemOf(read("standby", ...ports));
      expect(explainProblem(problem).detail).toContain(
        "No server fits target_session_attrs=standby",
      );
    }
    await replica.stop();
  });

  /** A server that sends only these messages. */
  const saying = (pieces: readonly Buffer[], heard: Buffer[] = []) =>
    createServer({ noDelay: true }, (socket) => {
      socket.on("error", () => {});
      socket.on("data", (bytes) => heard.push(bytes));
      socket.once("data", () => {
        const next = (at: number): void => {
          const piece = pieces[at];
          if (piece !== undefined) socket.write(piece, () => setImmediate(next, at + 1));
        };
        next(0);
      });
    });
  const said = (type: string, ...bytes: readonly number[]) =>
    Buffer.from([type.charCodeAt(0), 0, 0, 0, bytes.length + 4, ...bytes]);
  const WELCOME = Buffer.concat([said("R", 0, 0, 0, 0), said("Z", 73)]);
  const NAMED = said("T", 0, 1, 112, 0, ...Array.from({ length: 18 }, () => 0));

  it.each([
    ["an unknown login", [said("R", 0, 0, 0, 7)], "login that the server asks for (7)"],
    ["half a login", [said("R", 0)], "protocol"],
    [
      "a challenge without a salt",
      [said("R", 0, 0, 0, 10), said("R", 0, 0, 0, 11, 114)],
      "protocol",
    ],
    ["a column without an end", [WELCOME, said("T", 0, 1, 112)], "protocol"],
    ["a row without columns", [WELCOME, said("D", 0, 1, 0, 0, 0, 9)], "protocol"],
    ["a row that ends early", [WELCOME, NAMED, said("D", 0, 1)], "protocol"],
    ["an end without a row", [WELCOME, said("Z", 73)], "protocol"],
    ["a copy", [WELCOME, said("H", 0, 0, 0)], "protocol"],
    ["an invalid answer", [WELCOME, said("?", 0)], "protocol"],
    ["another protocol", [Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n")], "protocol"],
  ])("is reported as failed if it answers with %s", async (_, pieces, words) => {
    const printed = vi.spyOn(console, "error");
    const server = saying(pieces);
    const problem = await problemOf(lockThrough(await portOf(server)));
    expect(problem.kind).toBe("failed");
    expect(explainProblem(problem).detail).toContain(words);
    expect(printed).not.toHaveBeenCalled();
    server.close();
  });

  const ASKS = Buffer.from([82, 0, 0, 0, 8, 0, 0, 0, 3]);
  it.each([
    ["at once", [ASKS]],
    ["byte by byte", [...ASKS].map((byte) => Buffer.from([byte]))],
    ["after a notice", [Buffer.concat([Buffer.from("N\0\0\0\x0cSNOTICE\0"), ASKS])]],
    ["after all else", [Buffer.from([82, 0, 0, 0, 8, 0, 0, 0, 0, 90, 0, 0, 0, 5, 73]), ASKS]],
    ["with more behind it", [Buffer.from([82, 0, 0, 0, 12, 0, 0, 0, 3, 0, 0, 0, 0])]],
  ])(
    "does not receive the password if it asks for clear text without TLS: %s",
    async (_, pieces) => {
      const heard: Buffer[] = [];
      const server = saying(pieces, heard);
      const problem = await problemOf(lockThrough(await portOf(server)));
      expect(explainProblem(problem).detail).toContain("clear text");
      expect(Buffer.concat(heard).toString()).not.toContain("hush-hush");
      server.close();
    },
  );
});

async function portOf(server: ReturnType<typeof createServer>): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port was given");
  return address.port;
}

const KEY_DATA = 75;
const READY = 90;
const IDLE = 73;
const SYNC = 83;
const QUERY = 81;
const TERMINATE = 88;

function messages(bytes: Buffer, ...kinds: readonly number[]): number {
  let count = 0;
  for (let at = 0; at + 5 <= bytes.length; at += bytes.readUInt32BE(at + 1) + 1)
    if (kinds.includes(bytes[at] ?? 0)) count += 1;
  return count;
}

/**
 * A pooler like PgBouncer: it announces an invented process, and lends each client a connection of
 * the database for a transaction or for its session.
 */
async function openPooler(to: number, mode: "transaction" | "session") {
  const idle: Socket[] = [];
  const sockets: Socket[] = [];
  const server = createServer((client) => {
    sockets.push(client);
    let lent: Socket | undefined;
    let startup: Buffer | undefined;
    /** Requests that the database has not finished; statements are sent without waiting. */
    let pending = 1;
    client.on("error", () => {});
    client.on("data", (bytes) => {
      if (startup === undefined) {
        startup = bytes;
        lent = mode === "transaction" ? idle.shift() : undefined;
        if (lent === undefined) {
          lent = connect(to, "127.0.0.1");
          sockets.push(lent);
          lent.write(bytes);
        } else {
          // The connection is logged in already: reply with authentication, an invented process,
          // and ready.
          client.write(Buffer.from([82, 0, 0, 0, 8, 0, 0, 0, 0]));
          client.write(Buffer.from([KEY_DATA, 0, 0, 0, 12, 0, 0, 0, 1, 0, 0, 0, 2]));
          client.write(Buffer.from([READY, 0, 0, 0, 5, IDLE]));
          idle.unshift(lent);
          lent = undefined;
          pending = 0;
          return;
        }
        listen(lent);
        return;
      }
      if (bytes[0] === TERMINATE) return;
      if (lent === undefined) {
        lent = idle.shift();
        if (lent === undefined) return void client.destroy();
        listen(lent);
      }
      pending += messages(bytes, SYNC, QUERY);
      lent.write(bytes);
    });
    const listen = (socket: Socket): void => {
      socket.removeAllListeners("data").removeAllListeners("error");
      socket.on("error", () => {});
      socket.on("data", (bytes) => {
        client.write(withoutProcess(bytes));
        pending -= messages(bytes, READY);
        if (mode === "session" || pending > 0) return;
        lent = undefined;
        idle.unshift(socket);
      });
    };
  });
  const port = await portOf(server);
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port, close };
}

/** Replaces the process that the messages of the database announce. */
function withoutProcess(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  for (let at = 0; at + 5 <= copy.length; at += copy.readUInt32BE(at + 1) + 1)
    if (copy[at] === KEY_DATA && copy.readUInt32BE(at + 1) === 12) copy.writeUInt32BE(1, at + 5);
  return copy;
}
