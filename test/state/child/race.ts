import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { takeLock } from "../../../src/state/lock.ts";
import { createLockInfo } from "../../../src/state/lock.ts";
import { realWorld } from "../support/world.ts";

/*
 * For each input line, the path of a lock, tries once to take the lock and prints the result. It never frees a lock.
 *
 * Arguments: project folder.
 */

const [folder = ""] = process.argv.slice(2);
const world = await realWorld(folder);
writeSync(1, "ready\n");
for await (const path of createInterface({ input: process.stdin })) {
  const taking = await takeLock(path, createLockInfo(world, "race"), world.processes);
  writeSync(1, `${taking.taken ? "taken" : "held"}\n`);
}
