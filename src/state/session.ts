import { setImmediate } from "node:timers/promises";
import { type State, type StateEvent, emptyState } from "../model/state.ts";
import {
  type Backend,
  type HeldLock,
  NO_DOCUMENT,
  type Revision,
  type StateWorld,
  type StoredState,
} from "./backend.ts";
import { applyEvents } from "./events.ts";
import { type LockInfo, type Patience, acquireLock, createLockInfo } from "./lock.ts";
import { type DocumentKey, type Result, StateFailure, success } from "./problem.ts";

/**
 * A target's state in the hands of one apply, or of a command that alters state. Its lock is held from open to
 * close. After a kill at any moment, what the next reader finds is a prefix of what was recorded, with everything
 * in it whose `record` had resolved.
 */
export interface Session {
  /** With all that was recorded so far, saved or under way. A value: it does not change afterwards. */
  readonly state: State;
  /** Whether there was no state before. */
  readonly isNew: boolean;
  /** Whose lock was taken over: a process of this machine that is gone. Worth a word to the user. */
  readonly takenOver?: LockInfo;
  /**
   * Resolves when the events are durable. Calls at the same time share one flush.
   *
   * @throws StateFailure if they could not be saved; the session then saves no more until it is closed.
   */
  record(events: readonly StateEvent[]): Promise<void>;
  /**
   * Resolves when the events outlive this process. A power cut may take them, until the next `record` or `close`: it
   * is for what may be done again without harm. Fails as `record` does.
   */
  note(events: readonly StateEvent[]): Promise<void>;
  /**
   * Saves what is not yet part of the document, also what a failed `record` left, and frees the lock. Later
   * calls do nothing.
   *
   * @throws StateFailure if it could not be saved, or the lock not be freed; what `record` had saved is not lost.
   */
  close(): Promise<void>;
}

export interface SessionOptions extends Patience {
  /** The command, for whoever waits for the lock: `tasc apply`. */
  readonly why: string;
}

/** Locks a document, reads it, and folds in what an interrupted session left. */
export async function openSession(
  backend: Backend,
  key: DocumentKey,
  world: StateWorld,
  options: SessionOptions,
): Promise<Result<Session>> {
  const info = createLockInfo(world, options.why);
  const lock = await acquireLock(backend, key, info, world.clock, options);
  if (!lock.ok) return lock;
  const start = await readUnderLock(backend, key, lock.value);
  if (start.ok) return success(new LockedSession(key, lock.value, start.value));
  await lock.value.unlock();
  return start;
}

async function readUnderLock(
  backend: Backend,
  key: DocumentKey,
  lock: HeldLock,
): Promise<Result<StoredState | undefined>> {
  const stored = await backend.read(key);
  if (!stored.ok || stored.value?.journalled !== true) return stored;
  const { state, revision } = stored.value;
  const folded = await lock.write(state, revision);
  return folded.ok ? success({ state, revision: folded.value, journalled: false }) : folded;
}

class LockedSession implements Session {
  readonly isNew: boolean;
  readonly takenOver?: LockInfo;
  readonly #lock: HeldLock;
  readonly #commit: GroupCommit<StateEvent>;
  /** The state up to the events that wait in `#ahead`; folding many at once copies its maps once. */
  #folded: State;
  #ahead: StateEvent[] = [];
  /** The last state written as a whole, and how many recorded events are not in it. */
  #document: State;
  #revision: Revision;
  #unwritten = 0;
  #closed: Promise<void> | undefined;

  constructor(key: DocumentKey, lock: HeldLock, stored: StoredState | undefined) {
    this.#lock = lock;
    this.isNew = stored === undefined;
    if (lock.takenOver !== undefined) this.takenOver = lock.takenOver;
    this.#folded = stored?.state ?? emptyState(key.stage, key.target, key.service);
    this.#document = this.#folded;
    this.#revision = stored?.revision ?? NO_DOCUMENT;
    this.#commit = new GroupCommit((events, lasting) => this.#save(events, lasting));
  }

  get state(): State {
    this.#folded = applyEvents(this.#folded, this.#ahead);
    this.#ahead = [];
    return this.#folded;
  }

  async record(events: readonly StateEvent[]): Promise<void> {
    await this.#add(events, true);
  }

  async note(events: readonly StateEvent[]): Promise<void> {
    await this.#add(events, false);
  }

  async close(): Promise<void> {
    this.#closed ??= this.#finish();
    await this.#closed;
  }

  async #add(events: readonly StateEvent[], lasting: boolean): Promise<void> {
    if (this.#closed !== undefined) throw new Error("a session was used after it was closed");
    if (events.length === 0) return;
    for (const event of events) this.#ahead.push(event);
    this.#unwritten += events.length;
    await this.#commit.add(events, lasting);
  }

  async #save(events: readonly StateEvent[], lasting: boolean): Promise<void> {
    if (this.#lock.append === undefined)
      return await this.#writeDocument(applyEvents(this.#document, events), events.length);
    valueOrThrow(await this.#lock.append(events, this.#revision, lasting));
  }

  async #writeDocument(state: State, added: number): Promise<void> {
    this.#revision = valueOrThrow(await this.#lock.write(state, this.#revision));
    this.#document = state;
    this.#unwritten -= added;
  }

  async #finish(): Promise<void> {
    // What failed was thrown to those who recorded it; here is one more try to save it.
    await this.#commit.idle().catch(ignoreStateFailure);
    const written = await this.#writeRest();
    const unlocked = await this.#lock.unlock();
    valueOrThrow(written);
    valueOrThrow(unlocked);
  }

  async #writeRest(): Promise<Result<unknown>> {
    if (this.#unwritten === 0) return success(undefined);
    return await this.#lock.write(this.state, this.#revision);
  }
}

function ignoreStateFailure(error: unknown): void {
  if (!(error instanceof StateFailure)) throw error;
}

function valueOrThrow<T>(result: Result<T>): T {
  if (!result.ok) throw new StateFailure(result.problem);
  return result.value;
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
