import { setImmediate } from "node:timers/promises";
import { type Address, compareText, targetAddress } from "../model/address.ts";
import { type State, type StateEvent, emptyState } from "../model/state.ts";
import {
  type Backend,
  type DocumentKey,
  FRESH,
  type HeldLock,
  type LockInfo,
  NO_DOCUMENT,
  type Revision,
  type StateKey,
  type StateRuntime,
  Stopwatch,
  type StoredState,
  sideBySide,
} from "./backend.ts";
import type { BackendConfig } from "./config.ts";
import { erroredEvents, erroredFile, readErrored, removeErrored, writeErrored } from "./errored.ts";
import { applyEvents } from "./events.ts";
import { entryOfInterrupted } from "./history.ts";
import { createLockInfo } from "./lock.ts";
import { StateFailure, type StateProblem, problemOf } from "./problem.ts";

/** The backend that is configured. The others, and what they depend on, are not even loaded. */
export async function openBackend(config: BackendConfig, world: StateRuntime): Promise<Backend> {
  if (config.backend === "postgres") {
    const { openPostgresBackend } = await import("./postgres.ts");
    return openPostgresBackend(config);
  }
  if (config.backend === "http") {
    const { openHttpBackend } = await import("./http.ts");
    return await openHttpBackend(config, world);
  }
  const { LocalBackend } = await import("./local.ts");
  return new LocalBackend(config, world);
}

export interface SessionOptions {
  /** The command, for whoever waits for the lock: `tasc apply`. */
  readonly why: string;
  /** Milliseconds to wait for locks that somebody else holds; 0 asks once. */
  readonly timeout: number;
  /** Ends the waiting early. */
  readonly signal?: AbortSignal;
  /** Is told once of each holder that is waited for. */
  readonly waiting?: (key: StateKey, holder: LockInfo | undefined) => void;
}

/** Locks the documents of targets of one stage, all or none, reads them, and takes in what interrupted sessions left. */
export async function openSessions(
  backend: Backend,
  keys: readonly DocumentKey[],
  world: StateRuntime,
  options: SessionOptions,
): Promise<ReadonlyMap<string, Session>> {
  const locks = await lockDocuments(backend, keys, world, options);
  try {
    return await openLocked(backend, locks, world);
  } catch (error) {
    await unlockAll(locks);
    throw error;
  }
}

/** A document's lock, and which document that is. */
export interface LockedKey {
  readonly key: DocumentKey;
  readonly lock: HeldLock;
}

const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 2_000;

/**
 * Locks documents side by side, all or none. While it waits for one, it holds only those that come before it in the
 * order of keys, so that two runs cannot wait for each other. It asks again, less and less often, until the limit: that
 * works with every backend. Any problem but a held lock ends it at once.
 */
export async function lockDocuments(
  backend: Backend,
  keys: readonly DocumentKey[],
  world: StateRuntime,
  { why, timeout, signal, waiting }: SessionOptions,
): Promise<readonly LockedKey[]> {
  const { clock } = world;
  const inOrder = keys.toSorted((a, b) => compareText(a.target, b.target));
  const deadline = clock.now().getTime() + timeout;
  const held: LockedKey[] = [];
  let pause = FIRST_PAUSE;
  let refused: { readonly holder: string | undefined } | undefined;
  try {
    while (held.length < inOrder.length) {
      // Of those after one that is waited for, none is asked for yet.
      const wanted = inOrder.slice(held.length, refused === undefined ? undefined : held.length + 1);
      const tried = await sideBySide(wanted, async (key): Promise<Tried> => {
        try {
          return { key, lock: await backend.lock(key, createLockInfo(world, why)) };
        } catch (error) {
          return { key, error };
        }
      });
      const failed = tried.findIndex(({ lock }) => lock === undefined);
      const end = failed < 0 ? tried.length : failed;
      held.push(...taken(tried.slice(0, end)));
      await unlockAll(taken(tried.slice(end)));
      const one = tried[end];
      if (one === undefined) {
        refused = undefined;
        pause = FIRST_PAUSE;
        continue;
      }
      const { key, holder } = problemOf(one.error, "locked");
      if (signal?.aborted === true) throw new StateFailure({ kind: "interrupted" });
      const left = deadline - clock.now().getTime();
      if (left <= 0) throw one.error;
      if (refused === undefined || refused.holder !== holder?.id) waiting?.(key, holder);
      refused = { holder: holder?.id };
      await clock.sleep(Math.min(pause, left), signal);
      pause = Math.min(pause * 2, LONGEST_PAUSE);
    }
    return held;
  } catch (error) {
    await unlockAll(held);
    throw error;
  }
}

