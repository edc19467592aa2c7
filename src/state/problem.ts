import { createHash } from "node:crypto";
import { readFile, readlink } from "node:fs/promises";

/** Names a document: one per stage and target. */
export interface StateKey {
  readonly stage: string;
  /** The target's key. */
  readonly target: string;
}

/** A document as a reader expects it. */
export interface DocumentKey extends StateKey {
  /** Base address of the service that the ids are to belong to. */
  readonly service: string;
}

/**
 * Everything that can stand between an apply and its state; `explainProblem` words it. `where` names the file,
 * the row or the address, without credentials.
 */
export type StateProblem =
  /** Not a document of ours, or a damaged one. */
  | { readonly kind: "corrupt"; readonly where: string; readonly reason: string }
  /** Git left its conflict markers, or both sides' lines. */
  | { readonly kind: "conflicted"; readonly where: string; readonly line: number }
  /** Written by a later tasc. */
  | {
      readonly kind: "newer";
      readonly where: string;
      readonly version: number;
      readonly understood: number;
    }
  /** The document of another stage or target stands in this place. */
  | {
      readonly kind: "misplaced";
      readonly where: string;
      readonly expected: StateKey;
      readonly found: StateKey;
    }
  | {
      readonly kind: "other-service";
      readonly where: string;
      readonly expected: string;
      readonly found: string;
    }
  /** A journal of an interrupted run whose document was replaced since by something else. */
  | { readonly kind: "stranded-journal"; readonly where: string; readonly journal: string }
  /** Somebody else holds the lock; `holder` is absent where the backend cannot tell. */
  | { readonly kind: "locked"; readonly key: StateKey; readonly holder?: LockInfo }
  /** The lock was ours and is no more, so nothing was written. */
  | { readonly kind: "lock-lost"; readonly key: StateKey; readonly reason: string }
  /** Somebody else wrote since it was read, so nothing was written. */
  | { readonly kind: "changed"; readonly where: string }
  /** The file system, the database or the server failed. */
  | { readonly kind: "failed"; readonly where: string; readonly reason: string }
  /** `state:` of the project does not fit its backend. */
  | { readonly kind: "misconfigured"; readonly reason: string };

/** What was asked for, or why it could not be had. */
export type Result<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: StateProblem };

export function success<T>(value: T): Result<T> {
  return { ok: true, value };
}

export function refusal(problem: StateProblem): { readonly ok: false; readonly problem: StateProblem } {
  return { ok: false, problem };
}

/**
 * Thrown where going on unawares would do harm: an apply that could not record what it is about to send must
 * not send it.
 */
export class StateFailure extends Error {
  override readonly name = "StateFailure";
  readonly problem: StateProblem;

  constructor(problem: StateProblem) {
    super(`state: ${problem.kind}`);
    this.problem = problem;
  }
}

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
export function createLockInfo(world: StateWorld, why: string): LockInfo {
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

/** Whether two base addresses mean one service: neither a slash at the end nor the host's case counts. */
export function sameService(a: string, b: string): boolean {
  return a === b || normal(a) === normal(b);
}

function normal(address: string): string {
  const text = URL.canParse(address) ? new URL(address).href : address;
  return text.replace(/\/+$/, "");
}

/** Tests of what came from a file, a database or a server and may be anything. */

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** A whole number from zero on. */
export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}

/** Whether the value is a record of nothing but what passes the test. */
export function isRecordOf<V>(
  value: unknown,
  test: (part: unknown) => part is V,
): value is Readonly<Record<string, V>> {
  if (!isRecord(value)) return false;
  for (const name of Object.keys(value)) if (!test(value[name])) return false;
  return true;
}

type Test = (part: unknown) => boolean;

/**
 * Whether the value is a record with exactly these members. A member more than we know is refused as well: to
 * read past it would be to lose it at the next write.
 */
export function hasMembers(
  value: unknown,
  required: Readonly<Record<string, Test>>,
  optional: Readonly<Record<string, Test>> = {},
): boolean {
  if (!isRecord(value)) return false;
  const isKnown = (name: string) => testOf(name, required, optional)?.(value[name]) === true;
  return (
    Object.keys(required).every((name) => Object.hasOwn(value, name)) && Object.keys(value).every(isKnown)
  );
}

/** Own members only: `__proto__` and `constructor` are names like others. */
function testOf(name: string, ...tables: readonly Readonly<Record<string, Test>>[]): Test | undefined {
  return tables.find((table) => Object.hasOwn(table, name))?.[name];
}

/** The value of a JSON text; `undefined`, which no JSON has, if it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

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
export function jobLink(environment: Environment): string | undefined {
  return (
    gitHubLink(environment) ??
    azureLink(environment) ??
    LINKS.map((name) => environment[name]).find((link) => link !== undefined && link !== "")
  );
}

function gitHubLink(environment: Environment): string | undefined {
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

function azureLink(environment: Environment): string | undefined {
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
  // Only a machine that is known by its id, and not by name alone, can be known to have restarted.
  if (differ(process.boot, self.boot)) return process.machine !== undefined && self.machine !== undefined;
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

/** What the backends need of the world; handed in from the top, so that tests can hand in another. */
export interface StateWorld {
  /** Absolute; a relative `path` of the local backend starts here. */
  readonly projectFolder: string;
  readonly clock: Clock;
  /** A new UUID at each call. */
  readonly newId: () => string;
  readonly processes: Processes;
  /** Login name; with the host's it makes the holder's name in a lock. */
  readonly user: string;
  readonly workingFolder: string;
  /** Names the CI job, where there is one. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface Clock {
  now(): Date;
  /** Resolves after so many milliseconds, or as soon as the signal aborts; it never rejects. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}
