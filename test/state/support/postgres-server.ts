import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { chown, mkdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { makeOpenFolder } from "./open-folder.ts";
import { findPrograms, serverUser } from "./postgres-programs.ts";

const run = promisify(execFile);

/** A PostgreSQL server for one test file. */
export interface PostgresServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** @param tls certificate and key of the server, as PEM */
export async function startPostgres(
  tls?: { readonly cert: string; readonly key: string },
  more: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  const { user, programs, template } = await (cluster ??= createCluster());
  const folder = makeOpenFolder("tasc-postgres-");
  const data = join(folder, "data");
  await run("cp", ["-a", template, data]);
  const options = { ...user, cwd: data };
  if (tls !== undefined)
    for (const [name, text] of [
      ["server.crt", tls.cert],
      ["server.key", tls.key],
    ] as const) {
      await writeFile(join(data, name), text, { mode: 0o600 });
      if (user !== undefined) await chown(join(data, name), user.uid, user.gid);
    }
  const port = await freePort();
  const settings = {
    ssl: tls === undefined ? "off" : "on",
    port,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    fsync: "off",
    ...more,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = spawn(join(programs, "postgres"), ["-D", data, ...flags], {
    ...options,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(server, "close");
  await untilReady(createInterface({ input: server.stderr }));
  return {
    url: `postgres://tasc@127.0.0.1:${port}/postgres`,
    stop: async () => {
      server.kill("SIGINT"); // fast shutdown
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

let cluster: ReturnType<typeof createCluster> | undefined;

/** Creates the data of a new server, which each server of the worker copies. */
async function createCluster() {
  const user = await serverUser();
  const folder = makeOpenFolder("tasc-cluster-");
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const programs = await findPrograms(folder, user);
  const template = join(folder, "data");
  await mkdir(template, { mode: 0o700 });
  if (user !== undefined) await chown(template, user.uid, user.gid);
  const settings = ["-U", "tasc", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
  await run(join(programs, "initdb"), ["-D", template, ...settings], { ...user, cwd: template });
  return { user, programs, template };
}

/** Reads the server's log until it reports that it accepts connections, and discards the rest. */
async function untilReady(log: AsyncIterable<string> & NodeJS.EventEmitter): Promise<void> {
  const seen: string[] = [];
  const ready = new Promise<void>((resolve, reject) => {
    log.on("line", (line: string) => {
      seen.push(line);
      if (line.includes("ready to accept connections")) resolve();
    });
    log.on("close", () => reject(new Error(`PostgreSQL did not start:\n${seen.join("\n")}`)));
  });
  await ready;
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port was given");
  return address.port;
}
