import { link, rename, rm, writeFile } from "node:fs/promises";
import { parseJson } from "../json-text.ts";
import type { LockInfo } from "../lock-info.ts";
import { isLockInfo } from "../lock-info.ts";
import type { Processes } from "../processes.ts";
import { isGone } from "../processes.ts";
import { FILE_MODE, hasCode, readIfThere, readIfThereNow } from "./files.ts";

/*
 * A lock is a file that is made only if it is not there. The hard part is the lock that a killed process left.
 * The obvious way (see that its owner is gone, remove it, make one's own) breaks when two do it at once: the
 * slower one removes the lock that the faster one has just made, and both believe that they hold it.
 *
 * So taking a lock over is itself done under a lock, whose name holds the id of the lock that is to go. Whoever
 * gets it looks again whether that very lock is still there: ids never come back, so if it is, nobody else can
 * be replacing it, and if it is not, somebody already has. It is taken in the same way, so that a process killed
 * while taking over leaves nothing that the next one could not take over in turn.
 */

export type Taking =
  | { readonly taken: true; readonly from?: LockInfo }
  /** `holder` is absent where the file is not one of ours. */
  | { readonly taken: false; readonly holder?: LockInfo };

/** Takes the lock at this path, if it is free or its owner is gone. @throws errors of the file system */
export async function takeLock(path: string, info: LockInfo, processes: Processes): Promise<Taking> {
  for (;;) {
    if (await create(path, info)) return { taken: true };
    const bytes = await readIfThere(path);
    if (bytes === undefined) continue; // freed between the two steps
    const holder = parseLock(bytes);
    if (holder === undefined) return { taken: false };
    if (holder.process === undefined || !(await isGone(holder.process, processes)))
      return { taken: false, holder };
    const change = () => replace(path, info);
    const outcome = await changeHolder(path, holder, info, processes, change);
    if (outcome === "done") return { taken: true, from: holder };
    if (outcome === "busy") return { taken: false, holder };
  }
}

/** Who holds the lock; `undefined` if nobody does, or the file is not one of ours. */
export function readLock(path: string): LockInfo | undefined {
  const bytes = readIfThereNow(path);
  return bytes === undefined ? undefined : parseLock(bytes);
}

/**
 * Removes this very lock; another one that has taken its place stays.
 *
 * @param info who removes it: the holder itself, or somebody by force.
 */
export async function removeLock(
  path: string,
  holder: LockInfo,
  info: LockInfo,
  processes: Processes,
): Promise<void> {
  await changeHolder(path, holder, info, processes, () => rm(path, { force: true }));
}

/** Does something to a lock while nobody else can, and only if the lock still is the one of this holder. */
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

/** Makes the lock, with its text in it from the first moment. Returns whether it was free. */
async function create(path: string, info: LockInfo): Promise<boolean> {
  const temporary = await writeAside(path, info);
  try {
    await link(temporary, path);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    if (hasCode(error, "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS")) return await createInPlace(path, info);
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** For file systems without links. A crash between making and filling it leaves a lock to be freed by hand. */
async function createInPlace(path: string, info: LockInfo): Promise<boolean> {
  try {
    await createFile(path, info);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
}

async function replace(path: string, info: LockInfo): Promise<void> {
  await rename(await writeAside(path, info), path);
}

async function writeAside(path: string, info: LockInfo): Promise<string> {
  const temporary = `${path}.${encodeURIComponent(info.id)}.tmp`;
  await rm(temporary, { force: true });
  await createFile(temporary, info);
  return temporary;
}

/** Not flushed to disk: a lock that a power cut loses is one that nobody holds. */
async function createFile(path: string, info: LockInfo): Promise<void> {
  await writeFile(path, `${JSON.stringify(info, undefined, 2)}\n`, { flag: "wx", mode: FILE_MODE });
}

function parseLock(bytes: Buffer): LockInfo | undefined {
  const value = parseJson(bytes.toString("utf8"));
  return isLockInfo(value) ? value : undefined;
}
