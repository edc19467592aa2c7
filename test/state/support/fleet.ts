import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { type Socket, connect, createServer } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { type RunningServer, startServer } from "../../../src/server/index.ts";
import { isRecord } from "../../../src/model/shape.ts";
import { type Env, KNOWN_KEYS, runHere } from "../../contract/support/here.ts";
import { type HttpServer, startHttpServer } from "./http-server.ts";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";

const TASC = join(import.meta.dirname, "..", "..", "..", "dist", "tasc.cjs");
const KEY = "key-for-the-fleet-tests";

/** How a run of the command ended. */
export interface Ended {
  /** `null` for a process that was killed. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
}

/** Several machines that apply one project to one service, with shared state. */
export class Fleet {
  readonly folder = mkdtempSync(join(tmpdir(), "tasc-fleet-"));
  /** The service address that the processes use. */
  base: string;
  /** The clock of runs in this process. */
  now: () => number = Date.now;
  readonly #server: RunningServer;
  readonly #targets: number;

  static async open(targets: number, state: string): Promise<Fleet> {
    const server = await startServer({ apiKey: KEY, discoveryTime: 0 });
    return new Fleet(server, targets, state);
  }

  private constructor(server: RunningServer, targets: number, state: string) {
    this.#server = server;
    this.base = server.url;
    this.#targets = targets;
    mkdirSync(join(this.folder, "targets"), { recursive: true });
    this.setState(state);
    for (let n = 0; n < targets; n += 1)
      writeFileSync(
        join(this.folder, "targets", `t${n}.yaml`),
        `target: t${n}
app: App ${n}
environments: { default: { discoveryUrl: "https://t${n}.example.com" } }
testCases:
  a: { description: A, entryPointUrlPath: "/\${env:ROUND}", discovery: { prompt: Do a. } }
  b: { description: B, entryPointUrlPath: "/\${env:ROUND}", discovery: { prompt: Do b. } }
`,
      );
  }

  /**
   * Writes the project's settings with this `state:` section.
   * @param more further keys of `service:`
   */
  setState(state: string, more = ""): void {
    const service = `{ baseUrl: "\${env:BASE}", apiKey: "\${secret:KEY}", concurrency: 4${more} }`;
    writeFileSync(
      join(this.folder, "tasc.yaml"),
      `version: 1\nservice: ${service}\nstate: ${state}\n`,
    );
  }

