import { setImmediate } from "node:timers/promises";
import { type Address, compareText, targetAddress } from "../model/address.ts";
import { type State, type StateEvent, emptyState } from "../model/state.ts";
import {
  type Backend,
  type DocumentKey,
  FRESH,
  type HeldLock,
  type LockInfo,
  type Moment,
  NO_DOCUMENT,
  type Revision,
  type StateKey,
  type StateRuntime,
  type StoredState,
  isPast,
  moment,
  sideBySide,
} from "./backend.ts";
import type { BackendConfig } from "./config.ts";
import { takeInErrored, writeErrored } from "./errored.ts";
import { applyEvents } from "./events.ts";
import { entryOfInterrupted } from "./history.ts";
import { createLockInfo } from "./lock.ts";
import { StateFailure, lockLost, problemOf } from "./problem.ts";

/** Opens the backend. Other backends, and their dependencies, are not loaded. */
export async function openBackend(config: BackendConfig, world: StateRuntime): Promise<Backend> {
  if (config.backend === "postgres") {
    const { PostgresBackend } = await import("./postgres.ts");
    return new PostgresBackend(config);
  }
  if (config.backend === "http") {
    const { HttpBackend } = await import("./http.ts");
    const { openClient } = await import("./http-client.ts");
    return new HttpBackend(config, await openClient(config, world), world);
  }
  const { LocalBackend } = await import("./local.ts");
  return new LocalBackend(config, world);
}

export interface LockOptions {
  readonly why: string;
  /** Milliseconds to wait for locks that others hold; 0 tries once. */
  readonly timeout: number;
  readonly signal?: AbortSignal;
  /** Called once for each holder that is waited for. */
  readonly waiting?: (key: StateKey, holder: LockInfo | undefined) => void;
}

/**
 * Locks documents of one stage, all or none, reads them, and takes in what interrupted runs
 * left.
 */
export async function openLockedStates(
  backend: Backend,
  keys: readonly DocumentKey[],
  world: StateRuntime,
  options: LockOptions,
): Promise<ReadonlyMap<string, LockedState>> {
  const locks = await lockDocuments(backend, keys, world, options);
  try {
    const found = await backend.readAll(keys);
    const [first] = keys;
    // Targets that have a document are included: another run may have overwritten the list at the
    // same time.
    if (first !== undefined)
      await backend.register?.(
        first.stage,
        keys.map(({ target }) => target),
      );
    const opened = await sideBySide(locks, async (lock) => {
      const { target } = lock.key;
      let stored = found.get(target);
      if (stored?.journalled === true)
        stored = {
          ...stored,
          revision: await lock.write(stored.state, stored.revision),
          journalled: false,
        };
      const locked = new LockedState(lock, stored, world);
      await locked.recover(backend);
      return [target, locked] as const;
    });
    return new Map(opened);
  } catch (error) {
    await unlockAll(locks);
    throw error;
  }
}

const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 2_000;

/**
 * Locks documents in parallel, all or none. While it waits for one, it holds only those that come
 * before it in the order of keys, so that two runs cannot wait for each other. Any problem except a
 * held lock ends it.
 */
export async function lockDocuments(
  backend: Backend,
  keys: readonly DocumentKey[],
  world: StateRuntime,
  options: LockOptions,
): Promise<readonly HeldLock[]> {
  const { clock } = world;
  const { why, timeout, signal, waiting } = options;
  const inOrder = keys.toSorted((a, b) => compareText(a.target, b.target));
  const deadline = clock.now().getTime() + timeout;
  const tryLock = async (key: DocumentKey) =>
    await backend.lock(key, createLockInfo(world, why)).catch((error: unknown) => ({ key, error }));
  /** Tries again, with growing pauses, which works with every backend. */
  const retry = async (key: DocumentKey, refusal: unknown): Promise<HeldLock> => {
    const reported = new Set<string | undefined>();
    for (let error = refusal, pause = FIRST_PAUSE; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
      const { holder } = problemOf(error, "locked");
      if (signal?.aborted === true) throw new StateFailure({ kind: "interrupted" });
      const left = deadline - clock.now().getTime();
      if (left <= 0) throw error;
      if (!reported.has(holder?.id)) waiting?.(key, holder);
      reported.add(holder?.id);
      await clock.sleep(Math.min(pause, left), signal);
      const tried = await tryLock(key);
      if (!("error" in tried)) return tried;
      error = tried.error;
    }
  };
  const held: HeldLock[] = [];
  try {
    while (held.length < inOrder.length) {
      const tried = await sideBySide(inOrder.slice(held.length), tryLock);
      const refused = tried.find((one) => "error" in one);
      const end = refused === undefined ? tried.length : tried.indexOf(refused);
      const taken = (some: typeof tried) => some.flatMap((one) => ("error" in one ? [] : one));
      held.push(...taken(tried.slice(0, end)));
      await unlockAll(taken(tried.slice(end)));
      if (refused !== undefined) held.push(await retry(refused.key, refused.error));
    }
    return held;
  } catch (error) {
    await unlockAll(held);
    throw error;
  }
}

