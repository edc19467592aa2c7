// Runs scripts one after the other, each as if it had this thread for itself.
import process from "node:process";
import { pathToFileURL } from "node:url";
import { parentPort } from "node:worker_threads";

/** @typedef {{ file: string, args: string[], env: Record<string, string> }} Script */

let [stdout, stderr] = ["", ""];
let runs = 0;
process.stdout.write = (/** @type {unknown} */ text) => ((stdout += String(text)), true);
process.stderr.write = (/** @type {unknown} */ text) => ((stderr += String(text)), true);

process.once("exit", (code) => say(code, true));
parentPort?.on("message", (/** @type {Script} */ script) => void run(script));

/** @param {Script} script */
async function run({ file, args, env }) {
  [stdout, stderr] = ["", ""];
  process.exitCode = 0;
  process.env = env;
  process.argv = [process.execPath, file, ...args];
  runs += 1;
  try {
    // The query gives each run a module of its own; what it imports is kept.
    await import(`${pathToFileURL(file).href}?run=${runs}`);
    say(process.exitCode);
  } catch (error) {
    say(1, false, String(error));
  }
}

/** Says how a script has ended. `ends` if it also ends this thread. */
function say(code = 0, ends = false, failure = "") {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- No window.
  parentPort?.postMessage({ code, log: stdout + stderr + failure, ends });
}