interface Tried {
  readonly key: DocumentKey;
  readonly lock?: HeldLock;
  readonly error?: unknown;
}

function taken(tried: readonly Tried[]): readonly LockedKey[] {
  return tried.flatMap(({ key, lock }) => (lock === undefined ? [] : [{ key, lock }]));
}

/** What cannot be freed is left: whoever wants the lock is told who has it. */
export async function unlockAll(locks: readonly LockedKey[]): Promise<void> {
  await sideBySide(locks, async ({ lock }) => await lock.unlock().catch(ignoreStateFailure));
}

async function openLocked(
  backend: Backend,
  locks: readonly LockedKey[],
  world: StateRuntime,
): Promise<ReadonlyMap<string, Session>> {
  const stored = await backend.readAll(locks.map(({ key }) => key));
  const fresh = locks.flatMap(({ key }) => (stored.has(key.target) ? [] : key.target));
  const [first] = locks;
  if (fresh.length > 0 && first !== undefined) await backend.register?.(first.key.stage, fresh);
  const opened = await sideBySide(locks, async ({ key, lock }) => {
    const start = await folded(lock, stored.get(key.target));
    const session = new Session(key, lock, start, world);
    await recover(backend, session, key, world);
    return [key.target, session] as const;
  });
  return new Map(opened);
}

/** The document with the journal of an interrupted session in it. */
async function folded(lock: HeldLock, stored: StoredState | undefined): Promise<StoredState | undefined> {
  if (stored?.journalled !== true) return stored;
  const { state } = stored;
  return { state, revision: await lock.write(state, stored.revision), journalled: false };
}

/** Takes in what an earlier run could not save, and writes the history of one that was cut off. */
async function recover(
  backend: Backend,
  session: Session,
  key: DocumentKey,
  world: StateRuntime,
): Promise<void> {
  const errored = await readErrored(world, key);
  if (errored !== undefined) {
    await session.record(erroredEvents(session.state, errored));
    await removeErrored(world, key);
    session.takenIn = erroredFile(world, key);
  }
  const { run } = session.state;
  if (run === undefined) return;
  if (run.changes.size > 0) await backend.addHistory(key.stage, entryOfInterrupted(run));
  await session.record([{ type: "ended" }]);
}

/**
 * A target's state while its lock is held, by an apply or by a command that alters state. After a kill at any moment,
 * what the next reader finds is a prefix of what was recorded, with everything in it whose `record` had resolved.
 */
export class Session {
  /** Whether there was no state before. */
  readonly isNew: boolean;
  /** Whose lock was taken over: a process of this machine that is gone. Worth a word to the user. */
  readonly takenOver: LockInfo | undefined;
  /** The file with what an earlier run could not save, if it was taken in. Worth a word to the user. */
  takenIn: string | undefined;
  /** The test target's id, where state knows it. */
  targetId: string | undefined;
  readonly #key: DocumentKey;
  readonly #world: StateRuntime;
  readonly #lock: HeldLock;
  readonly #commit: GroupCommit<StateEvent>;
  readonly #loss = new AbortController();
  readonly #address: Address;
  /** The state up to the events that wait in `#ahead`; folding many at once copies its maps once. */
  #folded: State;
  #ahead: StateEvent[] = [];
  /** The last state written as a whole. */
  #document: State;
  #revision: Revision;
  /** Events that were saved after it, and those that are still to be. */
  #appended: StateEvent[] = [];
  #unsaved: StateEvent[] = [];
  /** Since when the oldest of the unsaved waits. */
  readonly #waiting = new Stopwatch();
  readonly #written = new Stopwatch();
  #closed: Promise<void> | undefined;

