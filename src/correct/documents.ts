import { compareText } from "../model/address.ts";
import type { State } from "../model/state.ts";
import { acquireLock } from "../state/acquire.ts";
import type { Backend, HeldLock } from "../state/backend.ts";
import { NO_DOCUMENT } from "../state/backend.ts";
import { createLockInfo } from "../state/lock-info.ts";
import type { LockInfo } from "../state/lock-info.ts";
import type { DocumentKey, Result } from "../state/problem.ts";
import { success } from "../state/problem.ts";
import type { SessionOptions } from "../state/session.ts";
import type { StateWorld } from "../state/world.ts";

/** A target's document under lock. A correction reads it, and writes it whole or not at all. */
export interface LockedDocument {
  readonly key: DocumentKey;
  /** Nothing where there is no document yet. */
  readonly state: State | undefined;
  /** Whose lock was taken over: a process that is gone. */
  readonly takenOver?: LockInfo;
  replace(state: State): Promise<Result<void>>;
  unlock(): Promise<void>;
}

/** Locks documents, always in the same order, so that two commands cannot wait for each other; all or none. */
export async function lockDocuments(
  backend: Backend,
  world: StateWorld,
  keys: readonly DocumentKey[],
  options: SessionOptions,
): Promise<Result<readonly LockedDocument[]>> {
  const documents: LockedDocument[] = [];
  for (const key of keys.toSorted((a, b) => compareText(a.target, b.target))) {
    const document = await lockDocument(backend, world, key, options);
    if (!document.ok) {
      await unlockDocuments(documents);
      return document;
    }
    documents.push(document.value);
  }
  return success(documents);
}

export async function unlockDocuments(documents: readonly LockedDocument[]): Promise<void> {
  for (const document of documents) await document.unlock();
}

async function lockDocument(
  backend: Backend,
  world: StateWorld,
  key: DocumentKey,
  options: SessionOptions,
): Promise<Result<LockedDocument>> {
  const lock = await acquireLock(backend, key, createLockInfo(world, options.why), world.clock, options);
  if (!lock.ok) return lock;
  const stored = await backend.read(key);
  if (stored.ok)
    return success(documentOf(key, lock.value, stored.value?.state, stored.value?.revision ?? NO_DOCUMENT));
  await lock.value.unlock();
  return stored;
}

function documentOf(
  key: DocumentKey,
  lock: HeldLock,
  state: State | undefined,
  revision: string,
): LockedDocument {
  return {
    key,
    state,
    ...(lock.takenOver === undefined ? {} : { takenOver: lock.takenOver }),
    replace: async (next) => {
      const written = await lock.write(next, revision);
      return written.ok ? success(undefined) : written;
    },
    unlock: async () => void (await lock.unlock()),
  };
}
