// The rows of the benchmark: each measures some work against a floor in the same run.
import { createHash } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { writeFiles, writeLifelikeProject, writeProject } from "./data.mjs";
import { inFolder, KEY, limit, ms, ratio } from "./figures.mjs";
import { footprintRow } from "./footprint.mjs";
import { redactRow } from "./redact.mjs";
import { renderRow } from "./render.mjs";
import { median, once, pair, root, serve, tasc } from "./run.mjs";
import { pagesRow, statelessRow, wholeApplyRow } from "./shown.mjs";
import { fleetRow, slowStateRow } from "./state.mjs";

const floor = (name) => join(root, "scripts", "bench", name);

export const ROWS = [
  {
    name: "--help",
    run: async (rounds) => {
      const result = await pair(
        () => ms([tasc, "--help"]),
        () => ms(["-e", "0"]),
        rounds * 3,
      );
      const { mib } = await once([tasc, "--help"], { usage: true });
      return [ratio("time, against node -e 0", result, 1.2), limit("memory", mib, 46, "MiB")];
    },
  },
  {
    name: "validate 10,000 plain files",
    run: (rounds) => validateRow((folder) => writeFiles(folder, 10_000), rounds, 0.25),
  },
  {
    name: "validate 10,000 lifelike files",
    run: (rounds) => validateRow((folder) => writeLifelikeProject(folder, 10, 1000), rounds, 0.22),
  },
  {
    name: "plan of 10,000 cases in 10 targets",
    run: (rounds) => planRow(10, 1000, rounds, { goal: 2.4, memory: 180 }),
  },
  {
    name: "plan of 100,000 cases, against 10,000",
    run: (rounds) => growthRow(Math.min(rounds, 3)),
  },
  {
    name: "lifelike plan of 10,000 cases in 10,000 files",
    run: (rounds) =>
      lifelike(10, 1000, async (plan, fetchAndParse) => {
        const result = await pair(async () => (await plan(false)).ms, fetchAndParse, rounds);
        const { mib } = await plan();
        return [
          ratio("time, against fetching and parsing", result, 2.6),
          limit("memory", mib, 160, "MiB"),
        ];
      }),
  },
  {
    name: "lifelike plan of 100,000 cases, against 10,000",
    run: (rounds) => lifelikeGrowthRow(Math.min(rounds, 3)),
  },
  {
    name: "plan of 10,000 cases with accepted steps",
    run: (rounds) => policyRow("{ steps: reviewed }", { time: 1.25, memory: 1.15 }, rounds),
  },
  {
    name: "plan of 10,000 cases with five rules in CEL",
    run: (rounds) => policyRow(FIVE_RULES, { time: 1.1, memory: 1.15 }, rounds),
  },
  {
    name: "without state, 10,000 cases in 10 targets",
    run: (rounds) => statelessRow(10, 1000, rounds, { plan: 130, apply: 160 }),
  },
  {
    name: "without state, 100,000 cases in 100 targets",
    run: (rounds) => statelessRow(100, 1000, Math.min(rounds, 3), { plan: 350, apply: 400 }),
  },
  ...[1, 10].flatMap((changed) =>
    [
      [8, 1.15],
      [32, 1.45],
    ].map(([concurrency, goal]) => ({
      name: `whole apply of 1,000 PATCHes to ${changed} of 10 targets, concurrency ${concurrency}`,
      run: (rounds) => wholeApplyRow(changed, concurrency, goal, rounds),
    })),
  ),
  {
    name: "apply of 1,000 PATCHes at 20 ms, concurrency 8",
    run: (rounds) => applyRow(8, 1.15, 0.65, rounds),
  },
  {
    name: "apply of 1,000 PATCHes at 20 ms, concurrency 32",
    run: (rounds) => applyRow(32, 1.45, 0.5, rounds),
  },
  {
    name: "plan of 100 targets at 50 ms, concurrency 100",
    run: (rounds) =>
      inFolder(async (folder) => {
        writeProject(folder, 100, 1);
        const server = await serve(100, 1, 50);
        const swift = await serve(100, 1, 0);
        const own = [tasc, "plan", "--chdir", folder, "--concurrency", "100"];
        try {
          // The same plan without latency gives its CPU time; the effect of latency is counted in
          // round trips.
          const result = await pair(
            () => ms(own, { env: { ...KEY, BENCH_URL: server.url } }),
            () => ms(own, { env: { ...KEY, BENCH_URL: swift.url } }),
            rounds,
          );
          return [limit("round trips", (result.own - result.floor) / 50, 3, "")];
        } finally {
          server.stop();
          swift.stop();
        }
      }),
  },
  { name: "a plan of 5,000 changes, printed", run: (rounds) => renderRow(rounds) },
  { name: "a page of 5,000 updates of three fields", run: (rounds) => pagesRow(false, rounds) },
  {
    name: "a page of 5,000 updates of prompts and selectors",
    run: (rounds) => pagesRow(true, rounds),
  },
  { name: "promotion of 5,000 fields in one file", run: (rounds) => promotionRow(rounds) },
  { name: "redaction", run: (rounds) => redactRow(rounds) },
  { name: "state of 1,000 targets, with 10 ms to its server", run: () => slowStateRow() },
  { name: "a fleet of 1, 2, 4 and 8 processes", run: () => fleetRow() },
  { name: "installed as a dependency", run: () => footprintRow() },
];