  constructor(key: DocumentKey, lock: HeldLock, stored: StoredState | undefined, world: StateRuntime) {
    this.#key = key;
    this.#world = world;
    this.#lock = lock;
    this.isNew = stored === undefined;
    this.takenOver = lock.takenOver;
    const { stage, target, service } = key;
    const state = stored?.state ?? emptyState(stage, target, service);
    this.#folded = state.lineage === undefined ? { lineage: world.newId(), ...state } : state;
    this.#document = this.#folded;
    this.#address = targetAddress(target);
    this.targetId = state.bindings.get(this.#address)?.id;
    this.#revision = stored?.revision ?? NO_DOCUMENT;
    this.#commit = new GroupCommit((events, lasting) => this.#save(events, lasting));
    this.#written.now();
    lock.lost?.addEventListener("abort", this.#broke);
  }

  /** With all that was recorded so far, saved or under way. A value: it does not change afterwards. */
  get state(): State {
    this.#folded = applyEvents(this.#folded, this.#ahead);
    this.#ahead = [];
    return this.#folded;
  }

  /** Aborted, with a StateFailure, once nothing can be saved any more. */
  get lost(): AbortSignal {
    return this.#loss.signal;
  }

  /**
   * Resolves when the events are durable. Calls at the same time share one flush.
   *
   * @throws StateFailure if they could not be saved; the session then saves no more until it is closed.
   */
  async record(events: readonly StateEvent[]): Promise<void> {
    await this.#add(events, true);
  }

  /**
   * Resolves when the events outlive this process. A power cut may take them, until the next `record` or `close`: it
   * is for what may be done again without harm. Fails as `record` does.
   */
  async note(events: readonly StateEvent[]): Promise<void> {
    await this.#add(events, false);
  }

  /**
   * To be asked right before each call that changes something, and before each time it is sent again: resolves if the
   * lock is still held, and what was recorded is saved or has been under way for a moment only.
   *
   * @throws StateFailure if nothing may be sent any more
   */
  async confirm(): Promise<void> {
    if (this.#unsaved.length > 0 && this.#waiting.isOver(FRESH)) await this.#commit.idle();
    if (this.#lock.confirm !== undefined) await this.#orLose(this.#lock.confirm());
    else if (this.#written.isOver(FRESH)) await this.#commit.add([], true);
  }

  /**
   * Saves what is not yet part of the document, also what a failed `record` left, and frees the lock. What cannot be
   * saved is kept in `.tasc/errored/`. Later calls do nothing.
   *
   * @throws StateFailure if it could not be saved, or the lock not be freed; what `record` had saved is not lost.
   */
  async close(): Promise<void> {
    // The connection may end after that.
    this.#closed ??= this.#finish().finally(() => this.#lock.lost?.removeEventListener("abort", this.#broke));
    await this.#closed;
  }

  readonly #broke = (): void => {
    const { stage, target } = this.#key;
    const reason = "the connection that held it broke";
    this.#loss.abort(new StateFailure({ kind: "lock-lost", key: { stage, target }, reason }));
  };

  async #add(events: readonly StateEvent[], lasting: boolean): Promise<void> {
    if (this.#closed !== undefined) throw new Error("a session was used after it was closed");
    if (events.length === 0) return;
    if (this.#unsaved.length === 0) this.#waiting.now();
    for (const event of events) {
      this.#ahead.push(event);
      this.#unsaved.push(event);
      if (event.type === "bound" && event.address === this.#address) this.targetId = event.id;
    }
    await this.#commit.add(events, lasting);
  }

  async #save(events: readonly StateEvent[], lasting: boolean): Promise<void> {
    if (this.#lock.append === undefined)
      await this.#orLose(this.#writeDocument(applyEvents(this.#document, events)));
    else {
      await this.#orLose(this.#lock.append(events, this.#revision, lasting));
      for (const event of events) this.#appended.push(event);
    }
    this.#unsaved = this.#unsaved.slice(events.length);
    this.#waiting.now();
    this.#written.now();
  }

  /** Once something cannot be saved, nothing may be sent any more. */
  async #orLose(work: Promise<void>): Promise<void> {
    return await work.catch((error: unknown) => {
      if (error instanceof StateFailure) this.#loss.abort(error);
      throw error;
    });
  }

  async #writeDocument(state: State): Promise<void> {
    this.#revision = await this.#lock.write(state, this.#revision);
    this.#document = state;
    this.#appended = [];
  }

  async #finish(): Promise<void> {
    // What failed was thrown to those who recorded it; here is one more try to save it.
    await this.#commit.idle().catch(ignoreStateFailure);
    try {
      if (this.#unsaved.length + this.#appended.length > 0)
        await this.#lock.write(this.state, this.#revision);
    } catch (error) {
      await this.#lock.unlock().catch(ignoreStateFailure);
      if (!(error instanceof StateFailure) || this.#unsaved.length === 0) throw error;
      const saved = applyEvents(this.#document, this.#appended);
      const file = await writeErrored(this.#world, this.#key, saved, this.#unsaved);
      throw new StateFailure(keptIn(file, error.problem));
    }
    await this.#lock.unlock();
  }
}

function keptIn(file: string, problem: StateProblem): StateProblem {
  if (!("reason" in problem)) return problem;
  const kept = `What could not be saved is in ${file}; the next run takes it in, so keep that file where runs start from a fresh checkout`;
  return { ...problem, reason: `${problem.reason.replace(/\.$/, "")}. ${kept}` };
}

/** The locks of a run, asked right before each call that changes something. */
export class Leases {
  readonly #sessions: readonly Session[];
  #byId = new Map<string, Session>();

  constructor(sessions: Iterable<Session>) {
    this.#sessions = [...sessions];
  }

  /**
   * @param path of the call: `/apiKey/v3/test-targets/ID/…`. A call without a target's id makes a target.
   * @throws StateFailure if the call must not be sent
   */
  async confirm(path: string): Promise<void> {
    const id = path.split("/")[4];
    const session = id === undefined ? undefined : this.#find(decodeURIComponent(id));
    if (session !== undefined) return await session.confirm();
    await Promise.all(this.#sessions.map((one) => one.confirm()));
  }

  #find(id: string): Session | undefined {
    const known = this.#byId.get(id);
    if (known?.targetId === id) return known;
    this.#byId = new Map(this.#sessions.map((session) => [session.targetId ?? "", session]));
    return this.#byId.get(id);
  }
}

function ignoreStateFailure(error: unknown): void {
  if (!(error instanceof StateFailure)) throw error;
}

/**
 * Gathers what many ask to have saved at the same time, so that they share one flush: what comes in one turn of the
 * event loop, as answers do that arrive together, and while one is under way, whatever comes waits for the next, which
 * takes all of it, in order.
 *
 * After a failed flush nothing is flushed any more and everybody gets that failure: what is saved stays a prefix
 * of what was asked for.
 */
export class GroupCommit<T> {
  readonly #flush: (items: readonly T[], lasting: boolean) => Promise<void>;
  #waiting: T[] = [];
  #lasting = false;
  #next: Promise<void> | undefined;
  #current: Promise<void> = Promise.resolve();

  /** @param flush `lasting` if any of the items was given as lasting */
  constructor(flush: (items: readonly T[], lasting: boolean) => Promise<void>) {
    this.#flush = flush;
  }

  /** Resolves when the items are flushed, and everything given before them. */
  async add(items: readonly T[], lasting: boolean): Promise<void> {
    for (const item of items) this.#waiting.push(item);
    this.#lasting ||= lasting;
    this.#next ??= this.#startAfterCurrent();
    await this.#next;
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await (this.#next ?? this.#current);
  }

  async #startAfterCurrent(): Promise<void> {
    await this.#current;
    await setImmediate();
    const items = this.#waiting;
    const lasting = this.#lasting;
    this.#waiting = [];
    this.#lasting = false;
    this.#current = this.#flush(items, lasting);
    this.#next = undefined;
    await this.#current;
  }
}
