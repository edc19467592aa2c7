import { createHash } from "node:crypto";
import { appendFileSync } from "node:fs";
import { type FileHandle, readdir, rename, rm, truncate } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { JsonObject } from "../model/json.ts";
import { type State, type StateEvent, emptyState } from "../model/state.ts";
import {
  type Backend,
  type DocumentKey,
  type HeldLock,
  type LockInfo,
  NO_DOCUMENT,
  type Revision,
  type StateKey,
  type StateRuntime,
  type StoredState,
} from "./backend.ts";
import { type LocalConfig, STATE_FOLDER } from "./config.ts";
import { formatDocument, parseDocument, parseJson, readWhole } from "./document.ts";
import { applyEvents } from "./events.ts";
import {
  type Journal,
  type StatePaths,
  attempt,
  eventsLine,
  fileName,
  foldedLine,
  hasCode,
  headerLine,
  makeFolder,
  openForAppend,
  parseJournal,
  pathsOf,
  readIfThere,
  readLock,
  removeLock,
  replaceFile,
  stageFolder,
  syncFolder,
  takeLock,
  targetOf,
} from "./local-files.ts";
import { createLockInfo } from "./lock.ts";
import { StateFailure, problemOf } from "./problem.ts";

/** Keeps documents as files of the project: STAGE/TARGET.json, beside it the lock and, during an apply, a journal. */
export function openLocalBackend(config: LocalConfig, world: StateRuntime): Backend {
  const root = resolve(world.projectFolder, config.path);
  // Beside the documents, which people keep in git; where these are elsewhere, with them.
  const beside = resolve(world.projectFolder, ".tasc/history");
  const historyFolder = root === resolve(world.projectFolder, STATE_FOLDER) ? beside : join(root, ".history");
  return {
    read: (key) => read(root, key, world),
    readAll: (keys) => readAll(root, keys, world),
    list: (stage) => list(root, stage),
    lock: (key, info) => lock(root, key, info, world),
    holder: (key) => holder(root, key),
    forceUnlock: (key, id) => forceUnlock(root, key, world, id),
    addHistory: (stage, entry) => addHistory(historyFiles(historyFolder, stage), entry, world),
    history: (stage) => history(historyFiles(historyFolder, stage)),
    close: async () => {},
  };
}

/** Milliseconds before a document is read again that could not be read: something may have been writing it. */
const HALF_WRITTEN = 100;

async function read(
  root: string,
  key: DocumentKey,
  { clock }: StateRuntime,
): Promise<StoredState | undefined> {
  const paths = pathsOf(root, key);
  const once = () =>
    attempt(paths.document, async () => stateOf(await readFiles(paths, key), key, paths.document));
  return await readWhole(once, clock, HALF_WRITTEN);
}

async function readAll(
  root: string,
  keys: readonly DocumentKey[],
  world: StateRuntime,
): Promise<ReadonlyMap<string, StoredState>> {
  const all = new Map<string, StoredState>();
  for (const key of keys) {
    const stored = await read(root, key, world);
    if (stored !== undefined) all.set(key.target, stored);
  }
  return all;
}