  /** Starts a process, e.g. to kill it. */
  start(args: readonly string[], round = "final"): Running {
    const child = spawn(process.execPath, [...KNOWN_KEYS, TASC, ...args, "--chdir", this.folder], {
      env: this.#environment(round),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [stdout, stderr]: [string[], string[]] = [[], []];
    child.stdout.on("data", (text: Buffer) => stdout.push(text.toString()));
    child.stderr.on("data", (text: Buffer) => stderr.push(text.toString()));
    const ended = once(child, "close").then(() => ({
      code: child.exitCode,
      stdout: stdout.join(""),
      stderr: stderr.join(""),
    }));
    return { process: child, ended };
  }

  /** Runs a command line to its end, in this process. */
  async run(...args: readonly string[]): Promise<Ended> {
    return await this.runWith("final", args);
  }

  /** @param round the value that every test case has in this run */
  async runWith(round: string, args: readonly string[]): Promise<Ended> {
    const env = this.#environment(round);
    return await runHere([...args, "--chdir", this.folder], ".", env, this.now);
  }

  #environment(round: string): Env {
    return {
      PATH: process.env["PATH"] ?? "",
      BASE: this.base,
      KEY,
      ROUND: round,
      DB_PASSWORD: "from-your-secret-store",
    };
  }

  /** The next matching request is answered with 429 and a Retry-After header. */
  async delayNext(method: string, path: string, seconds: number): Promise<void> {
    const fault = { type: "status", status: 429, headers: { "Retry-After": String(seconds) } };
    await this.#control("POST", "/faults", { method, path, nth: 1, times: 1, fault });
  }

  /**
   * Matching requests are answered after a delay.
   * @param which only `times` of them, from the `nth` on
   */
  async slowDown(
    method: string,
    path: string,
    milliseconds: number,
    which: { readonly nth?: number; readonly times?: number } = {},
  ): Promise<void> {
    const fault = { type: "latency", ms: milliseconds };
    await this.#control("POST", "/faults", { method, path, ...which, fault });
  }

  /** Duplicate and missing resources, by app and description. */
  async wrong(): Promise<readonly string[]> {
    const data = await this.#control("GET", "/data");
    const counts = new Map<string, number>();
    const text = JSON.stringify(data);
    for (const [, app = ""] of text.matchAll(/"app":"([^"]*)"/g))
      counts.set(app, (counts.get(app) ?? 0) + 1);
    const cases = [...text.matchAll(/"description":"[AB]"/g)].length;
    const doubled = [...counts].flatMap(([app, count]) =>
      count === 1 ? [] : [`${app}: ${count}`],
    );
    const missing = counts.size === this.#targets ? [] : [`${counts.size} targets`];
    return [
      ...doubled,
      ...missing,
      ...(cases === 2 * this.#targets ? [] : [`${cases} test cases`]),
    ];
  }

  /**
   * Number of requests that the service received, whatever it answered.
   * @param path a part of the path
   */
  async sent(method: string, path: string): Promise<number> {
    const requests = await this.#control("GET", "/requests");
    const all: unknown[] = Array.isArray(requests) ? requests : [];
    return all.filter(
      (one) => isRecord(one) && one["method"] === method && String(one["path"]).includes(path),
    ).length;
  }

  get errored(): readonly string[] {
    try {
      return readdirSync(join(this.folder, ".tasc", "errored"), { recursive: true }).map(String);
    } catch {
      return [];
    }
  }

  async #control(method: string, path: string, body?: object): Promise<unknown> {
    const answer = await fetch(`${this.#server.controlUrl}${path}`, {
      method,
      headers: {
        "X-API-Key": KEY,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === "" ? {} : JSON.parse(text);
  }

  async close(): Promise<void> {
    await this.#server.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The servers of states for a test file, and a way to the database that can be cut or paused. */
export interface Servers {
  readonly database: PostgresServer;
  readonly way: Way;
  readonly keeper: HttpServer;
}

/** Starts them before the tests of a file, and stops them afterwards. */
export function servers(): () => Servers {
  let opened: Servers | undefined;
  beforeAll(async () => {
    const database = await startPostgres();
    const way = await openWay(Number(new URL(database.url).port));
    opened = { database, way, keeper: await startHttpServer() };
  });
  afterAll(async () => {
    await opened?.way.close();
    await opened?.database.stop();
    await opened?.keeper.stop();
  });
  return () => {
    if (opened === undefined) throw new Error("the servers have not started");
    return opened;
  };
}

/** The `state:` section of a project for each kind of state, with a schema of its own. */
export function states({ way, keeper }: Servers, schema: string) {
  return {
    local: "{ backend: local }",
    postgres: `{ backend: postgres, url: "postgres://tasc@127.0.0.1:${way.port}/postgres", schema: ${schema} }`,
    http: `{ backend: http, address: "${keeper.address}" }`,
  };
}

/** A connection to a database that can be cut or paused. */
export interface Way {
  readonly port: number;
  cut(): void;
  pause(milliseconds: number): void;
  close(): Promise<void>;
}

/** @param heard receives the bytes that clients send */
export async function openWay(to: number, heard: (bytes: Buffer) => void = () => {}): Promise<Way> {
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer((incoming) => {
    const outgoing = connect(to, "127.0.0.1");
    const pair = [incoming, outgoing] as const;
    pairs.add(pair);
    incoming.on("data", heard);
    for (const [one, other] of [pair, pair.toReversed()]) {
      one?.on("data", (bytes) => other?.write(bytes));
      one
        ?.on("error", () => {})
        .on("close", () => {
          other?.destroy();
          pairs.delete(pair);
        });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port was given");
  const cut = () => pairs.forEach(([incoming]) => incoming.destroy());
  return {
    port: address.port,
    cut,
    pause: (milliseconds) => {
      const paused = [...pairs].flat();
      for (const socket of paused) socket.pause();
      setTimeout(() => paused.forEach((socket) => socket.resume()), milliseconds);
    },
    close: async () => {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
