// Ways to a database: what connection strings mean, and what is refused.
import { once } from "node:events";
import { type Socket, connect, createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { type PostgresConnection, openBackend, readConfig, readPostgresUrl } from "../../src/state/config.ts";
import { explainProblem } from "../../src/state/problem.ts";
import { createLockInfo } from "../../src/state/lock.ts";
import { SHOP } from "./support/numbered.ts";
import { type PostgresServer, startPostgres } from "./support/postgres-server.ts";
import { problemOf, valueOf } from "./support/result.ts";
import { realWorld } from "./support/world.ts";

function connectionOf(url: string): PostgresConnection {
  const connection = readPostgresUrl(url);
  if (typeof connection === "string") throw new Error(connection);
  return connection;
}

describe("a connection string", () => {
  test.each([
    ["postgres://ci:p%40ss@db.example.com/state", "p@ss"],
    ["postgres://ci:a#b/c%d@e?f@db.example.com/state", "a#b/c%d@e?f"],
    ["postgres://ci:100%@db.example.com/state?sslmode=verify-full", "100%"],
  ])("%s has the password %s", (url, password) => {
    const connection = connectionOf(url);
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
    expect(connectionOf(url).tls).toBe(tls);
  });

  test.each([
    ["postgres://db/x?sslmode=verify_full", "sslmode must be one of"],
    ["postgres://db/x?pgbouncer=true", "locks belong to connections"],
    ["postgres://db/x?channel_binding=require", "channel_binding=require is not supported"],
    ["postgres://db/x?sslmod=require", "sslmod is not supported"],
    ["postgres://db:port/x", "port"],
  ])("%s is refused", (url, words) => {
    const problem = problemOf(readConfig({ backend: "postgres", options: { url } }));
    expect(problem.kind).toBe("misconfigured");
    expect(explainProblem(problem).detail).toContain(words);
  });
});

test("credentials do not go to another machine over plain http unless that is allowed", () => {
  const options = { address: "http://state.example.com", username: "ci", password: "x" };
  expect(problemOf(readConfig({ backend: "http", options })).kind).toBe("misconfigured");
  expect(readConfig({ backend: "http", options }, { insecure: true }).ok).toBe(true);
  expect(readConfig({ backend: "http", options: { address: "http://127.0.0.1:1", username: "ci" } }).ok).toBe(
    true,
  );
});

describe("a server on the way", () => {
  let database: PostgresServer;
  beforeAll(async () => {
    database = await startPostgres();
  }, 60_000);
  afterAll(async () => {
    await database.stop();
  });

  const lockThrough = async (port: number) => {
    const url = `postgres://tasc:hush-hush@127.0.0.1:${port}/postgres`;
    const world = await realWorld("/tmp");
    const backend = await openBackend(valueOf(readConfig({ backend: "postgres", options: { url } })), world);
    try {
      return await backend.lock(SHOP, createLockInfo(world, "test"));
    } finally {
      await backend.close();
    }
  };

  it("that lends a connection for each transaction is refused with the reason", async () => {
    const pooler = await openPooler(Number(new URL(database.url).port), "transaction");
    const problem = problemOf(await lockThrough(pooler.port));
    expect(problem.kind).toBe("misconfigured");
    expect(explainProblem(problem).detail).toContain("pool_mode = transaction");
    pooler.close();
  });

  it("that lends a connection for a session may be used", async () => {
    const pooler = await openPooler(Number(new URL(database.url).port), "session");
    expect((await lockThrough(pooler.port)).ok).toBe(true);
    pooler.close();
  });

  it("that asks for the password in clear text without TLS does not get it", async () => {
    const heard: Buffer[] = [];
    const server = createServer((socket) => {
      socket.on("data", (bytes) => {
        heard.push(bytes);
        socket.write(Buffer.from([82, 0, 0, 0, 8, 0, 0, 0, 3]));
      });
      socket.on("error", () => {});
    });
    const problem = problemOf(await lockThrough(await portOf(server)));
    expect(explainProblem(problem).detail).toContain("clear text");
    expect(Buffer.concat(heard).toString()).not.toContain("hush-hush");
    server.close();
  });
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

/**
 * A pooler as PgBouncer is one: it announces a process of its own making, and lends each client a connection of the
 * database for a transaction or for its session.
 */
async function openPooler(to: number, mode: "transaction" | "session") {
  const idle: Socket[] = [];
  const sockets: Socket[] = [];
  const server = createServer((client) => {
    sockets.push(client);
    let lent: Socket | undefined;
    let startup: Buffer | undefined;
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
          // Logged in already: authentication, a made up process, ready.
          client.write(Buffer.from([82, 0, 0, 0, 8, 0, 0, 0, 0]));
          client.write(Buffer.from([KEY_DATA, 0, 0, 0, 12, 0, 0, 0, 1, 0, 0, 0, 2]));
          client.write(Buffer.from([READY, 0, 0, 0, 5, IDLE]));
          idle.unshift(lent);
          lent = undefined;
          return;
        }
        listen(lent);
        return;
      }
      if (lent === undefined) {
        lent = idle.shift();
        if (lent === undefined) return void client.destroy();
        listen(lent);
      }
      lent.write(bytes);
    });
    const listen = (socket: Socket): void => {
      socket.removeAllListeners("data");
      socket.on("error", () => {});
      socket.on("data", (bytes) => {
        client.write(withoutProcess(bytes));
        const isReady = bytes.at(-6) === READY && bytes.at(-1) === IDLE;
        if (mode === "session" || !isReady) return;
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

/** Messages of the database with another process in what it announces. */
function withoutProcess(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  for (let at = 0; at + 5 <= copy.length; at += copy.readUInt32BE(at + 1) + 1)
    if (copy[at] === KEY_DATA && copy.readUInt32BE(at + 1) === 12) copy.writeUInt32BE(1, at + 5);
  return copy;
}
