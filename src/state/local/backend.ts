import { readdir, rm } from "node:fs/promises";
import { resolve } from "node:path";
import type { Backend, HeldLock, StoredState } from "../backend.ts";
import type { LocalConfig } from "../config.ts";
import { createLockInfo } from "../lock-info.ts";
import type { LockInfo } from "../lock-info.ts";
import type { DocumentKey, Result, StateKey } from "../problem.ts";
import { refusal, success } from "../problem.ts";
import type { StateWorld } from "../world.ts";
import { attempt } from "./attempt.ts";
import { hasCode, makeFolder } from "./files.ts";
import { LocalLock } from "./held-lock.ts";
import { readLock, removeLock, takeLock } from "./lock-file.ts";
import { pathsOf, stageFolder, targetOf } from "./paths.ts";
import { readFiles, stateOf } from "./stored.ts";

/** Keeps documents as files of the project: STAGE/TARGET.json, beside it the lock and, during an apply, a journal. */
export function openLocalBackend(config: LocalConfig, world: StateWorld): Backend {
  const root = resolve(world.projectFolder, config.path);
  return {
    read: (key) => read(root, key),
    list: (stage) => list(root, stage),
    lock: (key, info) => lock(root, key, info, world),
    forceUnlock: (key) => forceUnlock(root, key, world),
    close: async () => {},
  };
}

async function read(root: string, key: DocumentKey): Promise<Result<StoredState | undefined>> {
  const paths = pathsOf(root, key);
  return await attempt(paths.document, async () => {
    const files = await readFiles(paths, key);
    return files.ok ? stateOf(files.value, key, paths.document) : files;
  });
}

async function list(root: string, stage: string): Promise<Result<readonly string[]>> {
  const folder = stageFolder(root, stage);
  return await attempt(folder, async () => {
    const targets = (await filesIn(folder)).map(targetOf).filter((target) => target !== undefined);
    return success([...new Set(targets)].toSorted());
  });
}

async function filesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
}

async function lock(
  root: string,
  key: DocumentKey,
  info: LockInfo,
  world: StateWorld,
): Promise<Result<HeldLock>> {
  const paths = pathsOf(root, key);
  return await attempt(paths.lock, async () => {
    await makeFolder(paths.folder);
    const taking = await takeLock(paths.lock, info, world.processes);
    if (taking.taken) return success(new LocalLock(key, paths, info, world, taking.from));
    const { stage, target } = key;
    return refusal({ kind: "locked", key: { stage, target }, ...holderOf(taking.holder) });
  });
}

function holderOf(holder: LockInfo | undefined): { readonly holder?: LockInfo } {
  return holder === undefined ? {} : { holder };
}

async function forceUnlock(
  root: string,
  key: StateKey,
  world: StateWorld,
): Promise<Result<LockInfo | undefined>> {
  const paths = pathsOf(root, key);
  return await attempt(paths.lock, async () => {
    const holder = readLock(paths.lock);
    // A file that is no lock of ours has no id to make sure of.
    if (holder === undefined) await rm(paths.lock, { force: true });
    else await removeLock(paths.lock, holder, createLockInfo(world, "tasc state unlock"), world.processes);
    return success(holder);
  });
}
