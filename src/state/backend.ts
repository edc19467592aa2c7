import { type JsonObject, jsonIn } from "../model/json.ts";
import { type Guarded, isCount, isText, maybe, shape, urlOf } from "../model/shape.ts";
import type { State, StateEvent } from "../model/state.ts";

export interface StateKey {
  readonly stage: string;
  readonly target: string;
}

export type DocumentKey = StateKey & { readonly service: string };

/** The traits of a process. Traits that the system does not report are absent. */
const isProcess = shape(
  {
    host: isText,
    pid: (value): value is number => isCount(value) && value > 0,
    /**
     * Distinguishes machines with the same name: a digest of the machine id, which itself must not
     * be published.
     */
    machine: maybe(isText),
    /** Boot id: changes with each start of the machine. */
    boot: maybe(isText),
    /** The PID namespace of `pid`; containers have their own. */
    namespace: maybe(isText),
    /** Start time of the process, in ticks since the machine started. */
    started: maybe(isText),
  },
  "and others",
);
export type ProcessTraits = Guarded<typeof isProcess>;

/** This process, and what the system knows about others. */
export interface Processes {
  readonly self: ProcessTraits;
  /**
   * Returns the start time of a process; `"unknown"` if the system does not report it; `undefined`
   * if it does not exist.
   */
  readonly startOf: (pid: number) => Promise<string | undefined>;
}

/**
 * The holder of a lock: who, where, since when and why, so that people can ask them. Any version of
 * tasc may write it.
 */
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

/**
 * A store of state documents. All backends behave the same, and throw StateFailure for expected
 * errors.
 */
export interface Backend {
  /** Location of the documents, without credentials; absent if they are files of the project. */
  readonly place?: string;
  /**
   * Reads documents of one stage, by target, with everything that ended sessions recorded. Needs no
   * lock.
   */
  readAll(keys: readonly DocumentKey[]): Promise<ReadonlyMap<string, StoredState>>;
  list(stage: string): Promise<readonly string[]>;
  /**
   * Takes the lock if it is free or its holder's process is gone. Does not wait (see
   * `lockDocuments`).
   */
  lock(key: DocumentKey, info: LockInfo): Promise<HeldLock>;
  /**
   * Returns the lock's holder; `undefined` if it is free, or if the backend must take the lock to
   * find out.
   */
  holder(key: StateKey): Promise<LockInfo | undefined>;
  /**
   * Removes a lock that somebody else has; with `id`, only the lock with this id.
   * @returns its holder, if there was one
   */
  forceUnlock(key: StateKey, id?: string): Promise<LockInfo | undefined>;
  /**
   * Adds targets to the list before their first write. Only for backends that cannot list
   * documents.
   */
  readonly register?: (stage: string, targets: readonly string[]) => Promise<void>;
  /**
   * Returns earlier versions of a document, newest first; absent if the backend keeps none.
   * `written` is ISO 8601.
   */
  readonly versions?: (
    key: StateKey,
  ) => Promise<readonly { readonly serial: string; readonly written: string }[]>;
  /**
   * Takes sends from a rate limit that all jobs on this backend share.
   * @returns milliseconds until the first send
   */
  readonly takeSends?: (bucket: string, sends: number, perSecond: number) => Promise<number>;
  addHistory(stage: string, entry: JsonObject): Promise<void>;
  /** Returns the kept history entries of a stage, oldest first. */
  history(stage: string): Promise<readonly unknown[]>;
  /**
   * Closes connections, which also releases locks still held on them. No method may be called
   * afterwards.
   */
  close(): Promise<void>;
}

/** A held lock. Documents are written only through it. */
export interface HeldLock {
  readonly key: DocumentKey;
  /** The previous holder, if the lock was taken over because its process is gone. */
  readonly takenOver?: LockInfo;
  /**
   * Replaces the document and its journal, if the revision is still `base` and the lock ours;
   * durable once it resolves.
   */
  write(state: State, base: Revision): Promise<Revision>;
  /**
   * Removes the document and its journal, if the revision is still `base` and the lock ours. Absent
   * if the backend cannot remove documents.
   */
  readonly remove?: (base: Revision) => Promise<void>;
  /**
   * Adds events on top of revision `base`, quickly. Once it resolves, they survive the end of this
   * process; with `lasting`, they and all earlier ones also survive a power cut. Absent if only
   * whole documents can be stored. One call at a time.
   */
  readonly append?: (
    events: readonly StateEvent[],
    base: Revision,
    lasting: boolean,
  ) => Promise<void>;
  /**
   * Checks that the lock is still ours, unless the last check is recent. Absent if only a write can
   * find out.
   */
  readonly confirm?: () => Promise<void>;
  /** Aborted when the lock is lost. Absent if the backend is not notified of that. */
  readonly lost?: AbortSignal;
  unlock(): Promise<void>;
}

export interface StoredState {
  readonly state: State;
  /** The revision of the document without the journal. */
  readonly revision: Revision;
  /** Whether an interrupted session left a journal that is not part of the document yet. */
  readonly journalled: boolean;
}

/**
 * Maximum number of concurrent requests to a backend; with PostgreSQL they share one connection
 * anyway.
 */
const SIDE_BY_SIDE = 32;

/**
 * Processes some items at a time. After a failure, starts no other, and throws it when the running
 * ones have ended.
 */
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

/** Milliseconds for which a check of a lock stays valid. */
export const FRESH = 2_000;

/**
 * A point in time on two clocks: `steady` may stop while the machine sleeps, and `wall` may be set
 * back.
 */
export type Moment = readonly [wall: number, steady: number];

export function moment(): Moment {
  return [Date.now(), performance.now()];
}

export function isPast([wall, steady]: Moment, milliseconds: number): boolean {
  return Math.abs(Date.now() - wall) > milliseconds || performance.now() - steady > milliseconds;
}

/** Identifies one version of a document. Each backend has its own format. */
export type Revision = string;

export const NO_DOCUMENT: Revision = "";

export interface StateRuntime {
  /** Absolute path; a relative `path` of the local backend is resolved against it. */
  readonly projectFolder: string;
  readonly clock: Clock;
  readonly newId: () => string;
  /**
   * Returns an HMAC (from the fingerprint key) that proves that tasc wrote a text; absent without
   * the key.
   */
  readonly seal?: (text: string) => string;
  readonly processes: Processes;
  /** Login name. A lock names its holder as `user@host`. */
  readonly user: string;
  readonly workingFolder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface Clock {
  now(): Date;
  /** Resolves after this time, or as soon as the signal aborts. Never rejects. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/**
 * Whether two base addresses mean the same service. Trailing slashes and the case of the host do
 * not matter.
 */
export function sameService(a: string, b: string): boolean {
  return a === b || normalAddress(a) === normalAddress(b);
}

export function normalAddress(address: string): string {
  return (urlOf(address)?.href ?? address).replace(/(?<!\/)\/+$/, "");
}
