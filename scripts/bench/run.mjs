// Starts whole processes and measures them.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const here = import.meta.dirname;
export const root = join(here, "..", "..");
export const tasc = join(root, "dist", "tasc.cjs");
const usageHook = join(here, "usage.cjs");

/** One run: milliseconds of wall clock, and of CPU and peak MiB if asked for, since the hook itself takes a little. */
export async function once(args, { env = {}, usage = false, accept = [0], cwd } = {}) {
  const folder = usage ? mkdtempSync(join(tmpdir(), "tasc-bench-")) : undefined;
  const file = folder && join(folder, "usage");
  const hook = usage ? ["--require", usageHook] : [];
  const start = performance.now();
  const child = spawn(process.execPath, [...hook, ...args], {
    stdio: ["ignore", "ignore", "pipe"],
    cwd,
    env: { ...process.env, ...env, ...(file && { BENCH_USAGE: file }) },
  });
  let errors = "";
  child.stderr.on("data", (text) => (errors += text));
  const code = await new Promise((resolve) => child.once("close", resolve));
  const ms = performance.now() - start;
  if (!accept.includes(code)) throw new Error(`${args.join(" ")} ended with ${code}\n${errors}`);
  if (file === undefined) return { ms };
  const { maxRSS, cpu } = JSON.parse(readFileSync(file, "utf8"));
  rmSync(folder, { recursive: true });
  return { ms, cpu, mib: maxRSS / 1024 };
}

/** A server with ready-made answers. @param port which to take if it is free */
export async function serve(targets, cases, latency, shape = "plain", port = 0) {
  const child = spawn(
    process.execPath,
    ["--max-old-space-size=8192", join(here, "server.mjs"), targets, cases, latency, shape, port].map(String),
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const url = await new Promise((resolve, reject) => {
    child.once("exit", () => reject(new Error("the server ended")));
    createInterface({ input: child.stdout }).once("line", resolve);
  });
  return { url, stop: () => child.kill() };
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** Runs both in turn, so that a machine whose speed drifts drifts for both; medians of time, peak of memory. */
export async function pair(own, floor, rounds) {
  const times = { own: [], floor: [] };
  await own();
  await floor();
  for (let round = 0; round < rounds; round++) {
    times.own.push(await own());
    times.floor.push(await floor());
  }
  const [a, b] = [median(times.own), median(times.floor)];
  return { own: a, floor: b, ratio: a / b };
}
