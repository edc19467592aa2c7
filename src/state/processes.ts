import { readFile, readlink } from "node:fs/promises";
import { createHash } from "node:crypto";

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
