import { createHash } from "node:crypto";
import { readFile, readlink } from "node:fs/promises";
import type { Backend, Clock, HeldLock, StateRuntime } from "./backend.ts";
import { isCount, isRecord, isText } from "./document.ts";
import { type DocumentKey, StateFailure, type StateKey, problemOf } from "./problem.ts";

/** Who holds a lock, where, since when and why: enough to find and ask them. */
export interface LockInfo {
  /** Tells one holding of the lock from every other. */
  readonly id: string;
  /** `user@host`. */
  readonly who: string;
  /** ISO 8601. */
  readonly since: string;
  /** The command. */
  readonly why: string;
  /** The holder's working folder. */
  readonly folder?: string;
  /** Link to the CI job. */
  readonly job?: string;
  readonly process?: ProcessTraits;
}

/** This process as the holder of a lock. @param why the command, `tasc apply` for example. */
export function createLockInfo(world: StateRuntime, why: string): LockInfo {
  const job = jobLink(world.environment);
  return {
    id: world.newId(),
    who: `${world.user}@${world.processes.self.host}`,
    since: world.clock.now().toISOString(),
    why,
    folder: world.workingFolder,
    ...(job === undefined ? {} : { job }),
    process: world.processes.self,
  };
}

/** Whether the value is what `createLockInfo` made, on whatever machine and by whatever version. */
export function isLockInfo(value: unknown): value is LockInfo {
  return (
    isRecord(value) &&
    isText(value["id"]) &&
    isText(value["who"]) &&
    isText(value["since"]) &&
    isText(value["why"]) &&
    isTextOrAbsent(value["folder"]) &&
    isTextOrAbsent(value["job"]) &&
    (value["process"] === undefined || isProcess(value["process"]))
  );
}

function isProcess(value: unknown): value is ProcessTraits {
  if (!isRecord(value)) return false;
  const { host, pid, ...rest } = value;
  return isText(host) && isCount(pid) && pid > 0 && Object.values(rest).every(isText);
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || isText(value);
}

type JobVariables = Readonly<Record<string, string | undefined>>;

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
export function jobLink(environment: JobVariables): string | undefined {
  return (
    gitHubLink(environment) ??
    azureLink(environment) ??
    LINKS.map((name) => environment[name]).find((link) => link !== undefined && link !== "")
  );
}

function gitHubLink(environment: JobVariables): string | undefined {
  const {
    GITHUB_SERVER_URL: server,
    GITHUB_REPOSITORY: repository,
    GITHUB_RUN_ID: run,
    GITHUB_RUN_ATTEMPT: attempt,
  } = environment;
  if (!server || !repository || !run) return undefined;
  const link = `${server}/${repository}/actions/runs/${run}`;
  return attempt ? `${link}/attempts/${attempt}` : link;
}

function azureLink(environment: JobVariables): string | undefined {
  const { SYSTEM_COLLECTIONURI: collection, SYSTEM_TEAMPROJECT: project, BUILD_BUILDID: build } = environment;
  if (!collection || !project || !build) return undefined;
  return `${collection}${encodeURIComponent(project)}/_build/results?buildId=${build}`;
}

/*
 * Whether the process that left a lock is gone. A pid alone does not tell: pids are used again, containers count
 * their own, and a shared folder shows locks of other machines. On Linux /proc tells the rest; elsewhere the host
 * name and the pid must do, and a reused pid then only makes a lock look held for longer.
 */

/** A process, as far as the system tells; what it does not tell is absent. */
export interface ProcessTraits {
  readonly host: string;
  readonly pid: number;
  /** Tells apart machines of one name; a digest of the machine's id, which is not for publication. */
  readonly machine?: string;
  /** Differs after each start of the machine. */
  readonly boot?: string;
  /** The numbering that the pid belongs to; containers have their own. */
  readonly namespace?: string;
  /** When the process started, in ticks since the machine did. */
  readonly started?: string;
}

export interface Processes {
  /** This process. */
  readonly self: ProcessTraits;
  /** The start of a running process, `"unknown"` if the system does not tell; `undefined`: there is none. */
  startOf(pid: number): Promise<string | undefined>;
}

const UNKNOWN_START = "unknown";

/** Whether the process, seen from here, is certainly gone. In doubt it is not. */
export async function isGone(process: ProcessTraits, processes: Processes): Promise<boolean> {
  const { self } = processes;
  if (process.host !== self.host || differ(process.machine, self.machine)) return false;
  // The same machine after a restart, or a copy of it that runs elsewhere: images share their id and name.
  if (differ(process.boot, self.boot)) return false;
  if (differ(process.namespace, self.namespace)) return false;
  const start = await processes.startOf(process.pid);
  if (start === undefined) return true;
  return start !== UNKNOWN_START && differ(process.started, start);
}

function differ(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && b !== undefined && a !== b;
}

/** The processes of this machine. */
export async function readProcesses(host: string, pid: number): Promise<Processes> {
  const machineId = await textOf("/etc/machine-id");
  const started = await startOf(pid);
  const traits = {
    machine: machineId && createHash("sha256").update(machineId).digest("base64url").slice(0, 16),
    boot: await textOf("/proc/sys/kernel/random/boot_id"),
    namespace: await readlink("/proc/self/ns/pid").catch(() => undefined),
    started: started === UNKNOWN_START ? undefined : started,
  };
  return { self: { host, pid, ...known(traits) }, startOf };
}

function known(traits: Record<string, string | undefined>): Record<string, string> {
  const entries = Object.entries(traits);
  return Object.fromEntries(entries.flatMap(([name, text]) => (text ? [[name, text]] : [])));
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

/** A small file's text without white space around it; `undefined` where there is no such file. */
async function textOf(path: string): Promise<string | undefined> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  return text?.trim();
}

/** How long to wait for a lock that somebody else holds. */
export interface LockWait {
  /** Milliseconds; 0 asks once. */
  readonly timeout: number;
  /** Ends the waiting early. */
  readonly signal?: AbortSignal;
  /** Is told once of each holder that is waited for. */
  readonly waiting?: (key: StateKey, holder: LockInfo | undefined) => void;
}

const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 2_000;

/**
 * Takes the lock, asking again, less and less often, until the limit. Any problem but a held lock ends it at once.
 * Asking works with every backend, also with one that the holder does not reach, which waiting on a signal of the
 * holder would not.
 */
export async function acquireLock(
  backend: Backend,
  key: DocumentKey,
  info: LockInfo,
  clock: Clock,
  { timeout, signal, waiting }: LockWait,
): Promise<HeldLock> {
  const deadline = clock.now().getTime() + timeout;
  let told: string | undefined;
  for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
    const lock = await backend.lock(key, info).catch((error: unknown) => ({ error }));
    if (!("error" in lock)) return lock;
    const { holder } = problemOf(lock.error, "locked");
    if (signal?.aborted === true) throw new StateFailure({ kind: "interrupted" });
    const left = deadline - clock.now().getTime();
    if (left <= 0) throw lock.error;
    if (told !== (holder?.id ?? "")) waiting?.({ stage: key.stage, target: key.target }, holder);
    told = holder?.id ?? "";
    await clock.sleep(Math.min(pause, left), signal);
  }
}
