import { createHash, randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import type { Clock, ProcessTraits, StateRuntime } from "../../../src/state/backend.ts";
import { readProcesses } from "../../../src/state/lock.ts";

/** The real runtime, with its state in a folder of the test. */
export async function realWorld(
  projectFolder: string,
  over: Partial<StateRuntime> = {},
): Promise<StateRuntime> {
  return {
    projectFolder,
    clock: realClock,
    newId: randomUUID,
    seal: (text) => createHash("sha256").update(text).digest("hex"),
    processes: await readProcesses(hostname(), process.pid),
    user: "tester",
    workingFolder: projectFolder,
    environment: {},
    ...over,
  };
}

const realClock: Clock = {
  now: () => new Date(),
  sleep: async (milliseconds, signal) => {
    await pause(milliseconds, undefined, signal && { signal }).catch(() => {});
  },
};

/** A clock that moves only during a sleep; `onSleep` runs in the middle of each sleep. */
export function steppedClock(
  onSleep: (milliseconds: number) => void | Promise<void> = () => {},
): Clock & {
  readonly slept: number[];
} {
  let time = Date.parse("2026-01-02T03:04:05.000Z");
  const slept: number[] = [];
  return {
    slept,
    now: () => new Date(time),
    sleep: async (milliseconds) => {
      slept.push(milliseconds);
      time += milliseconds;
      await onSleep(milliseconds);
    },
  };
}

/** A process that has certainly ended: pid 1 of the machine, with an impossible start time. */
export function goneProcess(self: ProcessTraits): ProcessTraits {
  return { ...self, pid: 1, started: "before-the-machine-started" };
}