function validateRow(write, rounds, goal) {
  return inFolder(async (folder) => {
    write(folder);
    const env = { ...KEY, BENCH_URL: "http://127.0.0.1:1" };
    const own = [tasc, "validate", "--chdir", folder];
    const result = await pair(
      () => ms(own, { env }),
      () => ms([floor("floor-validate.cjs"), join(folder, "targets")]),
      rounds,
    );
    const { mib } = await once(own, { env, usage: true });
    return [ratio("time, against parsing alone", result, goal), limit("memory", mib, 100, "MiB")];
  });
}

function planRow(targets, cases, rounds, { goal, memory }) {
  return inFolder(async (folder) => {
    writeProject(folder, targets, cases);
    const server = await serve(targets, cases, 0);
    const env = { ...KEY, BENCH_URL: server.url };
    const own = [tasc, "plan", "--chdir", folder];
    try {
      const result = await pair(
        () => ms(own, { env }),
        () => ms([floor("floor-plan.cjs")], { env }),
        rounds,
      );
      const { mib } = await once(own, { env, usage: true });
      return [
        ratio("time, against fetching and parsing", result, goal),
        limit("memory", mib, memory, "MiB"),
      ];
    } finally {
      server.stop();
    }
  });
}

const FIVE_RULES = `
  rules:
    - { name: tagged, for: testCase, require: size(tags) > 0 }
    - { name: team, for: testCase, when: status == "ENABLED", require: 'tags.exists(t, t.startsWith("t"))' }
    - { name: short, for: testCase, require: size(description) < 100 }
    - { name: path, for: testCase, when: entryPointUrlPath != null, require: entryPointUrlPath.startsWith("/") }
    - { name: id, for: testCase, require: 'externalId.matches("^T[0-9]+-[0-9]+$")' }
`;

/**
 * A plan without changes under a policy, against the same plan without it, in alternating runs. The
 * steps of all test cases are accepted, which counts only where the policy compares them.
 */
function policyRow(policy, goals, rounds) {
  return inFolder(async (folder) => {
    const [off, on] = ["off", "on"].map((name) => join(folder, name));
    writeProject(off, 10, 1000);
    writeProject(on, 10, 1000);
    appendFileSync(join(on, "tasc.yaml"), `policy: ${policy}\n`);
    const server = await serve(10, 1000, 0);
    const env = { ...KEY, BENCH_URL: server.url };
    const plan = (chdir) =>
      once([tasc, "plan", "--detailed-exitcode", "--chdir", chdir], { env, usage: true });
    try {
      for (const one of [off, on])
        await once([tasc, "apply", "--auto-approve", "--chdir", one], { env });
      await once([tasc, "steps", "accept", "--all", "--chdir", on], { env });
      const runs = { off: [], on: [] };
      for (let round = 0; round < rounds; round++) {
        runs.off.push(await plan(off));
        runs.on.push(await plan(on));
      }
      const against = (what, measure, goal) => {
        const [own, least] = [runs.on, runs.off].map((some) => median(some.map(measure)));
        const values = { own, floor: least, ratio: own / least };
        return ratio(`${what}, against the plan without`, values, goal);
      };
      return [
        against("time", ({ ms: taken }) => taken, goals.time),
        against("CPU time", ({ cpu }) => cpu, goals.time),
        against("memory", ({ mib }) => mib, goals.memory),
      ];
    } finally {
      server.stop();
    }
  });
}

