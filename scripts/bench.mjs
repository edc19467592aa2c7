// Measures tasc against floors in the same run, because absolute times mean nothing on another machine.
//   npm run bench                 every row
//   npm run bench -- --only plan  the rows whose name contains a word
//   npm run bench -- --grow       how time and memory grow with the number of test cases
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { drawGrowth, exponent } from "./bench/growth.mjs";
import { ROWS, lifelike } from "./bench/rows.mjs";
import { root } from "./bench/run.mjs";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    rounds: { type: "string", default: "5" },
    grow: { type: "boolean" },
  },
});
/**
 * The factor by which a goal may be missed before the run counts as failed, because machines
 * differ.
 */
const TOLERANCE = 1.15;

const cache = join(root, ".cache");
mkdirSync(cache, { recursive: true });
console.log(
  `${cpus().length} × ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}\n`,
);
if (values.grow) await grow();
else await compare();

async function compare() {
  const results = [];
  for (const row of ROWS) {
    if (values.only !== undefined && !row.name.includes(values.only)) continue;
    for (const figure of await row.run(Number(values.rounds))) {
      results.push({ row: row.name, ...figure, missed: figure.value > figure.goal * TOLERANCE });
      print(results.at(-1));
    }
  }
  writeFileSync(join(cache, "bench.json"), `${JSON.stringify(results, undefined, 2)}\n`);
  process.exitCode = results.some(({ missed }) => missed) ? 1 : 0;
}

function print({ row, what, value, goal, unit, detail, missed }) {
  const verdict = missed ? "MISSED" : value > goal ? "near" : "ok";
  const figure = `${value.toFixed(2)} ${unit}`.trim();
  console.log(
    `${row.padEnd(50)} ${what.padEnd(36)} ${figure.padStart(12)}  goal ${goal}  ${verdict}  ${detail}`,
  );
}

async function grow() {
  const steps = [];
  for (const cases of [1000, 3000, 10_000, 30_000, 100_000]) {
    // The better of two runs, because other work on the machine can only add time.
    const runs = await lifelike(100, cases / 100, async (plan) => [await plan(), await plan()]);
    const ms = Math.min(...runs.map((run) => run.ms));
    const mib = Math.max(...runs.map((run) => run.mib));
    steps.push({ cases, ms, mib });
    console.log(
      `${String(cases).padStart(7)} cases  ${(ms / 1000).toFixed(2)} s  ${Math.round(mib)} MiB`,
    );
  }
  console.log(
    `time grows with the power ${exponent(steps).toFixed(3)} of the number of cases (goal: 1.05)`,
  );
  writeFileSync(join(root, "docs", "growth.svg"), drawGrowth(steps));
}
