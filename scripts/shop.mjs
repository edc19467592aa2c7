// The example project on a local service of its own, for the demo and the pictures of the README.
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const tasc = join(import.meta.dirname, "..", "dist", "tasc.cjs");

/** Starts the service and copies the project; `close` ends and removes both. */
export async function openShop() {
  const folder = mkdtempSync(join(tmpdir(), "tasc-demo-"));
  const project = join(folder, "shop");
  cpSync(join(import.meta.dirname, "..", "examples", "shop"), project, { recursive: true });
  const data = ["--data", join(folder, "service"), "--discovery-time", "200ms"];
  const service = spawn(
    process.execPath,
    [tasc, "serve", "--port", "0", "--api-key", "local-key", ...data],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const close = () => {
    service.kill();
    rmSync(folder, { recursive: true, force: true });
  };
  const url = await addressOf(service).catch((error) => {
    close();
    throw error;
  });
  const edit = (file, from, to) => {
    const path = join(project, file);
    const text = readFileSync(path, "utf8");
    if (!text.includes(from)) throw new Error(`${file} does not hold ${JSON.stringify(from)}`);
    writeFileSync(path, text.replace(from, to));
  };
  /** Rewrites the prompt of a test case, and switches another one off. */
  const rewriteOneAndSwitchOneOff = () => {
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
  };
  /** Runs a command and returns its output. @throws if it does not end with 0 */
  const run = (...args) => {
    const child = spawn(
      process.execPath,
      [tasc, ...args, "--chdir", project, "--dotenv", ".env.example", "--log-level", "warn"],
      { stdio: ["inherit", "pipe", "inherit"], env: { ...process.env, TASC_BASE_URL: url } },
    );
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (part) => (text += part));
    return new Promise((resolve, reject) => {
      child.once("close", (code) =>
        code === 0 ? resolve(text) : reject(new Error(`tasc ${args[0]} ended with ${code}`)),
      );
    });
  };
  return { edit, rewriteOneAndSwitchOneOff, run, close };
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