/**
 * 100,000 test cases, in 100 targets and in one, compared with the time of 10,000, in alternating
 * runs.
 */
function growthRow(rounds) {
  return planning(10, 1000, (small) =>
    planning(100, 1000, (wide) =>
      planning(1, 100_000, async (tall) => {
        const runs = { small: [], wide: [], tall: [] };
        for (let round = 0; round < rounds; round++) {
          runs.small.push(await small());
          runs.wide.push(await wide());
          runs.tall.push(await tall());
        }
        const time = (name) => median(runs[name].map(({ ms: taken }) => taken));
        const against = (name) => ({
          own: time(name),
          floor: time("small"),
          ratio: time(name) / time("small"),
        });
        const memory = (name) => median(runs[name].map(({ mib }) => mib));
        return [
          ratio("time in 100 targets", against("wide"), 11),
          limit("memory in 100 targets", memory("wide"), 450, "MiB"),
          ratio("time in one target", against("tall"), 11),
          limit("memory in one target", memory("tall"), 450, "MiB"),
        ];
      }),
    ),
  );
}

/**
 * Passes a function to `use` that plans this many test cases and returns time and peak memory; it
 * has run once.
 */
function planning(targets, cases, use) {
  return inFolder(async (folder) => {
    writeProject(folder, targets, cases);
    const server = await serve(targets, cases, 0);
    const env = { ...KEY, BENCH_URL: server.url };
    const plan = () => once([tasc, "plan", "--chdir", folder], { env, usage: true });
    try {
      await plan();
      return await use(plan);
    } finally {
      server.stop();
    }
  });
}

function lifelikeGrowthRow(rounds) {
  return lifelike(10, 1000, async (small) => {
    const figures = [];
    for (const [name, targets, memory] of [
      ["100 targets", 100, 400],
      ["one target", 1, 450],
    ])
      await lifelike(targets, 100_000 / targets, async (large) => {
        const runs = { small: [], large: [] };
        for (let round = 0; round < rounds; round++) {
          runs.small.push(await small());
          runs.large.push(await large());
        }
        const time = (size) => median(runs[size].map(({ ms: taken }) => taken));
        const [own, least] = [time("large"), time("small")];
        figures.push(ratio(`time in ${name}`, { own, floor: least, ratio: own / least }, 8.5));
        figures.push(
          limit(`memory in ${name}`, median(runs.large.map(({ mib }) => mib)), memory, "MiB"),
        );
      });
    return figures;
  });
}

/**
 * A lifelike project that was applied once, so that its plan is empty, and the floor of that plan.
 * Applying 100,000 test cases takes minutes, so the project is kept for the next run, with the port
 * that its state refers to.
 */
export async function lifelike(targets, cases, use) {
  const made = createHash("sha256")
    .update(readFileSync(floor("data.mjs")))
    .digest("hex")
    .slice(0, 12);
  const folder = join(root, ".cache", `lifelike-${targets}-${cases}-${made}`);
  const portFile = join(folder, "port");
  const port = existsSync(portFile) ? Number(readFileSync(portFile, "utf8")) : 0;
  const server = await serve(targets, cases, 0, "lifelike", port);
  const env = { ...KEY, BENCH_URL: server.url };
  const chdir = ["--chdir", folder];
  try {
    const own = Number(new URL(server.url).port);
    if (own !== port) {
      rmSync(folder, { recursive: true, force: true });
      writeLifelikeProject(folder, targets, cases);
      await once([tasc, "apply", "--auto-approve", ...chdir], { env });
      writeFileSync(portFile, String(own));
    }
    const plan = (usage = true) =>
      once([tasc, "plan", "--detailed-exitcode", ...chdir], { env, usage });
    return await use(plan, () => ms([floor("floor-plan.cjs")], { env }));
  } finally {
    server.stop();
  }
}

