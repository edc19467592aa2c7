// The costs of a project of a given size: calls, time, memory, rows and lock traffic, computed from costs per unit.
//
//   node scripts/scale.mjs                      prints the tables of docs/scale.md from the costs recorded below
//   node scripts/scale.mjs --targets 500 --cases 200 --latency 80 --rate 50 --shards 10
//   node scripts/scale.mjs --measure            measures the costs on this machine, and prints the tables from them
//
// The costs per unit are the difference between two sizes of one project on the local service, so that the cost of a
// start is not counted twice. Run `npm run build` first.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

/** Measured with Node 20.20.2 on two shared cores. @see measure */
const RECORDED = {
  start: { seconds: 0.31, mib: 97 },
  plan: { cpuMsPerCase: 0.17, bytesPerCase: 6397, answerBytesPerCase: 2045 },
  apply: { cpuMsPerCall: 1.1 },
  state: { bytesPerCase: 254 },
};

/**
 * Statements of the postgres backend; they are pipelined, so only those that are waited for cost a
 * round trip.
 */
const PER_TARGET = { lock: 1, unlock: 2, write: 1, journalEach: 1 };
/** Sends that a job takes from a shared rate at a time, after a short start. */
const BATCH = 20;
/**
 * Entries of PostgreSQL's lock table with its defaults: max_locks_per_transaction ×
 * max_connections.
 */
const LOCK_TABLE = 64 * 100;

const { values } = parseArgs({
  options: {
    targets: { type: "string", default: "10000" },
    cases: { type: "string", default: "1000" },
    latency: { type: "string", default: "50" },
    rate: { type: "string", default: "100" },
    concurrency: { type: "string", default: "8" },
    shards: { type: "string", default: "100" },
    changed: { type: "string", default: "0.1" },
    measure: { type: "boolean", default: false },
  },
});

const costs = values.measure ? await measure() : RECORDED;
if (values.measure) process.stdout.write(`${JSON.stringify(costs, undefined, 2)}\n\n`);
process.stdout.write(tables(costs, values));

function tables(unit, options) {
  const number = (name) => Number(options[name]);
  const [targets, perTarget, latency, rate] = ["targets", "cases", "latency", "rate"].map(number);
  const [concurrency, shards, percent] = ["concurrency", "shards", "changed"].map(number);
  const cases = targets * perTarget;
  const inShard = { targets: Math.ceil(targets / shards), cases: Math.ceil(cases / shards) };
  /**
   * The time of this many calls by all shards: limited by the latency of each shard, or by the
   * common rate.
   */
  const sending = (calls) => {
    const own = ((calls / shards) * latency) / 1000 / concurrency;
    return { seconds: Math.max(own, calls / rate), bound: own > calls / rate ? "latency" : "rate" };
  };
  const reading = sending(targets + shards);
  const computing = unit.start.seconds + (inShard.cases * unit.plan.cpuMsPerCase) / 1000;
  const planned = Math.max(reading.seconds, computing);
  const patches = Math.round((cases * percent) / 100);
  const patching = sending(patches);
  const creating = sending(cases);
  const memory = unit.start.mib + (inShard.cases * unit.plan.bytesPerCase) / 2 ** 20;
  const answers = bytes(cases * unit.plan.answerBytesPerCase);
  const statements = PER_TARGET.lock + PER_TARGET.unlock + PER_TARGET.write;
  const rows = [
    ["**Plan**", ""],
    [
      "GET calls",
      `${count(targets)} lists of test cases, and for each of ${count(shards)} shards one of targets`,
    ],
    ["Bytes of answers", `${answers}, ${bytes(perTarget * unit.plan.answerBytesPerCase)} a list`],
    [
      "Time",
      `${time(planned)} (calls ${time(reading.seconds)}, bound by the ${reading.bound}; CPU of a shard ${time(computing)})`,
    ],
    ["Memory of a shard", `${memory.toFixed(0)} MiB for ${count(inShard.cases)} test cases`],
    ["State queries of a shard", "2: the list of targets, and all its documents in one"],
    [`**Apply of ${percent} % of the test cases**`, ""],
    ["PATCH calls", count(patches)],
    [
      "Time beyond the plan",
      `${time(patching.seconds)}, bound by the ${patching.bound}; CPU ${time(((patches / shards) * unit.apply.cpuMsPerCall) / 1000)} a shard`,
    ],
    ["**First apply, everything created**", ""],
    ["POST calls", count(cases + targets)],
    ["Time", `${time(creating.seconds)}, bound by the ${creating.bound}`],
    ["**State in PostgreSQL**", ""],
    ["Rows", `${count(targets)} documents, up to ${count(targets * 20)} earlier versions`],
    [
      "Size",
      `${bytes(perTarget * unit.state.bytesPerCase)} a document, ${bytes(cases * unit.state.bytesPerCase)} in all, without versions`,
    ],
    [
      "Locks held at once",
      `${count(targets)}; PostgreSQL has room for ${count(LOCK_TABLE)} unless max_locks_per_transaction is raised`,
    ],
    [
      "Statements of an apply",
      `${count(targets * statements)} (${statements} a target), one for each group of answers, and one look at the locks every 2 s`,
    ],
    [
      "Statements for the shared rate",
      `one in ${BATCH} calls: ${(rate / BATCH).toFixed(0)} a second`,
    ],
  ];
  const head = `${count(targets)} targets with ${count(perTarget)} test cases each: ${count(cases)} test cases`;
  const given = `${latency} ms a call, ${rate} calls/s with one API key, ${count(shards)} ${shards === 1 ? "job" : "shards"}, concurrency ${concurrency}`;
  return `${head}\n${given}\n\n| | |\n| --- | --- |\n${rows.map((row) => `| ${row.join(" | ")} |`).join("\n")}\n`;
}

