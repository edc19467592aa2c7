import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { link, readFile, readlink, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { defined } from "../model/json.ts";
import { refuseLinks } from "../files/output.ts";
import {
  type LockInfo,
  type ProcessTraits,
  type Processes,
  type StateRuntime,
  lockInfoIn,
} from "./backend.ts";
import { FILE_MODE, absent, readIfThere, removeFile } from "./files.ts";
import { codeOf } from "../model/error.ts";

/** Returns the lock info of this process. @param why the command */
export function createLockInfo(world: StateRuntime, why: string): LockInfo {
  const { self } = world.processes;
  return defined({
    id: world.newId(),
    who: `${world.user}@${self.host}`,
    since: world.clock.now().toISOString(),
    why,
    folder: world.workingFolder,
    job: jobLink(world.environment),
    process: self,
  });
}

/**
 * Templates of links to the running CI job, with the variables that they need, in the order in
 * which they are tried.
 */
const LINKS = [
  "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/actions/runs/{GITHUB_RUN_ID}/attempts/{GITHUB_RUN_ATTEMPT}",
  "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/actions/runs/{GITHUB_RUN_ID}",
  "{SYSTEM_COLLECTIONURI}{SYSTEM_TEAMPROJECT}/_build/results?buildId={BUILD_BUILDID}", // Azure
  "{CI_JOB_URL}", // GitLab
  "{CIRCLE_BUILD_URL}",
  "{BUILDKITE_BUILD_URL}",
  "{TRAVIS_JOB_WEB_URL}",
  "{DRONE_BUILD_LINK}",
  "{CI_PIPELINE_URL}", // Woodpecker
  "{BUILD_URL}", // Jenkins; last, because it is general
];

export function jobLink(environment: StateRuntime["environment"]): string | undefined {
  for (const link of LINKS) {
    const names = [...link.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
    const value = (name: string) => environment[name] ?? "";
    if (!names.every(value)) continue;
    return link.replace(/\{(\w+)\}/g, (_, name: string) =>
      name === "SYSTEM_TEAMPROJECT" ? encodeURIComponent(value(name)) : value(name),
    );
  }
  return undefined;
}

/*
 * Finds out whether the process that left a lock is gone. A pid alone is not enough: pids are reused, containers have their
 * own, and a shared folder has locks of other machines. On Linux, /proc provides the rest.
 */

const UNKNOWN_START = "unknown";

/** Whether the process is certainly gone, as seen from this machine. False if in doubt. */
export async function isGone(
  process: ProcessTraits,
  { self, startOf }: Processes,
): Promise<boolean> {
  // Another boot id may mean a restart of this machine, but also a copy of it that is running:
  // images share id and name.
  const traits = ["host", "machine", "boot", "namespace"] as const;
  if (traits.some((trait) => differ(process[trait], self[trait]))) return false;
  const start = await startOf(process.pid);
  return start === undefined || (start !== UNKNOWN_START && differ(process.started, start));
}

function differ(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && b !== undefined && a !== b;
}

export async function readProcesses(host: string, pid: number): Promise<Processes> {
  const machineId = await textOf("/etc/machine-id");
  const started = await startOf(pid);
  const self = defined({
    host,
    pid,
    machine: machineId && createHash("sha256").update(machineId).digest("base64url").slice(0, 16),
    boot: await textOf("/proc/sys/kernel/random/boot_id"),
    namespace: await readlink("/proc/self/ns/pid").catch(() => undefined),
    started: started === UNKNOWN_START ? undefined : started,
  });
  return { self, startOf };
}

async function startOf(pid: number): Promise<string | undefined> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM means that it exists, but belongs to another user.
    if (codeOf(error) === "ESRCH") return undefined;
  }
  const stat = await textOf(`/proc/${pid}/stat`);
  if (stat === undefined) return UNKNOWN_START;
  // The text is "pid (name) state …". The name may contain anything, so fields are counted from the
  // last bracket.
  const [state, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return state === "Z" || state === "X" ? undefined : (rest[START_TIME] ?? UNKNOWN_START);
}

/** Position of `starttime` in /proc/PID/stat, after the state: proc(5), field 22. */
const START_TIME = 18;

async function textOf(path: string): Promise<string | undefined> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.trim() || undefined;
}

/*
 * A lock is a file that is created only if it does not exist. The hard part is a lock that a killed process left: if two
 * processes check its owner, remove it and create a new one at once, the slower one removes the new lock of the faster one.
 *
 * So a takeover needs a lock of its own (the guard), whose name has the id of the old lock. The owner of the guard checks
 * again that the old lock is still there; ids are never reused. The guard is taken in the same way, so if its owner is
 * killed, it can be taken over in turn.
 */

