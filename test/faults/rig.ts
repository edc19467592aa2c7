import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningServer, startServer } from "../../src/server/index.ts";
import { KNOWN_KEYS, runHere } from "../contract/support/here.ts";
import { writeFaultProject } from "./project.ts";
import { type Fault, type FaultyWay, openFaultyWay } from "./proxy.ts";

const TASC = join(import.meta.dirname, "..", "..", "dist", "tasc.cjs");
const KEY = "key-for-the-fault-tests";

/** How a run of the command ended. */
export interface Ended {
  /** `null` for a process that was killed. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A service, a faulty proxy to it, and a project; each case starts with an empty service. */
export class Rig {
  readonly #server: RunningServer;
  readonly #way: FaultyWay;
  readonly #folder: string;
  #now: () => number = Date.now;

  static async open(): Promise<Rig> {
    const folder = mkdtempSync(join(tmpdir(), "tasc-faults-"));
    const server = await startServer({
      dataDir: join(folder, "service"),
      apiKey: KEY,
      discoveryTime: 0,
    });
    return new Rig(server, await openFaultyWay(server.url), folder);
  }

  private constructor(server: RunningServer, way: FaultyWay, folder: string) {
    this.#server = server;
    this.#way = way;
    this.#folder = folder;
  }

  /** Empties the service and writes a fresh project. */
  async reset(): Promise<void> {
    await this.#control("PUT", "/data", {});
    this.#now = Date.now;
    rmSync(join(this.#folder, "project"), { recursive: true, force: true });
    writeFaultProject(join(this.#folder, "project"));
  }

  /** Runs the command; `fault` affects the n-th write of this run. */
  async run(
    args: readonly string[],
    fault?: { readonly nth: number; readonly kind: Fault },
  ): Promise<Ended> {
    const all = [...args, "--chdir", join(this.#folder, "project")];
    const env = {
      PATH: process.env["PATH"] ?? "",
      BASE: this.#way.url,
      KEY,
      PASSWORD: "password-of-the-account",
    };
    const arm = (kill: () => void): void =>
      this.#way.arm(fault?.nth ?? 0, fault?.kind ?? "reset before the service acts", kill);
    if (fault?.kind.startsWith("kill") !== true) {
      arm(() => {});
      return await runHere(all, ".", env, this.#now);
    }
    const child = spawn(process.execPath, [...KNOWN_KEYS, TASC, ...all], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    arm(() => child.kill("SIGKILL"));
    const [stdout, stderr]: [string[], string[]] = [[], []];
    child.stdout.on("data", (text: Buffer) => stdout.push(text.toString()));
    child.stderr.on("data", (text: Buffer) => stderr.push(text.toString()));
    const code = await new Promise<number | null>((ended) => child.once("close", ended));
    // Much later, so that the next apply does not wait for the end of a lost request.
    this.#now = () => Date.now() + 60_000;
    return { code, stdout: stdout.join(""), stderr: stderr.join("") };
  }

  /** Writes of the last run. */
  writes(): number {
    return this.#way.writes();
  }

  /** Everything the service stores, except what differs from run to run. */
  async serviceState(): Promise<unknown> {
    return normalised(await this.#control("GET", "/data"));
  }

  async #control(method: string, path: string, body?: object): Promise<unknown> {
    const answer = await fetch(`${this.#server.controlUrl}${path}`, {
      method,
      headers: {
        "x-api-key": KEY,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    const text = await answer.text();
    return text === "" ? undefined : (JSON.parse(text) as unknown);
  }

  async close(): Promise<void> {
    await this.#way.close();
    await this.#server.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Removes ids, times and the order of creation, because they differ from run to run. */
function normalised(data: unknown): unknown {
  const names = new Map<string, string>();
  const text = JSON.stringify(data, (key, value: unknown) =>
    /At$|^ack$|^emailPrefix$/.test(key) ? undefined : value,
  );
  // Each id is replaced by the name of its resource, so that references are compared too.
  for (const found of text.matchAll(
    /\{"id":"([0-9a-f-]{36})"[^{}]*?"(?:app|description|name|discoveryUrl)":"([^"]*)"/g,
  ))
    names.set(found[1] ?? "", found[2] ?? "");
  const plain = text.replaceAll(
    /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g,
    (id) => names.get(id) ?? "id",
  );
  return sorted(JSON.parse(plain));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items: unknown[] = value.map(sorted);
    return items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, part]) => [key, sorted(part)] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}
