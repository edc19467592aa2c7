// Compares the history of applies with the answers of the service, after a kill at every write of
// an apply.
import { type IncomingMessage, type Server, createServer } from "node:http";
import { once } from "node:events";
import { text as readText } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { isRecord } from "../../src/model/shape.ts";
import { Fleet, type Running } from "./support/fleet.ts";

/** A write that reached the service. */
interface Write {
  readonly path: string;
  readonly body: string;
  /** Whether its answer was sent back to the process. */
  isHeard: boolean;
}

type Moment = "before it is sent" | "before its answer comes" | "right after its answer";

/** A proxy between a process and the service; it kills the process at one of its writes. */
class Gate {
  readonly writes: Write[] = [];
  victim: Running | undefined;
  at = Infinity;
  moment: Moment = "before it is sent";
  readonly #server: Server;
  readonly #to: string;

  constructor(to: string) {
    this.#to = to;
    this.#server = createServer((request, response) => {
      void this.#pass(request).then(
        ({ status, text }) => {
          response.writeHead(status, { "content-type": "application/json" }).end(text);
        },
        () => response.destroy(),
      );
    });
  }

  async open(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const address = this.#server.address();
    if (typeof address !== "object" || address === null) throw new Error("no port was given");
    return `http://127.0.0.1:${address.port}`;
  }

  async #pass(
    request: IncomingMessage,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const { method = "GET", url = "/", headers } = request;
    const body = await readText(request);
    const isLast = method !== "GET" && this.writes.length === this.at;
    if (isLast && this.moment === "before it is sent") return this.#kill();
    const write = { path: url, body, isHeard: false };
    if (method !== "GET") this.writes.push(write);
    const key = String(headers["x-api-key"]);
    const answer = await fetch(`${this.#to}${url}`, {
      method,
      headers: { "x-api-key": key, "content-type": "application/json" },
      ...(body === "" ? {} : { body }),
    });
    const text = await answer.text();
    if (isLast && this.moment === "before its answer comes") return this.#kill();
    write.isHeard = true;
    // The process ends while the answer is on its way: it may have been recorded or not.
    if (isLast) setImmediate(() => this.victim?.process.kill("SIGKILL"));
    return { status: answer.status, text };
  }

  #kill(): never {
    this.victim?.process.kill("SIGKILL");
    throw new Error("killed");
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

const APPLY = ["apply", "--auto-approve", "--concurrency", "1"];

type Outcomes = Readonly<Record<string, string>>;

/** The changes of all history entries, newest first: outcomes by address. */
async function entries(fleet: Fleet): Promise<readonly Outcomes[]> {
  const { stdout } = await fleet.run("history", "--json");
  const all: unknown = JSON.parse(stdout);
  return (Array.isArray(all) ? all : []).map((entry: unknown) => {
    const changes: readonly unknown[] =
      isRecord(entry) && Array.isArray(entry["changes"]) ? entry["changes"] : [];
    return Object.fromEntries(
      changes.flatMap((change) =>
        isRecord(change) ? [[String(change["address"]), String(change["outcome"])]] : [],
      ),
    );
  });
}

/** The address that a write changes; `ids` maps live ids to addresses. */
function addressOf({ path, body }: Write, ids: ReadonlyMap<string, string>): string {
  if (path.endsWith("/test-targets")) return "target.t0";
  const name = /"name":"([AB])"/.exec(body)?.[1];
  return name === undefined
    ? (ids.get(path.split("/").at(-1) ?? "") ?? path)
    : `testCase.t0.${name.toLowerCase()}`;
}

async function idsOf(fleet: Fleet): Promise<ReadonlyMap<string, string>> {
  const { stdout } = await fleet.run("state", "list", "--json");
  const found = stdout.matchAll(/"address": "([^"]+)"[^}]*?"id": "([^"]+)"/g);
  return new Map([...found].map(([, address = "", id = ""]) => [id, address]));
}

describe.each(["before it is sent", "before its answer comes", "right after its answer"] as const)(
  "an apply that is killed at a write, %s",
  (moment) => {
    it.concurrent.each([
      ["first", 3],
      ["second", 2],
    ] as const)("has a correct history (%s apply)", async (which, amount) => {
      for (let at = 0; at < amount; at += 1) {
        const fleet = await Fleet.open(1, "{ backend: local }");
        const gate = new Gate(fleet.base);
        try {
          fleet.base = await gate.open();
          if (which === "second") expect((await fleet.runWith("one", APPLY)).code).toBe(0);
          gate.writes.length = 0;
          Object.assign(gate, { at, moment });
          gate.victim = fleet.start(APPLY, "two");
          await gate.victim.ended;
          gate.at = Infinity;
          // Much later, so that the next apply does not wait for the end of a lost request.
          fleet.now = () => Date.now() + 60_000;
          const writes = [...gate.writes];
          const [told = {}] = await entries(fleet);
          const again = await fleet.runWith("two", APPLY);
          expect(again.code, again.stderr).toBe(0);
          const ids = await idsOf(fleet);
          const story = JSON.stringify({ at, told, writes }, undefined, 2);
          const heard = writes
            .filter(({ isHeard }) => isHeard)
            .map((write) => addressOf(write, ids));
          const [last] = heard.slice(-1);
          for (const [address, outcome] of Object.entries(told)) {
            if (address.startsWith("environment.")) continue;
            // Each of these changes is one write. Only the last answered write may or may not
            // have been recorded.
            if (!heard.includes(address)) expect(outcome, story).toBe("unknown");
            else if (address !== last || moment === "before it is sent")
              expect(outcome, story).toBe("done");
          }
          if (told["environment.t0.default"] === "done")
            expect(heard, story).toContain("target.t0");
          expect(await fleet.wrong(), story).toEqual([]);
          // The entry of the killed run stays next to the entry of the second run.
          const after = await entries(fleet);
          expect(
            after.some((entry) => JSON.stringify(entry) === JSON.stringify(told)),
            story,
          ).toBe(true);
        } finally {
          gate.close();
          await fleet.close();
        }
      }
    });
  },
);
