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

/**
 * One run: milliseconds of wall clock, and CPU and peak MiB on request, because the hook itself
 * takes some time.
 */
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

/** A server with prepared answers. @param port preferred port */
export async function serve(targets, cases, latency, shape = "plain", port = 0) {
  const child = spawn(
    process.execPath,
    [
      "--max-old-space-size=8192",
      join(here, "server.mjs"),
      targets,
      cases,
      latency,
      shape,
      port,
    ].map(String),
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

/**
 * Alternates both, so that a change in the speed of the machine affects both. Returns medians of
 * time.
 */
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
