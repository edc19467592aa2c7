import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { takeLock } from "../../../src/state/lock.ts";
import { createLockInfo } from "../../../src/state/lock.ts";
import { realWorld } from "../support/world.ts";

/*
 * For each line, the path of a lock, tries once to take it and says whether it did. It never frees one.
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
