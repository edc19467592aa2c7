// Runs the tests and ends with one plain line of counts, which .ci/run repeats.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { reportMissingPrograms } from "./test-programs.mjs";

const root = join(import.meta.dirname, "..");
const report = join(root, ".cache", "tests.json");
const counts = join(root, ".cache", process.env.TASC_COUNTS ?? "counts.json");
mkdirSync(join(root, ".cache"), { recursive: true });
rmSync(report, { force: true });
reportMissingPrograms();

const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
const { status } = spawnSync(
  process.execPath,
  [
    vitest,
    "run",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: "inherit" },
);

const {
  numPassedTests: passed,
  numFailedTests: failed,
  numPendingTests: skipped,
  testResults,
} = JSON.parse(readFileSync(report, "utf8"));
const failures = failedTests(testResults);
writeFileSync(counts, JSON.stringify({ passed, failed, skipped, failures }));
for (const line of [...skippedTests(testResults), ...failures]) console.log(line);
console.log(
  `Tests: ${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`,
);
process.exitCode = status ?? 1;

/** Returns a line for each test that was skipped: what it needs, and its name. */
function skippedTests(files) {
  return files.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status !== "passed" && status !== "failed")
      .map(({ fullName, meta }) => {
        const why = meta?.needs === undefined ? "not run" : `needs ${meta.needs}`;
        return `Skipped, ${why}: ${relative(root, name)}: ${fullName}`;
      }),
  );
}

/** Returns what failed and the first lines of why, so that the end of a long log tells. */
function failedTests(files) {
  return files.flatMap(({ name, assertionResults, status, message }) => {
    const tests = assertionResults.filter((test) => test.status === "failed");
    const file = relative(root, name);
    if (tests.length === 0 && status === "failed") return `Failed: ${file}: ${message}`;
    return tests.map(({ fullName, failureMessages: [why = ""] }) =>
      [`Failed: ${file}: ${fullName}`, ...why.split("\n").slice(0, 12)].join("\n  "),
    );
  });
}
