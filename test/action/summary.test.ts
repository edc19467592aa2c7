import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

test("a summary keeps to the mebibyte that GitHub shows, and says what it leaves out", () => {
  const folder = mkdtempSync(join(tmpdir(), "tasc-summary-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const env = { GITHUB_STEP_SUMMARY: join(folder, "summary") };
  const plan = "ü".repeat(32_000);
  const add = `import { addSummary } from "./scripts/action/runner.mjs";
for (let stage = 0; stage < 20; stage++) addSummary(process.env, "ü".repeat(32_000));`;
  execFileSync(process.execPath, ["--input-type=module", "--eval", add], { env });
  const text = readFileSync(env.GITHUB_STEP_SUMMARY, "utf8");
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1024 * 1024);
  expect(Buffer.byteLength(text)).toBeGreaterThan(900_000);
  expect(text.match(/The summary has no more room/g)).toHaveLength(1);
  expect(text.split(plan)).toHaveLength(17);
});
