import type { World } from "../cli/world.ts";
import { type Check, check, skipped } from "../inspect/doctor.ts";
import { count, list } from "../render/words.ts";
import { createLockInfo } from "../state/lock.ts";
import { type StateProblem, describeHolder, explainProblem } from "../state/problem.ts";
import { fingerprinterOf } from "./look.ts";
import type { Opened } from "./opening.ts";
import { quietConsole } from "./quiet.ts";
import { type States, openStates } from "./states.ts";

/** The checks `state` and `lock`. */
export async function checkState(opened: Opened, world: World): Promise<readonly Check[]> {
  const quiet = quietConsole(opened.console);
  const states = await openStates({ ...opened, console: quiet }, world);
  if (!states.ok) {
    const [said] = quiet.said;
    return [
      check("state", "fail", said?.summary ?? "it cannot be opened", said?.detail),
      skipped("lock", "state"),
    ];
  }
  try {
    const locks = await tryLocks(opened, states.value);
    const state = await readAll(opened, states.value, locks.unwritable);
    return [
      state,
      state.status === "fail" && locks.check.status === "ok" ? skipped("lock", "state") : locks.check,
    ];
  } finally {
    await states.value.backend.close();
  }
}

/** Reads every document of the stage: that it can be read, and that it is of this service. */
async function readAll(
  opened: Opened,
  { backend, settings }: States,
  unwritable: StateProblem | undefined,
): Promise<Check> {
  const { stage, baseUrl: service } = settings;
  const listed = await backend.list(stage);
  if (!listed.ok) return problem(listed.problem);
  const targets = [...new Set([...keysOf(opened), ...listed.value])];
  const keyCheck = fingerprinterOf(settings)?.keyCheck;
  const [stored, otherKey, journalled]: [string[], string[], string[]] = [[], [], []];
  for (const target of targets) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other, as every command reads them
    const read = await backend.read({ stage, target, service });
    if (!read.ok) return problem(read.problem);
    if (read.value === undefined) continue;
    stored.push(target);
    const { state } = read.value;
    if (read.value.journalled) journalled.push(target);
    if (keyCheck !== undefined && state.keyCheck !== undefined && state.keyCheck !== keyCheck)
      otherKey.push(target);
  }
  if (unwritable !== undefined) return problem(unwritable);
  // That a server hands out locks does not say that it takes documents.
  const writable = settings.state.backend === "http" ? "" : " writable,";
  const summary = `${settings.state.backend}: readable,${writable} of this service; state of ${stored.length} of ${count(targets.length, "target")}`;
  const words = [
    ...(otherKey.length === 0
      ? []
      : [
          `The state of ${list(otherKey)} was written with another key: the next apply sends write-only fields once more.`,
        ]),
    ...(journalled.length === 0
      ? []
      : [`A run on ${list(journalled)} was interrupted: the next apply finds out what became of it.`]),
  ];
  return check("state", words.length === 0 ? "ok" : "warn", summary, words.join("\n"));
}

function problem(found: StateProblem): Check {
  const { summary, detail } = explainProblem(found);
  return check("state", "fail", summary, detail);
}

interface Locks {
  readonly check: Check;
  /** Why the place of the locks, which is that of the documents, cannot be written. */
  readonly unwritable: StateProblem | undefined;
}

/**
 * Takes each target's lock for a moment. No backend tells otherwise who holds one, and whoever can take a lock can
 * write where it is kept.
 */
async function tryLocks(opened: Opened, { backend, world, settings }: States): Promise<Locks> {
  const targets = keysOf(opened);
  if (settings.state.options["lock"] === false)
    return {
      check: check("lock", "skipped", "not checked, since the state's server knows no locks"),
      unwritable: undefined,
    };
  const held: string[] = [];
  const left: string[] = [];
  for (const target of targets) {
    const key = { stage: settings.stage, target, service: settings.baseUrl };
    // oxlint-disable-next-line no-await-in-loop -- never several at once
    const lock = await backend.lock(key, createLockInfo(world, "tasc doctor"));
    if (lock.ok) {
      const { takenOver } = lock.value;
      if (takenOver !== undefined)
        left.push(`${target} was left by a run that has ended. ${describeHolder(takenOver)}`);
      // oxlint-disable-next-line no-await-in-loop -- given back before the next is tried
      await lock.value.unlock();
    } else if (lock.problem.kind === "locked")
      held.push(`${explainProblem(lock.problem).summary}\n${explainProblem(lock.problem).detail}`);
    else return { check: skipped("lock", "state"), unwritable: lock.problem };
  }
  return { check: lockCheck(targets.length, held, left), unwritable: undefined };
}

function lockCheck(amount: number, held: readonly string[], left: readonly string[]): Check {
  if (amount === 0) return check("lock", "skipped", "not checked, since no target is declared");
  const detail = [...held, ...left].join("\n");
  if (held.length > 0)
    return check("lock", "warn", `${held.length} of ${count(amount, "target")} locked`, detail);
  if (left.length > 0) return check("lock", "warn", "free by now", detail);
  return check("lock", "ok", "free");
}

function keysOf({ project }: Opened): readonly string[] {
  return project.desired.targets.map(({ key }) => key);
}
