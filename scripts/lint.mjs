// Finds mistakes (oxlint) and checks the form (prettier). oxlint comes from the registry when it is needed: with its
// packages for other platforms in the lock file, `npm ci` of npm 11 refuses that as incomplete.
import { spawnSync } from "node:child_process";

const OXLINT = ["--package=oxlint@1.94.0", "--package=oxlint-tsgolint@7.0.2007"];

const lint = spawnSync(
  "npm",
  ["exec", "--yes", ...OXLINT, "--", "oxlint", "--type-aware", "--deny-warnings"],
  {
    stdio: "inherit",
  },
);
const form = spawnSync("npm", ["exec", "--no", "--", "prettier", "--check", "."], { stdio: "inherit" });
process.exitCode = lint.status === 0 && form.status === 0 ? 0 : 1;
