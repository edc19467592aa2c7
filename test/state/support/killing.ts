import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { StateSettings } from "../../../src/model/settings.ts";
import type { Backend } from "../../../src/state/backend.ts";
import { buildChild, startChild } from "./child.ts";
import { readOne } from "./result.ts";
import { SHOP, plain, stateAfter } from "./numbered.ts";

export interface Killing {
  /** Project folder of the processes that are killed. */
  readonly folder: string;
  /** Settings of the killed processes, with secrets in plain text. */
  readonly settings: StateSettings;
  /** Backend of the process that checks the result. */
  readonly backend: Backend;
  readonly rounds: number;
  /** Makes the lock available to the next process. */
  readonly betweenRounds?: () => Promise<void>;
}

/**
 * Starts a process that records, kills it after a number of answers, and checks that the saved
 * events are a prefix of the recorded ones, including all that were reported safe. The next process
 * continues from there.
 */
export async function killAtRandom({
  folder,
  settings,
  backend,
  rounds,
  betweenRounds,
}: Killing): Promise<void> {
  const script = await buildChild("record", folder);
  const settingsFile = join(folder, "settings.json");
  await writeFile(settingsFile, JSON.stringify(settings));
  let kept = 0;
  for (let round = 0; round < rounds; round += 1) {
    const safe = await killAfter(startChild(script, folder, settingsFile), answersOf(round));
    const state = plain((await readOne(backend, SHOP))?.state);
    const count = state?.bindings.size ?? 0;
    expect(count).toBeGreaterThanOrEqual(Math.max(kept, safe + 1));
    expect(state ?? stateAfter(0)).toEqual(stateAfter(count));
    kept = count;
    await betweenRounds?.();
  }
  expect(kept).toBeGreaterThan(rounds);
}

/**
 * Spread over a session and the beginning of the next. The machine decides where within a step the
 * kill happens.
 */
function answersOf(round: number): number {
  return 1 + ((round * 8) % 21);
}

/** Returns the highest number that the child reported as safe. */
async function killAfter(child: ReturnType<typeof startChild>, answers: number): Promise<number> {
  const heard: (string | undefined)[] = [];
  while (heard.length < answers) {
    const line = await child.hear();
    if (line === undefined) break;
    heard.push(line);
  }
  heard.push(...(await child.kill()));
  return Math.max(-1, ...heard.map(Number));
}
