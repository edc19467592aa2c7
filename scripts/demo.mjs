// The main workflow on the example project: a local service, a plan, an apply, an empty plan, and
// one change.
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const tasc = join(import.meta.dirname, "..", "dist", "tasc.cjs");
const folder = mkdtempSync(join(tmpdir(), "tasc-demo-"));
const project = join(folder, "shop");
cpSync(join(import.meta.dirname, "..", "examples", "shop"), project, { recursive: true });

const service = spawn(
  process.execPath,
  [
    tasc,
    "serve",
    "--port",
    "0",
    "--data",
    join(folder, "service"),
    "--discovery-time",
    "200ms",
    "--api-key",
    "local-key",
  ],
  { stdio: ["ignore", "pipe", "inherit"] },
);

try {
  const url = await addressOf(service);
  say("a local service without test cases, and a project with two targets");
  await run(url, 1, "plan");
  await run(url, 1, "apply", "--auto-approve", "--wait");
  await run(url, 0, "plan");
  say("a prompt is rewritten and one test case is switched off");
  edit(
    "targets/shop-checkout.yaml",
    "Redeem the voucher $voucher and check",
    "Redeem the voucher $voucher twice and check",
  );
  edit(
    "targets/backoffice.yaml",
    "description: Change a price\n",
    "description: Change a price\n    runStatus: OFF\n",
  );
  await run(url, 0, "plan");
  await run(url, 1, "apply", "--auto-approve", "--wait");
  await run(url, 0, "plan");
} finally {
  service.kill();
  rmSync(folder, { recursive: true, force: true });
}

function say(text) {
  console.log(`\n# ${text}`);
}

function edit(file, from, to) {
  const path = join(project, file);
  const text = readFileSync(path, "utf8");
  if (!text.includes(from)) throw new Error(`${file} does not hold ${JSON.stringify(from)}`);
  writeFileSync(path, text.replace(from, to));
}

/** The address is in the first line that the service prints. */
function addressOf(child) {
  return new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`the local service ended with ${code}`)));
    createInterface({ input: child.stdout }).once("line", (line) =>
      resolve(line.split(" ").at(-1)),
    );
  });
}

/**
 * Runs a command, and prints its output, or only the last lines of it that have text.
 * @param last how many; 0 is all
 */
function run(url, last, ...args) {
  console.log(`\n$ tasc ${args.join(" ")}${last === 0 ? "" : ` | tail -n ${last}`}`);
  const child = spawn(
    process.execPath,
    [tasc, ...args, "--chdir", project, "--dotenv", ".env.example", "--log-level", "warn"],
    { stdio: ["inherit", "pipe", "inherit"], env: { ...process.env, TASC_BASE_URL: url } },
  );
  const lines = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  return new Promise((resolve, reject) => {
    child.once("close", (code) => {
      const shown = last === 0 ? lines : lines.filter((line) => line !== "").slice(-last);
      console.log(shown.join("\n"));
      if (code === 0) resolve();
      else reject(new Error(`tasc ${args[0]} ended with ${code}`));
    });
  });
}