/** One document in which one field of every test case differs between two stages. */
function writePromotion(folder, cases) {
  mkdirSync(join(folder, "targets"), { recursive: true });
  const service = '{ baseUrl: "${env:BENCH_URL}", apiKey: "${secret:BENCH_KEY}" }';
  const project = `version: 1\nservice: ${service}\nstages: { staging: {}, production: {} }\n`;
  writeFileSync(join(folder, "tasc.yaml"), project);
  const each = (line) => Array.from({ length: cases }, (_, at) => line(at)).join("");
  const stage = (name, status) =>
    `  ${name}:\n    testCases:\n${each((at) => `      case-${at}: { status: ${status} }\n`)}`;
  const base = each((at) => `  case-${at}: { description: Case ${at}, status: ENABLED }\n`);
  const stages = stage("staging", "DISABLED") + stage("production", "DRAFT");
  const text = `target: shop\napp: Shop\ntestCases:\n${base}stages:\n${stages}`;
  writeFileSync(join(folder, "targets", "shop.yaml"), text);
}

async function promotionRow(rounds) {
  const env = { ...KEY, BENCH_URL: "http://127.0.0.1:1" };
  const stages = ["--from", "staging", "--to", "production"];
  const times = [];
  for (const fields of [1250, 2500, 5000])
    await inFolder(async (folder) => {
      const runs = [];
      for (let round = 0; round < rounds; round++) {
        writePromotion(folder, fields);
        runs.push(await ms([tasc, "promote", ...stages, "--chdir", folder], { env }));
      }
      times.push(median(runs));
    });
  const [quarter, half, whole] = times;
  return [
    limit("time", whole / 1000, 1, "s"),
    ratio("time, against that of 1,250", { own: whole, floor: quarter, ratio: whole / quarter }, 4),
    ratio("time, against that of 2,500", { own: whole, floor: half, ratio: whole / half }, 2),
  ];
}

/** The apply phase as the server measures it: from the first PATCH to the last. */
function applyRow(concurrency, goal, cpuGoal, rounds) {
  return inFolder(async (folder) => {
    writeProject(folder, 1, 1000, { status: "DISABLED" });
    const server = await serve(1, 1000, 20);
    const env = { ...KEY, BENCH_URL: server.url };
    const phase = async (args, options) => {
      await once(args, options);
      const answer = await fetch(`${server.url}/phase`);
      const { ms: time, patches } = await answer.json();
      if (patches !== 1000) throw new Error(`${patches} PATCHes instead of 1,000`);
      return time;
    };
    const apply = [
      tasc,
      "apply",
      "--auto-approve",
      "--chdir",
      folder,
      "--concurrency",
      String(concurrency),
    ];
    try {
      const result = await pair(
        () => phase(apply, { env }),
        () => phase([floor("floor-apply.cjs"), "1000", String(concurrency)], { env }),
        rounds,
      );
      const ideal = (1000 / concurrency) * 20;
      const cpu = async (args) => (await once(args, { env, usage: true })).cpu;
      const bare = (count) => cpu([floor("floor-apply.cjs"), String(count), String(concurrency)]);
      const own = [];
      const least = [];
      for (let round = 0; round < rounds; round++) {
        // The plan runs first, while nothing is changed: the additional CPU time of an apply is for
        // its calls.
        await fetch(`${server.url}/phase`);
        const planned = await cpu([tasc, "plan", "--chdir", folder]);
        own.push(((await cpu(apply)) - planned) / 1000);
        least.push(((await bare(1000)) - (await bare(0))) / 1000);
      }
      return [
        ratio("phase, against a bare client", result, 1.15),
        ratio(
          "phase, against the ideal",
          { ...result, floor: ideal, ratio: result.own / ideal },
          goal,
        ),
        {
          ...limit("CPU for each call", median(own), cpuGoal, "ms"),
          detail: `a bare client: ${median(least).toFixed(2)} ms`,
        },
      ];
    } finally {
      server.stop();
    }
  });
}
