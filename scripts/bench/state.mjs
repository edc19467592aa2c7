// The costs of shared state: compared with local files over a slow connection, and with several
// processes at work.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { build } from "rolldown";
import { inFolder, limit, ms } from "./figures.mjs";
import { root, tasc } from "./run.mjs";

/** Milliseconds of a round trip to the state server. */
const ROUND_TRIP = 10;
const TARGETS = 1000;

/**
 * A plan, a creation and an update of 1,000 targets, with 10 ms to the state server, compared with
 * local state.
 */
export async function slowStateRow() {
  const local = await timesOf("{ backend: local }");
  const figures = [];
  await withServers(async (servers) => {
    for (const [name, { port, section, requestsIn }] of Object.entries(servers)) {
      const way = await openSlowWay(port, requestsIn);
      const times = await timesOf(section(way.port, "slow"), way.counted);
      way.close();
      for (const [what, { taken, requests }] of Object.entries(times)) {
        const more = (taken - local[what].taken) / 1000;
        const detail = `${(taken / 1000).toFixed(1)} s / ${(local[what].taken / 1000).toFixed(1)} s, ${(requests / TARGETS).toFixed(2)} requests a target`;
        figures.push(
          what === "plan"
            ? { ...limit(`${name}: plan, more than locally`, more, 3, "s"), detail }
            : {
                ...limit(
                  `${name}: ${what}, round trips a target`,
                  (more * 1000) / ROUND_TRIP / TARGETS,
                  4,
                  "",
                ),
                detail,
              },
        );
      }
    }
  });
  return figures;
}

/**
 * Test cases that 1, 2, 4 and 8 processes create and then patch per second: 64 targets, 256 cases,
 * 100 ms per call.
 */
export async function fleetRow() {
  const figures = [];
  await withServers(async (servers) => {
    const sections = { local: () => "{ backend: local }" };
    for (const [name, { port, section }] of Object.entries(servers))
      sections[name] = (of) => section(port, of);
    for (const [name, section] of Object.entries(sections)) {
      const times = { created: [], patched: [] };
      for (const processes of [1, 2, 4, 8])
        await withProject(64, 4, section(`fleet_${processes}`), async (run, slowDown) => {
          await slowDown(100);
          for (const what of Object.keys(times)) {
            const start = performance.now();
            const shards = Array.from({ length: processes }, (_, at) => `${at + 1}/${processes}`);
            await Promise.all(
              shards.map((shard) => run(["apply", "--auto-approve", "--shard", shard], what)),
            );
            times[what].push((performance.now() - start) / 1000);
          }
        });
      for (const [what, taken] of Object.entries(times)) {
        const rates = taken.map((seconds) => Math.round(256 / seconds));
        figures.push({
          ...limit(`${name}: ${what} by 8 processes, against 1`, taken[3] / taken[0], 1, "×"),
          detail: `${rates.join(", ")} test cases/s`,
        });
      }
    }
  });
  return figures;
}

/** Milliseconds of each command, and the number of its requests to the state server. */
function timesOf(section, counted = () => 0) {
  return withProject(TARGETS, 1, section, async (run) => {
    const times = {};
    for (const [what, args, round] of [
      ["creation", ["apply", "--auto-approve"], "one"],
      ["plan", ["plan", "--detailed-exitcode"], "one"],
      ["update", ["apply", "--auto-approve"], "two"],
    ]) {
      const before = counted();
      times[what] = { taken: await run(args, round), requests: counted() - before };
    }
    return times;
  });
}

