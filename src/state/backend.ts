import { type JsonObject, jsonIn } from "../model/json.ts";
import { type Guarded, isCount, isText, maybe, shape, urlOf } from "../model/shape.ts";
import type { State, StateEvent } from "../model/state.ts";
import type { Processes } from "./lock.ts";

export interface StateKey {
  readonly stage: string;
  readonly target: string;
}

export type DocumentKey = StateKey & { readonly service: string };

/** What the system does not tell is absent. */
const isProcess = shape(
  {
    host: isText,
    pid: (value): value is number => isCount(value) && value > 0,
    /** Tells apart machines of one name; a digest of the machine's id, which is not for publication. */
    machine: maybe(isText),
    /** Differs after each start of the machine. */
    boot: maybe(isText),
    /** The numbering that the pid belongs to; containers have their own. */
    namespace: maybe(isText),
    /** When the process started, in ticks since the machine did. */
    started: maybe(isText),
  },
  "and others",
);
export type ProcessTraits = Guarded<typeof isProcess>;

/** Who holds a lock, where, since when and why: enough to find and ask them; of whatever version of tasc. */
const isLockInfo = shape(
  {
    id: isText,
    /** `user@host`. */
    who: isText,
    /** ISO 8601. */
    since: isText,
    why: isText,
    folder: maybe(isText),
    job: maybe(isText),
    process: maybe(isProcess),
  },
  "and others",
);
export type LockInfo = Guarded<typeof isLockInfo>;

export function lockInfoIn(text: string): LockInfo | undefined {
  const info = jsonIn(text);
  return isLockInfo(info) ? info : undefined;
}

/** A keeper of state documents. All of them answer alike, and throw StateFailure for what can go wrong. */
export interface Backend {
  /** Where documents are, without credentials; absent where they are files of the project. */
  readonly place?: string;
  /**
   * The documents of one stage that there are, by target, with what is journalled on top: at least all that was recorded
   * before a session that has ended ended. It needs no lock and writes nothing.
   */
  readAll(keys: readonly DocumentKey[]): Promise<ReadonlyMap<string, StoredState>>;
  list(stage: string): Promise<readonly string[]>;
  /** Takes the lock if it is free, or held by a process that is gone; it does not wait (see `lockDocuments`). */
  lock(key: DocumentKey, info: LockInfo): Promise<HeldLock>;
  /** Who holds the lock; `undefined` if nobody, or where the backend cannot tell without taking it. */
  holder(key: StateKey): Promise<LockInfo | undefined>;
  /** Takes the lock away from whoever holds it, or only that very lock. @returns who held it, if anybody did */
  forceUnlock(key: StateKey, id?: string): Promise<LockInfo | undefined>;
  /** Adds targets to the list, before they are first written, where the backend cannot list by itself. */
  readonly register?: (stage: string, targets: readonly string[]) => Promise<void>;
  /** Earlier versions of a document, the newest first, where the backend keeps them; `written` is ISO 8601. */
  readonly versions?: (
    key: StateKey,
  ) => Promise<readonly { readonly serial: string; readonly written: string }[]>;
  /** Takes sends of a rate that all jobs on this backend keep together. @returns milliseconds until the first */
  readonly takeSends?: (bucket: string, sends: number, perSecond: number) => Promise<number>;
  addHistory(stage: string, entry: JsonObject): Promise<void>;
  /** From the oldest that is kept. */
  history(stage: string): Promise<readonly unknown[]>;
  /** Lets go of connections, and with them of locks still held. Nothing may be called afterwards. */
  close(): Promise<void>;
}

/** A lock in hand: only through it is a document written. */
export interface HeldLock {
  readonly key: DocumentKey;
  /** The process whose lock it was: it is gone, and left it behind. */
  readonly takenOver?: LockInfo;
  /** Replaces the document and its journal, if its revision still is `base` and the lock is ours; durable once it resolves. */
  write(state: State, base: Revision): Promise<Revision>;
  /**
   * Adds events on top of revision `base`, in little time. Once it resolves they outlive this process, and if they are to be
   * `lasting`, a power cut, with all that was added before. Absent where only whole documents are known. One call at a time.
   */
  readonly append?: (events: readonly StateEvent[], base: Revision, lasting: boolean) => Promise<void>;
  /** Makes sure that the lock still is ours: looks when the last look is not fresh. Absent where only a write tells. */
  readonly confirm?: () => Promise<void>;
  /** Aborted as soon as the lock is known to be lost, where the backend hears of that by itself. */
  readonly lost?: AbortSignal;
  unlock(): Promise<void>;
}

export interface StoredState {
  readonly state: State;
  /** Of the document below the journal. */
  readonly revision: Revision;
  /** Whether a journal of an interrupted session lies on top, yet to become part of the document. */
  readonly journalled: boolean;
}

/** Requests to a backend at once; a database gets them in one go anyway. */
const SIDE_BY_SIDE = 32;

/** Some items at a time. After a failure nothing is begun; it is thrown when the rest has ended. */
export async function sideBySide<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
  atOnce = SIDE_BY_SIDE,
): Promise<R[]> {
  const results: R[] = [];
  const failures: unknown[] = [];
  const waiting = items.entries();
  const worker = async (): Promise<void> => {
    for (const [at, item] of waiting) {
      if (failures.length > 0) return;
      await work(item).then(
        (result) => (results[at] = result),
        (error: unknown) => failures.push(error),
      );
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  if (failures.length > 0) throw failures[0];
  return results;
}

/** Milliseconds that a look at a lock holds for. */
export const FRESH = 2_000;

/** A moment on two clocks: one stands still while the machine sleeps, the other may be set back. */
export type Moment = readonly [wall: number, steady: number];

export function moment(): Moment {
  return [Date.now(), performance.now()];
}

export function isPast([wall, steady]: Moment, milliseconds: number): boolean {
  return Math.abs(Date.now() - wall) > milliseconds || performance.now() - steady > milliseconds;
}

/** Tells one version of a document from every other; what it looks like is the backend's affair. */
export type Revision = string;

export const NO_DOCUMENT: Revision = "";

export interface StateRuntime {
  /** Absolute; a relative `path` of the local backend starts here. */
  readonly projectFolder: string;
  readonly clock: Clock;
  readonly newId: () => string;
  /** Proves that tasc wrote a text, under the key of fingerprints; absent without the key. */
  readonly seal?: (text: string) => string;
  readonly processes: Processes;
  /** Login name; with the host's it makes the holder's name in a lock. */
  readonly user: string;
  readonly workingFolder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface Clock {
  now(): Date;
  /** Resolves after so many milliseconds, or as soon as the signal aborts; it never rejects. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** Whether two base addresses mean one service: neither a slash at the end nor the host's case counts. */
export function sameService(a: string, b: string): boolean {
  return a === b || normalAddress(a) === normalAddress(b);
}

export function normalAddress(address: string): string {
  return (urlOf(address)?.href ?? address).replace(/(?<!\/)\/+$/, "");
}
