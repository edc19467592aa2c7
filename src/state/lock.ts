import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { link, readFile, readlink, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { defined } from "../model/json.ts";
import { refuseLinks } from "../render/output-file.ts";
import { type LockInfo, type ProcessTraits, type StateRuntime, lockInfoIn } from "./backend.ts";
import { FILE_MODE, absent, readIfThere } from "./files.ts";
import { codeOf } from "../model/error.ts";

/** This process as a holder. @param why the command */
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

/** Links to the running CI job, with the variables that they are made of, in the order in which they are tried. */
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
  "{BUILD_URL}", // Jenkins; general, hence last
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
 * Whether the process that left a lock is gone. A pid alone does not tell: pids are used again, containers count their
 * own, and a shared folder shows locks of other machines. On Linux /proc tells the rest.
 */

const UNKNOWN_START = "unknown";

/** Whether the process, seen from here, is certainly gone. In doubt it is not. */
export async function isGone(process: ProcessTraits, { self, startOf }: Processes): Promise<boolean> {
  // The same machine after a restart, or a copy of it that runs elsewhere, has another boot: images share id and name.
  const traits = ["host", "machine", "boot", "namespace"] as const;
  if (traits.some((trait) => differ(process[trait], self[trait]))) return false;
  const start = await startOf(process.pid);
  return start === undefined || (start !== UNKNOWN_START && differ(process.started, start));
}

function differ(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && b !== undefined && a !== b;
}

export type Processes = Awaited<ReturnType<typeof readProcesses>>;

export async function readProcesses(host: string, pid: number) {
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

/** When a process started, `"unknown"` if the system does not tell; `undefined`: there is none. */
async function startOf(pid: number): Promise<string | undefined> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it is there, and somebody else's.
    if (codeOf(error) === "ESRCH") return undefined;
  }
  const stat = await textOf(`/proc/${pid}/stat`);
  if (stat === undefined) return UNKNOWN_START;
  // "pid (name) state …": the name may hold anything, so fields count from the last bracket.
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
 * A lock is a file that is made only if it is not there. The hard part is the lock that a killed process left: to see that
 * its owner is gone, remove it and make one's own breaks when two do it at once: the slower one removes the faster one's.
 *
 * So taking a lock over is itself done under a lock, whose name holds the id of the lock that is to go. Whoever gets it
 * looks again whether that very lock is still there: ids never come back. It is taken in the same way, so that a process
 * killed while taking over leaves nothing that the next one could not take over in turn.
 */

/**
 * Takes the lock if it is free or its owner is gone. @returns whether, and from whom it was taken over, or who holds it,
 * which is absent where the file is not one of ours @throws errors of the file system
 */
export async function takeLock(path: string, info: LockInfo, processes: Processes) {
  for (;;) {
    // One that leads nowhere could neither be made nor be read, for ever.
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

/** `undefined` if nobody holds it, or the file is not one of ours. */
export function readLock(path: string): LockInfo | undefined {
  try {
    return lockInfoIn(readFileSync(path, "utf8"));
  } catch (error) {
    return absent(error);
  }
}

/** Removes this very lock; another one in its place stays. @param info who removes it */
export async function removeLock(path: string, holder: LockInfo, info: LockInfo, processes: Processes) {
  await changeHolder(path, holder, info, processes, () => rm(path, { force: true }));
}

/** Does something to a lock while nobody else can, if it still is the one of this holder. */
async function changeHolder(
  path: string,
  holder: LockInfo,
  info: LockInfo,
  processes: Processes,
  change: () => Promise<void>,
): Promise<"done" | "busy" | "gone"> {
  const guard = `${path}.${encodeURIComponent(holder.id)}`;
  const guarding = await takeLock(guard, info, processes);
  if (!guarding.taken) return "busy";
  try {
    if (readLock(path)?.id !== holder.id) return "gone";
    await change();
    return "done";
  } finally {
    await rm(guard, { force: true });
  }
}

/** With its text in it from the first moment. @returns whether it was free */
async function create(path: string, info: LockInfo): Promise<boolean> {
  const temporary = await writeAside(path, info);
  try {
    // Without links, a crash between making and filling it leaves a lock to be freed by hand.
    await link(temporary, path).catch(async (error: unknown) => {
      if (!NO_LINKS.includes(codeOf(error))) throw error;
      await createFile(path, info);
    });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

const NO_LINKS: readonly unknown[] = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"];

async function writeAside(path: string, info: LockInfo): Promise<string> {
  const temporary = `${path}.${encodeURIComponent(info.id)}.tmp`;
  await createFile(temporary, info);
  return temporary;
}

/** Not flushed to disk: a lock that a power cut loses is one that nobody holds. */
async function createFile(path: string, info: LockInfo): Promise<void> {
  await writeFile(path, `${JSON.stringify(info, undefined, 2)}\n`, { flag: "wx", mode: FILE_MODE });
}
