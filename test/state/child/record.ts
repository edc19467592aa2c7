import { readFileSync, writeSync } from "node:fs";
import type { StateSettings } from "../../../src/model/settings.ts";
import { type BackendConfig, readConfig } from "../../../src/state/config.ts";
import { isRecord, isText } from "../../../src/model/shape.ts";
import { type LockedState, openBackend } from "../../../src/state/locked.ts";
import { openSession } from "../support/session.ts";
import { SHOP, numbered } from "../support/numbered.ts";
import { realWorld } from "../support/world.ts";

/*
 * Records numbered events forever, several at a time, and prints the number of each event that is safe. It regularly
 * closes its session and opens another, so that a kill can happen at any step.
 *
 * Arguments: project folder, path of a JSON file with the `state` settings.
 */

const AT_ONCE = 4;
const EVENTS_OF_A_SESSION = 16;

const [folder = "", config = ""] = process.argv.slice(2);
const world = await realWorld(folder);
const backend = await openBackend(readConfiguration(config), world);
for (;;) await runSession();

async function runSession(): Promise<void> {
  const session = await openSession(backend, SHOP, world, { why: "tasc apply", timeout: 0 });
  const first = session.state.bindings.size;
  for (let n = first; n < first + EVENTS_OF_A_SESSION; n += AT_ONCE) {
    const numbers = Array.from({ length: AT_ONCE }, (_, at) => n + at);
    await Promise.all(numbers.map((number) => save(session, number).then(() => say(number))));
  }
  await session.close();
}

/** Half of the events are flushed to disk; all of them survive a kill. */
async function save(session: LockedState, number: number): Promise<void> {
  await session.record([numbered(number)], number % 2 === 0);
}

function say(number: number): void {
  writeSync(1, `${number}\n`);
}

function readConfiguration(path: string): BackendConfig {
  const settings: unknown = JSON.parse(readFileSync(path, "utf8"));
  if (!isSettings(settings)) throw new Error(`no configuration in ${path}`);
  return readConfig(settings);
}

function isSettings(value: unknown): value is StateSettings {
  return isRecord(value) && isText(value["backend"]) && isRecord(value["options"]);
}