async function list(root: string, stage: string): Promise<readonly string[]> {
  const folder = stageFolder(root, stage);
  return await attempt(folder, async () => {
    const targets = (await filesIn(folder)).map(targetOf).filter((target) => target !== undefined);
    return [...new Set(targets)].toSorted();
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

async function lock(root: string, key: DocumentKey, info: LockInfo, world: StateRuntime): Promise<HeldLock> {
  const paths = pathsOf(root, key);
  return await attempt(paths.lock, async () => {
    await makeFolder(paths.folder, world.projectFolder);
    const taking = await takeLock(paths.lock, info, world.processes);
    if (taking.taken) return new LocalLock(key, paths, info, world, taking.from);
    const { stage, target } = key;
    throw new StateFailure({ kind: "locked", key: { stage, target }, ...holderOf(taking.holder) });
  });
}

function holderOf(holder: LockInfo | undefined): { readonly holder?: LockInfo } {
  return holder === undefined ? {} : { holder };
}

async function holder(root: string, key: StateKey): Promise<LockInfo | undefined> {
  const { lock: path } = pathsOf(root, key);
  return await attempt(path, async () => readLock(path));
}

async function forceUnlock(
  root: string,
  { stage, target }: StateKey,
  world: StateRuntime,
  id: string | undefined,
): Promise<LockInfo | undefined> {
  const key = { stage, target };
  const paths = pathsOf(root, key);
  return await attempt(paths.lock, async () => {
    const found = readLock(paths.lock);
    if (found !== undefined && id !== undefined && found.id !== id)
      throw new StateFailure({ kind: "locked", key, holder: found });
    // A file that is not a lock of ours has no id to make sure of.
    if (found === undefined) await rm(paths.lock, { force: true });
    else await removeLock(paths.lock, found, createLockInfo(world, "tasc state unlock"), world.processes);
    return found;
  });
}

/** Bytes after which a stage's history goes on in a new file; the one before it is kept. */
const HISTORY_CAP = 1024 * 1024;

async function addHistory(
  { folder, current, before, lock: guard }: HistoryFiles,
  entry: JsonObject,
  world: StateRuntime,
): Promise<void> {
  return await attempt(current, async () => {
    await makeFolder(folder, world.projectFolder);
    const info = createLockInfo(world, "tasc history");
    const guarded = await takeLock(guard, info, world.processes);
    const size = (await readIfThere(current))?.length ?? 0;
    // Where another run is about to do it, the file grows a little further.
    if (guarded.taken && size > HISTORY_CAP) await rename(current, before);
    const file = await openForAppend(current, "any");
    try {
      await flush(file, `${JSON.stringify(entry)}\n`);
    } finally {
      await file.close();
      if (guarded.taken) await removeLock(guard, info, info, world.processes);
    }
  });
}

async function history({ current, before }: HistoryFiles): Promise<readonly unknown[]> {
  return await attempt(current, async () => {
    const bytes = [await readIfThere(before), await readIfThere(current)];
    const lines = bytes.flatMap((one) => one?.toString("utf8").split("\n") ?? []);
    return lines.map(parseJson);
  });
}

interface HistoryFiles {
  readonly folder: string;
  readonly current: string;
  readonly before: string;
  readonly lock: string;
}

function historyFiles(folder: string, stage: string): HistoryFiles {
  const at = (ending: string) => join(folder, `${fileName(stage)}${ending}`);
  return { folder, current: at(".jsonl"), before: at(".1.jsonl"), lock: at(".jsonl.lock") };
}

/** Milliseconds between two looks at the lock, where each answer of the service would give a reason for one. */
const LOOK_EVERY = 100;

/** A document's lock in hand, and what may be done under it. */
class LocalLock implements HeldLock {
  readonly info: LockInfo;
  readonly takenOver?: LockInfo;
  readonly #key: DocumentKey;
  readonly #paths: StatePaths;
  readonly #world: Pick<StateRuntime, "clock" | "processes">;
  #journal: FileHandle | undefined;
  /** Milliseconds since 1970. */
  #lookedAt = -Infinity;

  constructor(
    key: DocumentKey,
    paths: StatePaths,
    info: LockInfo,
    world: Pick<StateRuntime, "clock" | "processes">,
    takenOver: LockInfo | undefined,
  ) {
    this.#key = key;
    this.#paths = paths;
    this.info = info;
    this.#world = world;
    if (takenOver !== undefined) this.takenOver = takenOver;
  }

  async write(state: State, base: Revision): Promise<Revision> {
    return await attempt(this.#paths.document, async () => {
      await this.#closeJournal();
      const ready = await this.#readUnderLock(base);
      const bytes = Buffer.from(formatDocument(state));
      const revision = revisionOf(bytes);
      await this.#markJournal(ready.journal, revision);
      this.#checkLock();
      await replaceFile(this.#paths.document, bytes);
      await rm(this.#paths.journal, { force: true });
      return revision;
    });
  }

  /**
   * The lock is looked at after the flush: if it is still ours then, nobody can have folded the journal without
   * these events. What need not last may be missing there, so for that it is looked at from time to time only.
   */
  readonly append = async (events: readonly StateEvent[], base: Revision, lasting: boolean): Promise<void> =>
    await attempt(this.#paths.journal, async () => {
      const opened = await this.#openJournal(base);
      if (lasting) await flush(opened, eventsLine(events));
      // The system has it, and keeps it whatever becomes of this process.
      else appendFileSync(opened.fd, eventsLine(events));
      if (lasting || this.#isLookDue()) this.#checkLock();
    });

  readonly confirm = async (): Promise<void> =>
    await attempt(this.#paths.lock, async () => {
      if (this.#isLookDue()) this.#checkLock();
    });

  async unlock(): Promise<void> {
    return await attempt(this.#paths.lock, async () => {
      await this.#closeJournal();
      await removeLock(this.#paths.lock, this.info, this.info, this.#world.processes);
    });
  }

  async #openJournal(base: Revision): Promise<FileHandle> {
    if (this.#journal !== undefined) return this.#journal;
    const files = await this.#readUnderLock(base);
    if (files.journalled === "pending")
      throw new StateFailure({ kind: "changed", where: this.#paths.document });
    await rm(this.#paths.journal, { force: true });
    const journal = await openForAppend(this.#paths.journal, "new");
    this.#journal = journal;
    await flush(journal, headerLine(this.#key, base));
    await syncFolder(this.#paths.folder);
    return journal;
  }

  async #readUnderLock(base: Revision): Promise<StoredFiles> {
    this.#checkLock();
    const files = await readFiles(this.#paths, this.#key);
    if (files.revision === base) return files;
    throw new StateFailure({ kind: "changed", where: this.#paths.document });
  }

  /** Notes in the journal, after its last sound line, which revision is about to have its events in it. */
  async #markJournal(journal: Journal | undefined, revision: Revision): Promise<void> {
    if (journal === undefined) return;
    await truncate(this.#paths.journal, journal.soundBytes);
    const file = await openForAppend(this.#paths.journal, "old");
    try {
      await flush(file, foldedLine(revision));
    } finally {
      await file.close();
    }
  }

  async #closeJournal(): Promise<void> {
    const journal = this.#journal;
    this.#journal = undefined;
    await journal?.close();
  }

  #isLookDue(): boolean {
    const elapsed = this.#world.clock.now().getTime() - this.#lookedAt;
    // A clock that was set back tells nothing.
    return elapsed < 0 || elapsed >= LOOK_EVERY;
  }

  /** @throws StateFailure if the lock is not ours any more */
  #checkLock(): void {
    this.#lookedAt = this.#world.clock.now().getTime();
    const holder = readLock(this.#paths.lock);
    if (holder?.id === this.info.id) return;
    const { stage, target } = this.#key;
    const reason = holder === undefined ? "its file is gone" : `${holder.who} holds it since ${holder.since}`;
    throw new StateFailure({ kind: "lock-lost", key: { stage, target }, reason });
  }
}

/** Handing a short text to the system takes less time than asking another thread to; waiting for the disk does not. */
async function flush(file: FileHandle, text: string): Promise<void> {
  appendFileSync(file.fd, text);
  await file.datasync();
}

/** The two files of a document as they were at one moment, and how they belong together. */
interface StoredFiles {
  readonly document: Buffer | undefined;
  readonly revision: Revision;
  /** Absent if there is none, or it got no further than its first line. */
  readonly journal: Journal | undefined;
  /** `pending`: its events are yet to be folded in. `folded`: they are part of the document already. */
  readonly journalled: "pending" | "folded" | "no";
}

/**
 * A document's revision is its digest, rather than a counter inside it: a counter would conflict in every merge,
 * and a document that git replaced is another one whatever it counts.
 */
export function revisionOf(bytes: Uint8Array | undefined): Revision {
  return bytes === undefined ? NO_DOCUMENT : createHash("sha256").update(bytes).digest("base64url");
}

/** Times that a reader without a lock looks again when a writer replaced files while it was looking. */
const LOOKS = 20;

/**
 * Reads both files, without a lock if need be. The journal is read first: a session that ends in between then
 * shows as a journal that does not fit the document, and whoever sees that looks again.
 *
 * @param read a file; tests let things happen between one reading and the next
 */
export async function readFiles(
  paths: StatePaths,
  key: DocumentKey,
  read = readIfThere,
): Promise<StoredFiles> {
  let journalBytes = await read(paths.journal);
  for (let look = 1; look <= LOOKS; look += 1) {
    const document = await read(paths.document);
    try {
      return fit(document, journalBytes, key, paths);
    } catch (error) {
      problemOf(error, "stranded-journal");
      const again = await read(paths.journal);
      if (sameBytes(again, journalBytes)) throw error;
      journalBytes = again;
    }
  }
  throw new StateFailure({ kind: "changed", where: paths.document });
}

function fit(
  document: Buffer | undefined,
  journalBytes: Buffer | undefined,
  key: DocumentKey,
  paths: StatePaths,
): StoredFiles {
  const revision = revisionOf(document);
  if (journalBytes === undefined) return { document, revision, journal: undefined, journalled: "no" };
  const journal = parseJournal(journalBytes, key, paths.journal);
  if (journal === undefined) return { document, revision, journal, journalled: "folded" };
  if (journal.folded.includes(revision)) return { document, revision, journal, journalled: "folded" };
  if (journal.base === revision) return { document, revision, journal, journalled: "pending" };
  throw new StateFailure({ kind: "stranded-journal", where: paths.document, journal: paths.journal });
}

function sameBytes(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.equals(b);
}

/** The state that the files amount to. */
export function stateOf(files: StoredFiles, key: DocumentKey, where: string): StoredState | undefined {
  const { document, revision, journal } = files;
  const journalled = files.journalled === "pending";
  if (document === undefined && !journalled) return undefined;
  const { stage, target, service } = key;
  const below = document === undefined ? emptyState(stage, target, service) : parse(document, key, where);
  return { state: journalled ? applyEvents(below, journal?.events ?? []) : below, revision, journalled };
}

function parse(document: Buffer, key: DocumentKey, where: string): State {
  const text = decode(document);
  if (text === undefined) throw new StateFailure({ kind: "corrupt", where, reason: "it is not UTF-8 text" });
  return parseDocument(text, key, where).state;
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