/**
 * Takes the lock if it is free or its owner is gone. @returns whether it was taken, and `other`:
 * the former or current holder, absent if the file is not one of ours @throws errors of the file
 * system
 */
export async function takeLock(path: string, info: LockInfo, processes: Processes) {
  for (;;) {
    // A link to a missing file could neither be created nor read, so this loop would never end.
    refuseLinks(path, dirname(path));
    if (await create(path, info)) return { taken: true, other: undefined };
    const bytes = await readIfThere(path);
    if (bytes === undefined) continue; // freed between the two steps
    const holder = lockInfoIn(bytes.toString());
    if (holder?.process === undefined || !(await isGone(holder.process, processes)))
      return { taken: false, other: holder };
    const replace = async () => await rename(await writeAside(path, info), path);
    const outcome = await changeHolder(path, holder, info, processes, replace);
    if (outcome === "done") return { taken: true, other: holder };
    if (outcome === "busy") return { taken: false, other: holder };
  }
}

/** Reads a lock; `undefined` if it is free, or if the file is not one of ours. */
export function readLock(path: string): LockInfo | undefined {
  try {
    return lockInfoIn(readFileSync(path, "utf8"));
  } catch (error) {
    return absent(error);
  }
}

/**
 * Removes exactly this lock, but not another one that has replaced it. A live process has the guard
 * for milliseconds only, so a busy one is tried again for half a second.
 * @param info of the process that removes it
 * @returns the guard's file, if it is still there and so the lock is
 */
export async function removeLock(
  path: string,
  holder: LockInfo,
  info: LockInfo,
  processes: Processes,
): Promise<string | undefined> {
  for (let left = GUARD_TRIES; left > 0; left -= 1) {
    const remove = () => removeFile(path);
    if ((await changeHolder(path, holder, info, processes, remove)) !== "busy") return undefined;
    await delay(GUARD_PAUSE);
  }
  return guardOf(path, holder);
}

/**
 * Removes a lock that the user has declared to be left, and a guard that a takeover of it left. If
 * the owner of that guard still lives and goes on, it takes the lock, or finds it gone.
 */
export async function forceLock(
  path: string,
  holder: LockInfo,
  info: LockInfo,
  processes: Processes,
): Promise<void> {
  const guard = await removeLock(path, holder, info, processes);
  if (guard === undefined) return;
  const owner = readLock(guard);
  if (owner === undefined) await removeFile(guard);
  else await forceLock(guard, owner, info, processes);
  await forceLock(path, holder, info, processes);
}

/** How often a busy guard is tried, and the milliseconds between two tries. */
const [GUARD_TRIES, GUARD_PAUSE] = [5, 100];

/** The file of the guard of a lock. */
function guardOf(path: string, holder: LockInfo): string {
  return `${path}.${encodeURIComponent(holder.id)}`;
}

/**
 * Changes a lock if this holder still has it, while all other processes are kept from changing it.
 */
async function changeHolder(
  path: string,
  holder: LockInfo,
  info: LockInfo,
  processes: Processes,
  change: () => Promise<void>,
): Promise<"done" | "busy" | "gone"> {
  const guard = guardOf(path, holder);
  const guarding = await takeLock(guard, info, processes);
  if (!guarding.taken) return "busy";
  try {
    if (readLock(path)?.id !== holder.id) return "gone";
    await change();
    return "done";
  } finally {
    await removeFile(guard);
  }
}

/** Creates the file, with its text from the first moment. @returns whether the lock was free */
async function create(path: string, info: LockInfo): Promise<boolean> {
  const temporary = await writeAside(path, info);
  try {
    // Without links, a crash between creating and filling the file leaves a lock that must be
    // released manually.
    await link(temporary, path).catch(async (error: unknown) => {
      if (!NO_LINKS.includes(codeOf(error))) throw error;
      await createFile(path, info);
    });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    await removeFile(temporary);
  }
}

const NO_LINKS: readonly unknown[] = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"];

async function writeAside(path: string, info: LockInfo): Promise<string> {
  const temporary = `${path}.${encodeURIComponent(info.id)}.tmp`;
  await createFile(temporary, info);
  return temporary;
}

/**
 * Writes a new lock file. It is not flushed: if a power cut loses a lock, its holder is gone, too.
 */
async function createFile(path: string, info: LockInfo): Promise<void> {
  await writeFile(path, `${JSON.stringify(info, undefined, 2)}\n`, { flag: "wx", mode: FILE_MODE });
}