/** A project with its own service. */
function withProject(targets, cases, section, use) {
  return inFolder(async (folder) => {
    mkdirSync(join(folder, "targets"));
    writeFileSync(
      join(folder, "tasc.yaml"),
      `version: 1\nservice: { baseUrl: "\${env:BASE}", apiKey: "\${secret:KEY}", concurrency: 8 }\nstate: ${section}\n`,
    );
    for (let n = 0; n < targets; n++)
      writeFileSync(join(folder, "targets", `t${n}.yaml`), manifest(n, cases));
    const args = ["serve", "--port", "0", "--api-key", "key", "--discovery-time", "1ms"];
    const service = spawn(process.execPath, [tasc, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      cwd: folder,
    });
    try {
      const said = await Promise.race([once(service.stdout, "data"), once(service.stderr, "data")]);
      const env = { BASE: /http:\/\/127\.0\.0\.1:\d+/.exec(String(said[0]))?.[0], KEY: "key" };
      const run = (command, round) =>
        ms([tasc, ...command, "--chdir", folder], { env: { ...env, ROUND: round } });
      const slowDown = async (latency) => {
        const fault = { path: ".*", fault: { type: "latency", ms: latency } };
        const headers = { "X-API-Key": "key", "content-type": "application/json" };
        const body = JSON.stringify(fault);
        const answer = await fetch(`${env.BASE}/control/faults`, { method: "POST", headers, body });
        if (!answer.ok) throw new Error(await answer.text());
      };
      return await use(run, slowDown);
    } finally {
      service.kill();
    }
  });
}

function manifest(n, cases) {
  const list = Array.from(
    { length: cases },
    (_, at) =>
      `  case-${at}: { description: Case ${at}, entryPointUrlPath: "/\${env:ROUND}", discovery: { prompt: Do ${at}. } }\n`,
  );
  return `target: t${n}\napp: App ${n}\nenvironments: { default: { discoveryUrl: "https://t${n}.example.com" } }\ntestCases:\n${list.join("")}`;
}

/** Runs a PostgreSQL server and a server of the http protocol, both from the tests. */
async function withServers(use) {
  const dir = join(root, ".cache", "servers");
  const support = join(root, "test", "state", "support");
  const input = {
    database: join(support, "postgres-server.ts"),
    keeper: join(support, "http-server.ts"),
  };
  await build({
    input,
    platform: "node",
    logLevel: "silent",
    output: { dir, entryFileNames: "[name].mjs" },
  });
  const { startPostgres } = await import(join(dir, "database.mjs"));
  const { startHttpServer } = await import(join(dir, "keeper.mjs"));
  const [database, keeper] = [await startPostgres(), await startHttpServer()];
  try {
    await use({
      postgres: {
        port: Number(new URL(database.url).port),
        section: (port, schema) =>
          `{ backend: postgres, url: "postgres://tasc@127.0.0.1:${port}/postgres", schema: ${schema} }`,
        requestsIn: syncsIn,
      },
      http: {
        port: Number(new URL(keeper.address).port),
        section: (port, path) => `{ backend: http, address: "http://127.0.0.1:${port}/${path}" }`,
        requestsIn: () => (bytes) => (/^[A-Z]+ \//.test(bytes.toString("latin1", 0, 12)) ? 1 : 0),
      },
    });
  } finally {
    await Promise.all([database.stop(), keeper.stop()]);
  }
}

/** Counts the statements that a PostgreSQL client sends: each ends with the message Sync. */
function syncsIn() {
  let rest = Buffer.alloc(0);
  let hasBegun = false;
  return (bytes) => {
    let [count, at] = [0, 0];
    rest = Buffer.concat([rest, bytes]);
    for (let length; at + 5 <= rest.length; at += length) {
      length = hasBegun ? rest.readUInt32BE(at + 1) + 1 : rest.readUInt32BE(at);
      if (at + length > rest.length) break;
      if (hasBegun && rest[at] === 0x53) count += 1;
      hasBegun = true;
    }
    rest = rest.subarray(at);
    return count;
  };
}

/** A proxy to a server that delays each direction by half of a round trip, and counts requests. */
async function openSlowWay(to, requestsIn) {
  let requests = 0;
  const sockets = new Set();
  const pass = (from, into, heard) => {
    sockets.add(from.setNoDelay());
    from.on("data", (bytes) => {
      heard(bytes);
      setTimeout(() => into.destroyed || into.write(bytes), ROUND_TRIP / 2);
    });
    from.on("error", () => {}).on("close", () => setTimeout(() => into.destroy(), ROUND_TRIP / 2));
  };
  const server = createServer((client) => {
    const upstream = connect(to, "127.0.0.1");
    const counter = requestsIn();
    pass(client, upstream, (bytes) => (requests += counter(bytes)));
    pass(upstream, client, () => {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: server.address().port,
    counted: () => requests,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