function count(value) {
  return Math.round(value).toLocaleString("en");
}

function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB"];
  const at = Math.min(
    units.length - 1,
    Math.max(0, Math.floor(Math.log2(Math.max(1, value)) / 10)),
  );
  return `${(value / 1024 ** at).toFixed(at === 0 ? 0 : 1)} ${units[at]}`;
}

function time(seconds) {
  const [unit, length] = [
    ["days", 86_400],
    ["h", 3_600],
    ["min", 60],
  ].find(([, one]) => seconds >= 2 * one) ?? ["s", 1];
  return `${(seconds / length).toFixed(1)} ${unit}`;
}

async function measure() {
  const small = await sample(4, 50);
  const large = await sample(4, 500);
  const cases = large.cases - small.cases;
  const per = (of) => (of(large) - of(small)) / cases;
  return {
    start: {
      seconds: round(small.plan.cpu / 1000 - (small.cases * per((one) => one.plan.cpu)) / 1000),
      mib: round(small.plan.mib - small.cases * per((one) => one.plan.mib)),
    },
    plan: {
      cpuMsPerCase: round(per((one) => one.plan.cpu)),
      bytesPerCase: Math.round(per((one) => one.plan.mib) * 2 ** 20),
      answerBytesPerCase: Math.round(per((one) => one.answer)),
    },
    apply: { cpuMsPerCall: round(per((one) => one.patch.cpu) - per((one) => one.plan.cpu)) },
    state: { bytesPerCase: Math.round(per((one) => one.state)) },
  };
}

function round(value) {
  return Number(value.toPrecision(2));
}

/** Creates a project with one file per target on a local service, and measures its runs. */
async function sample(targets, cases) {
  const folder = mkdtempSync(join(tmpdir(), "tasc-scale-"));
  const service = spawn(
    process.execPath,
    [
      resolve("dist/tasc.cjs"),
      "serve",
      "--port",
      "0",
      "--api-key",
      "key",
      "--discovery-time",
      "1ms",
    ],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  const said = await Promise.race([once(service.stdout, "data"), once(service.stderr, "data")]);
  const base = /http:\/\/127\.0\.0\.1:\d+/.exec(String(said[0]))?.[0] ?? "";
  try {
    mkdirSync(join(folder, "targets"));
    const settings =
      'version: 1\nservice: { baseUrl: "${env:BASE}", apiKey: "${secret:KEY}", concurrency: 8 }\n';
    writeFileSync(join(folder, "tasc.yaml"), settings);
    for (let n = 0; n < targets; n += 1)
      writeFileSync(join(folder, "targets", `t${n}.yaml`), manifest(n, cases));
    const run = (args, path) => runCommand(args, folder, { BASE: base, KEY: "key", ENTRY: path });
    await run(["apply", "--auto-approve", "--wait"], "/one");
    const plan = await run(["plan"], "/one");
    const patch = await run(["apply", "--auto-approve"], "/two");
    const lists = await Promise.all(
      (await listed(base, "")).map(({ id }) => listed(base, `/${id}/test-cases`)),
    );
    const kept = join(folder, ".tasc", "state", "default");
    const state = readdirSync(kept).reduce(
      (sum, file) => sum + readFileSync(join(kept, file)).length,
      0,
    );
    return { cases: targets * cases, plan, patch, state, answer: JSON.stringify(lists).length };
  } finally {
    service.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function listed(base, path) {
  const answer = await fetch(`${base}/apiKey/v3/test-targets${path}`, {
    headers: { "X-API-Key": "key" },
  });
  return await answer.json();
}

function manifest(n, cases) {
  const list = Array.from(
    { length: cases },
    (_, at) => `  case-${at}:
    description: Test case ${at} of the shop
    externalId: SHOP-${n}-${at}
    tags: [smoke, "area-${at % 7}"]
    entryPointUrlPath: "\${env:ENTRY}/${at}"
    discovery: { prompt: "Open page ${at}, fill the form with sample data, submit it and check the confirmation." }
`,
  );
  return `target: t${n}\napp: Shop ${n}\nenvironments: { default: { discoveryUrl: "https://shop-${n}.example.com" } }\ntestCases:\n${list.join("")}`;
}

/** CPU in milliseconds and peak memory, as the command reports them. */
async function runCommand(args, folder, env) {
  const hook = join(folder, "usage.cjs");
  writeFileSync(
    hook,
    'process.on("exit", () => require("node:fs").writeFileSync(process.env.USAGE, JSON.stringify(process.resourceUsage())));',
  );
  const usage = join(folder, "usage.json");
  const child = spawn(
    process.execPath,
    ["--require", hook, resolve("dist/tasc.cjs"), ...args, "--chdir", folder],
    {
      env: { PATH: process.env.PATH, USAGE: usage, ...env },
      stdio: "ignore",
    },
  );
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`tasc ${args.join(" ")} ended with ${code}`);
  const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(readFileSync(usage, "utf8"));
  return { cpu: (userCPUTime + systemCPUTime) / 1000, mib: maxRSS / 1024 };
}
