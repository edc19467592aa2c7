import { createHash } from "node:crypto";
import { appendFileSync } from "node:fs";
import { type FileHandle, readdir, rename, rm, truncate } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type JsonObject, defined } from "../model/json.ts";
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
  absent,
  fileName,
  headerOf,
  journalLine,
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
import { StateFailure, attempt, problemOf } from "./problem.ts";

/** Milliseconds before a document is read again that could not be read: something may have been writing it. */
const HALF_WRITTEN = 100;

/** Bytes after which a stage's history goes on in a new file; the one before it is kept. */
const HISTORY_CAP = 1024 * 1024;

/** Keeps documents as files of the project: STAGE/TARGET.json, beside it the lock and, during an apply, a journal. */
export class LocalBackend implements Backend {
  readonly #root: string;
  /** Beside the documents, which people keep in git; where these are elsewhere, with them. */
  readonly #historyFolder: string;
  readonly #world: StateRuntime;

  constructor(config: LocalConfig, world: StateRuntime) {
    const inProject = (path: string) => resolve(world.projectFolder, path);
    this.#root = inProject(config.path);
    const isUsual = this.#root === inProject(STATE_FOLDER);
    this.#historyFolder = isUsual ? inProject(".tasc/history") : join(this.#root, ".history");
    this.#world = world;
  }

  async read(key: DocumentKey): Promise<StoredState | undefined> {
    const paths = pathsOf(this.#root, key);
    const once = () =>
      attempt(paths.document, async () => stateOf(await readFiles(paths, key), key, paths.document));
    return await readWhole(once, this.#world.clock, HALF_WRITTEN);
  }

  async readAll(keys: readonly DocumentKey[]): Promise<ReadonlyMap<string, StoredState>> {
    const all = new Map<string, StoredState>();
    for (const key of keys) {
      const stored = await this.read(key);
      if (stored !== undefined) all.set(key.target, stored);
    }
    return all;
  }

  async list(stage: string): Promise<readonly string[]> {
    const folder = stageFolder(this.#root, stage);
    return await attempt(folder, async () => {
      const files = (await readdir(folder).catch(absent)) ?? [];
      return [...new Set(files.flatMap((file) => targetOf(file) ?? []))].toSorted();
    });
  }

  async lock(key: DocumentKey, info: LockInfo): Promise<HeldLock> {
    const { processes, projectFolder } = this.#world;
    const paths = pathsOf(this.#root, key);
    return await attempt(paths.lock, async () => {
      await makeFolder(paths.folder, projectFolder);
      const taking = await takeLock(paths.lock, info, processes);
      if (taking.taken) return new LocalLock(key, paths, info, this.#world, taking.from);
      const { holder } = taking;
      const { stage, target } = key;
      throw new StateFailure({ kind: "locked", key: { stage, target }, ...defined({ holder }) });
    });
  }

  async holder(key: StateKey): Promise<LockInfo | undefined> {
    const { lock } = pathsOf(this.#root, key);
    return await attempt(lock, () => Promise.resolve(readLock(lock)));
  }

  async forceUnlock({ stage, target }: StateKey, id?: string): Promise<LockInfo | undefined> {
    const key = { stage, target };
    const { lock } = pathsOf(this.#root, key);
    return await attempt(lock, async () => {
      const holder = readLock(lock);
      if (holder !== undefined && id !== undefined && holder.id !== id)
        throw new StateFailure({ kind: "locked", key, holder });
      // A file that is not a lock of ours has no id to make sure of.
      if (holder === undefined) await rm(lock, { force: true });
      else
        await removeLock(
          lock,
          holder,
          createLockInfo(this.#world, "tasc state unlock"),
          this.#world.processes,
        );
      return holder;
    });
  }

  async addHistory(stage: string, entry: JsonObject): Promise<void> {
    const { processes, projectFolder } = this.#world;
    const [before, current] = this.#historyFiles(stage);
    return await attempt(current, async () => {
      await makeFolder(this.#historyFolder, projectFolder);
      const info = createLockInfo(this.#world, "tasc history");
      const guard = `${current}.lock`;
      const guarded = await takeLock(guard, info, processes);
      const size = (await readIfThere(current))?.length ?? 0;
      // Where another run is about to do it, the file grows a little further.
      if (guarded.taken && size > HISTORY_CAP) await rename(current, before);
      const file = await openForAppend(current, "any");
      try {
        appendFileSync(file.fd, `${JSON.stringify(entry)}\n`);
        await file.datasync();
      } finally {
        await file.close();
        if (guarded.taken) await removeLock(guard, info, info, processes);
      }
    });
  }

  async history(stage: string): Promise<readonly unknown[]> {
    const [before, current] = this.#historyFiles(stage);
    return await attempt(current, async () => {
      const bytes = [await readIfThere(before), await readIfThere(current)];
      return bytes.flatMap((one) => one?.toString("utf8").split("\n") ?? []).map(parseJson);
    });
  }

  async close(): Promise<void> {}

  #historyFiles(stage: string): readonly [before: string, current: string] {
    const path = join(this.#historyFolder, fileName(stage));
    return [`${path}.1.jsonl`, `${path}.jsonl`];
  }
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
      if (lasting) await flush(opened, events);
      // The system has it, and keeps it whatever becomes of this process.
      else appendFileSync(opened.fd, journalLine(events));
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
    if (files.isPending) throw new StateFailure({ kind: "changed", where: this.#paths.document });
    await rm(this.#paths.journal, { force: true });
    const journal = await openForAppend(this.#paths.journal, "new");
    this.#journal = journal;
    await flush(journal, headerOf(this.#key, base));
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
      await flush(file, { folded: revision });
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
async function flush(journal: FileHandle, line: object): Promise<void> {
  appendFileSync(journal.fd, journalLine(line));
  await journal.datasync();
}

/** The two files of a document as they were at one moment, and how they belong together. */
interface StoredFiles {
  /** The document. */
  readonly text: string | undefined;
  readonly revision: Revision;
  /** Absent if there is none, or it got no further than its first line. */
  readonly journal: Journal | undefined;
  /** Whether its events are yet to be folded in; else they are part of the document already. */
  readonly isPending: boolean;
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
  // The bytes are let go before the text is parsed: of a large target both would take as much as all else.
  const text = document && textOf(document, paths.document);
  const journal = journalBytes && parseJournal(journalBytes, key, paths.journal);
  if (journal === undefined || journal.folded.includes(revision))
    return { text, revision, journal, isPending: false };
  if (journal.base === revision) return { text, revision, journal, isPending: true };
  throw new StateFailure({ kind: "stranded-journal", where: paths.document, journal: paths.journal });
}

function sameBytes(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.equals(b);
}

/** The state that the files amount to. */
export function stateOf(files: StoredFiles, key: DocumentKey, where: string): StoredState | undefined {
  const { text, revision, journal, isPending } = files;
  if (text === undefined && !isPending) return undefined;
  const below =
    text === undefined
      ? emptyState(key.stage, key.target, key.service)
      : parseDocument(text, key, where).state;
  const state = isPending ? applyEvents(below, journal?.events ?? []) : below;
  return { state, revision, journalled: isPending };
}

function textOf(document: Buffer, where: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(document);
  } catch {
    throw new StateFailure({ kind: "corrupt", where, reason: "it is not UTF-8 text" });
  }
}
