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
/** So many at once that the whole document is written; not for ever, as it grows with each kill. */
const MANY = 500;
const MANY_UP_TO = 4000;

const [folder = "", config = ""] = process.argv.slice(2);
const world = await realWorld(folder);
const backend = await openBackend(readConfiguration(config), world);
for (;;) await runSession();

async function runSession(): Promise<void> {
  const session = await openSession(backend, SHOP, world, { why: "tasc apply", timeout: 0 });
  const first = session.state.bindings.size;
  let next = first;
  for (let events = 0; events < EVENTS_OF_A_SESSION; events += AT_ONCE) {
    const numbers = Array.from({ length: AT_ONCE }, () => next++);
    await Promise.all(numbers.map((number) => save(session, number).then(() => say(number))));
    if (events > 0 || first >= MANY_UP_TO) continue;
    await session.record(Array.from({ length: MANY }, () => numbered(next++)));
    say(next - 1);
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