/**
 * Releases locks. If one cannot be released, it is left: the next run that needs it reports its
 * holder.
 */
export async function unlockAll(locks: readonly HeldLock[]): Promise<void> {
  await sideBySide(locks, async (lock) => await lock.unlock().catch(ignoreStateFailure));
}

/**
 * Maximum number of saves that confirm a lock before a send. A save that takes longer than FRESH
 * is repeated, because the process may have been stopped meanwhile. A server that is always this
 * slow must not end every run, so the last one counts.
 */
const CONFIRMATIONS = 3;

/**
 * Number of events from which on the whole document is written: in a journal they would be written
 * twice. It is also the number of saved events from which on they are applied for good, which copies
 * the maps.
 */
const MANY = 500;

/**
 * A target's state while its lock is held. After a kill at any moment, the next reader finds a
 * prefix of what was recorded, which includes everything whose `record` had resolved.
 */
export class LockedState {
  readonly #isStored: boolean;
  /** The former holder, if its lock was taken over because its process is gone. */
  readonly takenOver: LockInfo | undefined;
  /** The file with what an earlier run could not save, if it was taken in. */
  takenIn: string | undefined;
  targetId: string | undefined;
  readonly #world: StateRuntime;
  readonly #lock: HeldLock;
  readonly #loss = new AbortController();
  readonly #address: Address;
  /**
   * A saved state, and the events recorded since, of which the first `#saved` are saved as well.
   * Those of 100,000 test cases would take 45 MiB, so once all of many are saved, they are dropped.
   */
  #document: State;
  readonly #events: StateEvent[] = [];
  #saved = 0;
  /** Whether the journal has events that the document has not. */
  #isJournalled = false;
  #revision: Revision;
  /**
   * The state with the first `#foldedIn` events applied. Applying many at once copies the maps only
   * once.
   */
  #folded: State;
  #foldedIn = 0;
  /** The current flush, and the next one, which takes all events that are recorded meanwhile. */
  #flushing: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  #isNextLasting = false;
  /** When the oldest unsaved event was recorded, and when everything was last saved. */
  #waiting: Moment = moment();
  #written: Moment = moment();
  #closed: Promise<void> | undefined;

