// Shared by the rows: an environment, temporary folders, and the format of figures.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "./run.mjs";

export const KEY = { BENCH_KEY: "key-of-the-bench" };
export const ms = async (args, options) => (await once(args, options)).ms;

export async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), "tasc-bench-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function ratio(what, { own, floor: least, ratio: value }, goal) {
  return {
    what,
    value,
    goal,
    unit: "×",
    detail: `${Math.round(own)} ms / ${Math.round(least)} ms`,
  };
}

export function limit(what, value, goal, unit) {
  return { what, value, goal, unit, detail: "" };
}
