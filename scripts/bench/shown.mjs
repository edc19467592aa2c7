// Lifelike projects of which the answers show everything: plans with and without state, the apply
// that binds them, a whole apply of changes, and a plan of changes as a page.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { writeLifelikeProject } from "./data.mjs";
import { inFolder, KEY, limit, ratio } from "./figures.mjs";
import { median, once, serve, tasc } from "./run.mjs";

/** Without state, every test case is matched by its external id. */
const FRESH = ["--stage", "fresh"];

/** Plans with and without state, and an apply of nothing, which records the bindings. */
export function statelessRow(targets, cases, rounds, memory) {
  return inFolder(async (folder) => {
    writeLifelikeProject(folder, targets, cases, { shown: true });
    const server = await serve(targets, cases, 0, "lifelike");
    const options = { env: { ...KEY, BENCH_URL: server.url }, usage: true };
    const run = (...args) => once([tasc, ...args, "--chdir", folder], options);
    try {
      await run("apply", "--auto-approve");
      const runs = { with: [], without: [], apply: [] };
      for (let round = 0; round < rounds; round++) {
        runs.with.push(await run("plan", "--detailed-exitcode"));
        runs.without.push(await run("plan", "--detailed-exitcode", ...FRESH));
        runs.apply.push(await run("apply", "--auto-approve", ...FRESH));
        rmSync(join(folder, ".tasc", "state", "fresh"), { recursive: true });
      }
      const middle = (name, what) => median(runs[name].map((one) => one[what]));
      const against = (what, name, least, goal, unit) => {
        const [own, floor] = [middle(name, unit), middle(least, unit)];
        return ratio(what, { own, floor, ratio: own / floor }, goal);
      };
      return [
        against("time without state, against with it", "without", "with", 1.15, "ms"),
        against("CPU without state, against with it", "without", "with", 1.15, "cpu"),
        limit("memory with state", middle("with", "mib"), memory.plan, "MiB"),
        limit("memory without state", middle("without", "mib"), memory.plan, "MiB"),
        against("apply of nothing, against its plan", "apply", "without", 1.5, "ms"),
        against("its CPU, against that of its plan", "apply", "without", 1.5, "cpu"),
        limit("memory of the apply", middle("apply", "mib"), memory.apply, "MiB"),
      ];
    } finally {
      server.stop();
    }
  });
}

/**
 * A whole apply of 1,000 PATCHes among 10,000 test cases in ten targets, less a plan of them,
 * against the ideal of the calls alone.
 * @param targets how many targets they are in: the final check reads these
 */
export function wholeApplyRow(targets, concurrency, goal, rounds) {
  const changed = (at, target) => target < targets && at < 1000 / targets;
  return inFolder(async (folder) => {
    const more = [];
    const cpu = [];
    let port = 0;
    for (let round = 0; round < rounds; round++) {
      rmSync(folder, { recursive: true, force: true });
      writeLifelikeProject(folder, 10, 1000, { shown: true });
      // Each round has a server of its own, which has not been written to.
      const server = await serve(10, 1000, 20, "lifelike", port);
      port = Number(new URL(server.url).port);
      const options = { env: { ...KEY, BENCH_URL: server.url }, usage: true };
      const calls = ["--concurrency", String(concurrency)];
      const run = (...args) => once([tasc, ...args, ...calls, "--chdir", folder], options);
      try {
        await run("apply", "--auto-approve");
        rmSync(join(folder, "targets"), { recursive: true });
        writeLifelikeProject(folder, 10, 1000, { shown: true, changed });
        const plan = await run("plan");
        const apply = await run("apply", "--auto-approve");
        more.push(apply.ms - plan.ms);
        cpu.push((apply.cpu - plan.cpu) / 1000);
      } finally {
        server.stop();
      }
    }
    const ideal = (1000 / concurrency) * 20;
    const own = median(more);
    return [
      ratio("less a plan, against the ideal", { own, floor: ideal, ratio: own / ideal }, goal),
      limit("CPU for each call", median(cpu), 1.5, "ms"),
    ];
  });
}

/**
 * A plan of 5,000 updates, more than a plan of none.
 * @param content whether prompts and selectors change; otherwise description, status and tags do
 */
export function pagesRow(content, rounds) {
  return inFolder(async (folder) => {
    const [none, many] = [join(folder, "none"), join(folder, "many")];
    writeLifelikeProject(none, 5, 1000, { shown: true });
    writeLifelikeProject(many, 5, 1000, { shown: true, changed: () => true, content });
    const server = await serve(5, 1000, 0, "lifelike");
    const options = { env: { ...KEY, BENCH_URL: server.url }, usage: true };
    const figures = [];
    try {
      for (const format of ["html", "json", "markdown"]) {
        const run = (project) =>
          once([tasc, "plan", "--chdir", project, "--format", format], options);
        const more = { ms: [], cpu: [] };
        for (let round = 0; round < rounds; round++) {
          const [all, least] = [await run(many), await run(none)];
          more.ms.push(all.ms - least.ms);
          more.cpu.push(all.cpu - least.cpu);
        }
        figures.push({
          ...limit(`${format}, more than of no changes`, median(more.ms) / 1000, 0.6, "s"),
          detail: `CPU ${(median(more.cpu) / 1000).toFixed(2)} s`,
        });
      }
      return figures;
    } finally {
      server.stop();
    }
  });
}
