// Runs the tests on the current LTS release of Node, which is fetched from the registry as a
// package.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

const LTS = "24.21.0";

const root = join(import.meta.dirname, "..");
const folder = join(root, ".cache", `node-${LTS}`);
const name = `node-${process.platform}-${process.arch}`;
const node = join(folder, "node_modules", name, "bin", "node");

if (!existsSync(node)) {
  mkdirSync(folder, { recursive: true });
  const install = [
    "install",
    "--no-save",
    "--no-package-lock",
    "--prefix",
    folder,
    `${name}@${LTS}`,
  ];
  const { status } = spawnSync("npm", install, {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0) process.exit(status ?? 1);
}

const { status } = spawnSync(node, [join(root, "scripts", "test.mjs"), ...process.argv.slice(2)], {
  stdio: "inherit",
  env: { ...process.env, TASC_COUNTS: "counts-lts.json" },
});
process.exitCode = status ?? 1;
