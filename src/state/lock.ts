import { createHash } from "node:crypto";
import { readFile, readlink } from "node:fs/promises";
import { defined } from "../model/json.ts";
import type { LockInfo, ProcessTraits, Processes, StateRuntime } from "./backend.ts";
import { isCount, isRecord, isText } from "./document.ts";

/** This process as the holder of a lock. @param why the command, `tasc apply` for example. */
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

/** Whether the value is what `createLockInfo` made, on whatever machine and by whatever version. */
export function isLockInfo(value: unknown): value is LockInfo {
  if (!isRecord(value)) return false;
  const { id, who, since, why, folder = "", job = "", process } = value;
  return [id, who, since, why, folder, job].every(isText) && (process === undefined || isProcess(process));
}

function isProcess(value: unknown): value is ProcessTraits {
  if (!isRecord(value)) return false;
  const { host, pid, ...rest } = value;
  return isText(host) && isCount(pid) && pid > 0 && Object.values(rest).every(isText);
}

/** Variables that hold a link to the running CI job, in the order in which they are asked. */
const LINKS = [
  "CI_JOB_URL", // GitLab
  "CIRCLE_BUILD_URL",
  "BUILDKITE_BUILD_URL",
  "TRAVIS_JOB_WEB_URL",
  "DRONE_BUILD_LINK",
  "CI_PIPELINE_URL", // Woodpecker
  "BUILD_URL", // Jenkins; general, hence last
];

/** Link to the CI job that this environment belongs to, if it names one. */
export function jobLink(environment: StateRuntime["environment"]): string | undefined {
  const {
    GITHUB_SERVER_URL: server,
    GITHUB_REPOSITORY: repository,
    GITHUB_RUN_ID: run,
    GITHUB_RUN_ATTEMPT: attempt,
    SYSTEM_COLLECTIONURI: collection,
    SYSTEM_TEAMPROJECT: project,
    BUILD_BUILDID: build,
  } = environment;
  if (server && repository && run)
    return `${server}/${repository}/actions/runs/${run}${attempt ? `/attempts/${attempt}` : ""}`;
  // Azure
  if (collection && project && build)
    return `${collection}${encodeURIComponent(project)}/_build/results?buildId=${build}`;
  return LINKS.map((name) => environment[name]).find(Boolean);
}

/*
 * Whether the process that left a lock is gone. A pid alone does not tell: pids are used again, containers count
 * their own, and a shared folder shows locks of other machines. On Linux /proc tells the rest; elsewhere the host
 * name and the pid must do, and a reused pid then only makes a lock look held for longer.
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

/** The processes of this machine. */
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
  if (!answersSignals(pid)) return undefined;
  const stat = await textOf(`/proc/${pid}/stat`);
  if (stat === undefined) return UNKNOWN_START;
  // "pid (name) state …": the name may hold anything, so fields count from the last bracket.
  const [state, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const isZombie = state === "Z" || state === "X";
  return isZombie ? undefined : (rest[START_TIME] ?? UNKNOWN_START);
}

/** Position of `starttime` in /proc/PID/stat, after the state: proc(5), field 22. */
const START_TIME = 18;

function answersSignals(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it is there, and somebody else's.
    return error instanceof Error && "code" in error && error.code !== "ESRCH";
  }
}

/** A small file's text without white space around it; `undefined` where there is none. */
async function textOf(path: string): Promise<string | undefined> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.trim() || undefined;
}
