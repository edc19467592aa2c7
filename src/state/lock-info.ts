import { jobLink } from "./ci.ts";
import type { ProcessTraits } from "./processes.ts";
import { isCount, isRecord, isText } from "./shape.ts";
import type { StateWorld } from "./world.ts";

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