  constructor(lock: HeldLock, stored: StoredState | undefined, world: StateRuntime) {
    this.#world = world;
    this.#lock = lock;
    this.#isStored = stored !== undefined;
    this.takenOver = lock.takenOver;
    const { stage, target, service } = lock.key;
    const state = stored?.state ?? emptyState(stage, target, service);
    this.#document = state.lineage === undefined ? { lineage: world.newId(), ...state } : state;
    this.#folded = this.#document;
    this.#address = targetAddress(target);
    this.targetId = state.bindings.get(this.#address)?.id;
    this.#revision = stored?.revision ?? NO_DOCUMENT;
    lock.lost?.addEventListener("abort", this.#broke);
  }

  /** Whether nothing at all is known of the target. */
  get isNew(): boolean {
    return !this.#isStored && this.takenIn === undefined;
  }

  /**
   * Takes in what an earlier run could not save, and writes the history of a run that was
   * interrupted.
   */
  async recover(backend: Backend): Promise<void> {
    this.takenIn = await takeInErrored(this.#world, this.state, (events) => this.record(events));
    const { run, stage } = this.state;
    if (run === undefined) return;
    if (run.changes.size > 0) await backend.addHistory(stage, entryOfInterrupted(run));
    await this.record([{ type: "ended" }]);
  }

  /**
   * The state with all events recorded so far, saved or not. The returned object does not change
   * afterwards.
   */
  get state(): State {
    this.#folded = applyEvents(this.#folded, this.#events.slice(this.#foldedIn));
    this.#foldedIn = this.#events.length;
    return this.#folded;
  }

  /** Aborted, with a StateFailure, when nothing more can be saved. */
  get lost(): AbortSignal {
    return this.#loss.signal;
  }

  /**
   * Records events; resolves when they are durable. Calls in the same turn of the event loop share
   * a flush, and so do calls while another flush runs. Events that may be repeated without harm
   * need not be `lasting`: a power cut may lose them until the next lasting ones, or `close`.
   * @throws StateFailure; then nothing more is saved until it is closed
   */
  async record(events: readonly StateEvent[], lasting = true): Promise<void> {
    if (this.#closed !== undefined) throw new Error("a locked state was used after it was closed");
    if (events.length === 0) return;
    if (this.#saved === this.#events.length) this.#waiting = moment();
    for (const event of events) {
      this.#events.push(event);
      if (event.type === "bound" && event.address === this.#address) this.targetId = event.id;
    }
    await this.#flush(lasting);
  }

  /**
   * Called right before each send of a call that changes something. Resolves if the lock is still
   * held, and recorded events are saved or have waited only for a moment. @throws StateFailure if
   * nothing more may be sent
   */
  async confirm(): Promise<void> {
    if (this.#saved < this.#events.length && isPast(this.#waiting, FRESH))
      await (this.#next ?? this.#flushing);
    if (this.#lock.confirm !== undefined) return await this.#orLose(this.#lock.confirm());
    for (let left = CONFIRMATIONS; left > 0 && isPast(this.#written, FRESH); left -= 1)
      await this.#flush(true);
  }

  /**
   * Writes all events into the document, including those of a failed `record`, and releases the
   * lock. What cannot be saved is kept in `.tasc/errored/`. Later calls do nothing. @throws
   * StateFailure
   */
  async close(): Promise<void> {
    // After that, the end of the connection is not an error.
    this.#closed ??= this.#finish().finally(() =>
      this.#lock.lost?.removeEventListener("abort", this.#broke),
    );
    await this.#closed;
  }

  readonly #broke = (): void =>
    this.#loss.abort(lockLost(this.#lock.key, "the connection that held it broke"));

  #flush(lasting: boolean): Promise<void> {
    this.#isNextLasting ||= lasting;
    return (this.#next ??= this.#flushNext());
  }

  /** After a failed flush no other one starts, and all callers get its error. */
  async #flushNext(): Promise<void> {
    await this.#flushing;
    await setImmediate();
    const lasting = this.#isNextLasting;
    this.#isNextLasting = false;
    this.#flushing = this.#orLose(this.#save(lasting));
    this.#next = undefined;
    await this.#flushing;
  }

  /**
   * A save proves the lock at the moment when it is sent, and no later: while this process is
   * stopped, the lock can be taken away, and the answer still be waiting to be read.
   */
  async #save(lasting: boolean): Promise<void> {
    const began = moment();
    const end = this.#events.length;
    const unsaved = this.#events.slice(this.#saved);
    if (this.#lock.append === undefined || unsaved.length >= MANY) {
      this.#revision = await this.#lock.write(this.state, this.#revision);
      this.#isJournalled = false;
    } else {
      this.#isJournalled = true;
      await this.#lock.append(unsaved, this.#revision, lasting);
    }
    this.#saved = end;
    this.#waiting = moment();
    this.#written = began;
    if (end === this.#events.length && end >= MANY) {
      this.#document = this.state;
      this.#events.length = this.#saved = this.#foldedIn = 0;
    }
  }

  #orLose(work: Promise<void>): Promise<void> {
    return work.catch((error: unknown) => {
      if (error instanceof StateFailure) this.#loss.abort(error);
      throw error;
    });
  }

  async #finish(): Promise<void> {
    // Callers of `record` have already received the error. This is one more attempt.
    await (this.#next ?? this.#flushing).catch(ignoreStateFailure);
    const unsaved = this.#events.slice(this.#saved);
    try {
      if (unsaved.length > 0 || this.#isJournalled)
        await this.#lock.write(this.state, this.#revision);
    } catch (error) {
      await this.#lock.unlock().catch(ignoreStateFailure);
      if (!(error instanceof StateFailure) || unsaved.length === 0) throw error;
      const saved = applyEvents(this.#document, this.#events.slice(0, this.#saved));
      const file = await writeErrored(this.#world, saved, unsaved);
      const { problem } = error;
      if (!("reason" in problem)) throw error;
      const kept = `What could not be saved is in ${file}; the next run takes it in, so keep that file where runs start from a fresh checkout`;
      throw new StateFailure({
        ...problem,
        reason: `${problem.reason.replace(/\.$/, "")}. ${kept}`,
      });
    }
    await this.#lock.unlock();
  }
}

/**
 * Confirms locks, right before each call that changes something. @param path
 * `/apiKey/v3/test-targets/ID/…`; a path without an id creates a target. @throws StateFailure if
 * the call must not be sent
 */
export async function confirmLocks(states: readonly LockedState[], path: string): Promise<void> {
  const id = decodeURIComponent(path.split("/", 5)[4] ?? "");
  const own = states.find(({ targetId }) => targetId === id);
  await (own?.confirm() ?? Promise.all(states.map((one) => one.confirm())));
}

function ignoreStateFailure(error: unknown): void {
  if (!(error instanceof StateFailure)) throw error;
}
