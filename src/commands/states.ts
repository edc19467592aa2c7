import { randomUUID } from "node:crypto";
import { hostname, userInfo } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { EXIT, type ExitCode } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import type { Settings } from "../model/settings.ts";
import type { State } from "../model/state.ts";
import type { Backend, StateWorld } from "../state/backend.ts";
import { openBackend, readConfig } from "../state/config.ts";
import { readProcesses } from "../state/lock.ts";
import { type StateProblem, explainProblem, explainTakeover } from "../state/problem.ts";
import { type Session, openSession } from "../state/session.ts";
import type { Console } from "./console.ts";
import { sayDiagnostics } from "./diagnostics.ts";
import type { Opened } from "./opening.ts";

/** The state of a project's stage, through the backend that its settings name. */
export interface States {
  readonly backend: Backend;
  readonly world: StateWorld;
  readonly settings: Settings;
}

export type OrCode<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly code: ExitCode };

export async function openStates(
  { root, env, project, console }: Opened,
  world: World,
): Promise<OrCode<States>> {
  const config = readConfig(project.settings.state);
  if (!config.ok) return { ok: false, code: sayStateProblem(console, config.problem) };
  const stateWorld: StateWorld = {
    projectFolder: root,
    clock: {
      now: () => new Date(world.now()),
      sleep: (ms, signal) =>
        delay(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined),
    },
    newId: randomUUID,
    processes: await readProcesses(hostname(), process.pid),
    user: userName(),
    workingFolder: world.cwd,
    environment: env,
  };
  const backend = await openBackend(config.value, stateWorld);
  return { ok: true, value: { backend, world: stateWorld, settings: project.settings } };
}

/** A user without an entry in the system's list, as in some containers, has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "unknown";
  }
}

/** The states of targets as they are, without a lock. Targets without state have none. */
export async function readStates(
  { backend, settings }: States,
  targets: readonly string[],
  console: Console,
): Promise<OrCode<ReadonlyMap<string, State>>> {
  const states = new Map<string, State>();
  for (const target of targets) {
    const stored = await backend.read({ stage: settings.stage, target, service: settings.baseUrl });
    if (!stored.ok) return { ok: false, code: sayStateProblem(console, stored.problem) };
    if (stored.value !== undefined) states.set(target, stored.value.state);
  }
  return { ok: true, value: states };
}

/** The states of the stage's targets that no manifest declares. */
export async function readStrays(
  states: States,
  declared: readonly string[],
  console: Console,
): Promise<OrCode<readonly State[]>> {
  const listed = await states.backend.list(states.settings.stage);
  if (!listed.ok) return { ok: false, code: sayStateProblem(console, listed.problem) };
  const strays = await readStates(
    states,
    listed.value.filter((key) => !declared.includes(key)),
    console,
  );
  return strays.ok ? { ok: true, value: [...strays.value.values()] } : strays;
}

/** Locks and opens the states of targets, in order; if one cannot be had, none is kept. */
export async function openSessions(
  { backend, world, settings }: States,
  targets: readonly string[],
  console: Console,
  options: { readonly timeout: number; readonly signal?: AbortSignal; readonly why: string },
): Promise<OrCode<ReadonlyMap<string, Session>>> {
  const sessions = new Map<string, Session>();
  for (const target of targets) {
    const key = { stage: settings.stage, target, service: settings.baseUrl };
    const session = await openSession(backend, key, world, options);
    if (!session.ok) {
      await closeSessions(sessions);
      return { ok: false, code: sayStateProblem(console, session.problem) };
    }
    sessions.set(target, session.value);
    const { takenOver } = session.value;
    if (takenOver !== undefined) {
      sayDiagnostics(console, [explainTakeover(key, takenOver)]);
    }
  }
  return { ok: true, value: sessions };
}

/** Closes all, also after one could not be saved; the first failure is thrown. */
export async function closeSessions(sessions: ReadonlyMap<string, Session>): Promise<void> {
  const closed = await Promise.allSettled([...sessions.values()].map((session) => session.close()));
  for (const result of closed) if (result.status === "rejected") throw result.reason;
}

export function sayStateProblem(console: Console, problem: StateProblem): ExitCode {
  sayDiagnostics(console, [explainProblem(problem)]);
  if (problem.kind === "misconfigured") return EXIT.invalid;
  return problem.kind === "locked" ? EXIT.locked : EXIT.failed;
}
