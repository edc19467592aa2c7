import { hash } from "node:crypto";
import { appendFileSync } from "node:fs";
import { type FileHandle, readdir, rename, truncate } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type JsonObject, jsonIn } from "../model/json.ts";
import { isCount, isRecord, isText } from "../model/shape.ts";
import { type State, type StateEvent, areStateEvents } from "../model/state.ts";
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
import { checkKey, formatDocument, isDocumentKey, readEach, storedState } from "./document.ts";
import {
  absent,
  fileName,
  makeFolder,
  openForAppend,
  readIfThere,
  removeFile,
  replaceFile,
  syncFolder,
} from "./files.ts";
import { createLockInfo, forceLock, readLock, removeLock, takeLock } from "./lock.ts";
import { StateFailure, attempt, lockLost, locked, problemOf } from "./problem.ts";

/**
 * Size in bytes after which a stage's history continues in a new file. The previous file is kept.
 */
const HISTORY_CAP = 1024 * 1024;

/** Maximum number of files read at once: the bytes of each stay in memory until it is parsed. */
const FILES_AT_ONCE = 4;

/** Minimum time between two checks of the lock, in milliseconds. */
const LOOK_EVERY = 100;

/**
 * Keeps documents as files of the project: STAGE/TARGET.json, with a lock and, during an apply, a
 * journal next to it.
 */
export class LocalBackend implements Backend {
  readonly #root: string;
  /**
   * With the default path, outside of the documents' folder, which people keep in git. With another
   * path, inside it.
   */
  readonly #historyFolder: string;
  readonly #world: StateRuntime;
  /**
   * By path, what was read last. An apply reads its documents without a lock, and again under it,
   * where they are nearly always the same: parsing those of 10,000 test cases takes 50 ms.
   */
  readonly #known = new Map<string, StoredState>();

  constructor(config: LocalConfig, world: StateRuntime) {
    const inProject = (path: string) => resolve(world.projectFolder, path);
    this.#root = inProject(config.path);
    const isUsual = this.#root === inProject(STATE_FOLDER);
    this.#historyFolder = isUsual ? inProject(".tasc/history") : join(this.#root, ".history");
    this.#world = world;
  }

  async readAll(keys: readonly DocumentKey[]): Promise<ReadonlyMap<string, StoredState>> {
    const readOne = async (key: DocumentKey) => {
      const paths = pathsOf(this.#root, key);
      return await attempt(paths.document, async () => {
        const files = await readFiles(paths, key);
        const known = this.#known.get(paths.document);
        if (files.events === undefined && known?.revision === files.revision) return known;
        const stored = storedState(files, key, paths.document);
        if (stored?.journalled === false) this.#known.set(paths.document, stored);
        return stored;
      });
    };
    return await readEach(keys, this.#world.clock, readOne, FILES_AT_ONCE);
  }

  async list(stage: string): Promise<readonly string[]> {
    const folder = join(this.#root, fileName(stage));
    return await attempt(folder, async () => {
      const files = (await readdir(folder).catch(absent)) ?? [];
      return [...new Set(files.flatMap((file) => targetOf(file) ?? []))].toSorted();
    });
  }

  async lock(key: DocumentKey, info: LockInfo): Promise<HeldLock> {
    const paths = pathsOf(this.#root, key);
    return await attempt(paths.lock, async () => {
      await makeFolder(paths.folder, this.#world.projectFolder);
      const { taken, other } = await takeLock(paths.lock, info, this.#world.processes);
      if (taken) return new LocalLock(key, paths, info, this.#world, other);
      throw locked(key, other);
    });
  }

  async holder(key: StateKey): Promise<LockInfo | undefined> {
    const { lock } = pathsOf(this.#root, key);
    return await attempt(lock, () => Promise.resolve(readLock(lock)));
  }

  async forceUnlock(key: StateKey, id?: string): Promise<LockInfo | undefined> {
    const { lock } = pathsOf(this.#root, key);
    const info = createLockInfo(this.#world, "tasc state unlock");
    return await attempt(lock, async () => {
      const holder = readLock(lock);
      if (holder !== undefined && id !== undefined && holder.id !== id) throw locked(key, holder);
      // A file that is not a lock of ours has no id to check.
      if (holder === undefined) await removeFile(lock);
      else await forceLock(lock, holder, info, this.#world.processes);
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
      // If another run is about to rename the file, this one only appends, and the file grows a
      // little more.
      try {
        const size = (await readIfThere(current))?.length ?? 0;
        if (guarded.taken && size > HISTORY_CAP) await rename(current, before);
        await appendLine(current, "any", `${JSON.stringify(entry)}\n`);
      } finally {
        if (guarded.taken) await removeLock(guard, info, info, processes);
      }
    });
  }

  async history(stage: string): Promise<readonly unknown[]> {
    const [before, current] = this.#historyFiles(stage);
    return await attempt(current, async () => {
      const bytes = [await readIfThere(before), await readIfThere(current)];
      return bytes.flatMap((one) => one?.toString("utf8").split("\n") ?? []).map(jsonIn);
    });
  }

  async close(): Promise<void> {}

  #historyFiles(stage: string): readonly [before: string, current: string] {
    const path = join(this.#historyFolder, fileName(stage));
    return [`${path}.1.jsonl`, `${path}.jsonl`];
  }
}

/** A held lock of a document, and the journal that is written under it. */
class LocalLock implements HeldLock {
  readonly key: DocumentKey;
  readonly takenOver?: LockInfo;
  readonly #paths: StatePaths;
  readonly #info: LockInfo;
  readonly #world: StateRuntime;
  #journal: FileHandle | undefined;
  #lookedAt = -Infinity;

  constructor(
    key: DocumentKey,
    paths: StatePaths,
    info: LockInfo,
    world: StateRuntime,
    takenOver: LockInfo | undefined,
  ) {
    this.key = key;
    this.#paths = paths;
    this.#info = info;
    this.#world = world;
    if (takenOver !== undefined) this.takenOver = takenOver;
  }

  async write(state: State, base: Revision): Promise<Revision> {
    const paths = this.#paths;
    return await attempt(paths.document, async () => {
      await this.#closeJournal();
      const ready = await this.#readUnderLock(base);
      const bytes = Buffer.from(formatDocument(state));
      const revision = revisionOf(bytes);
      if (ready.journal !== undefined) {
        // After its last valid line, the journal says which revision is about to contain its
        // events.
        await truncate(paths.journal, ready.journal.soundBytes);
        await appendLine(paths.journal, "old", journalLine({ folded: revision }));
      }
      this.#checkLock();
      await replaceFile(paths.document, bytes);
      await removeFile(paths.journal);
      return revision;
    });
  }

  async remove(base: Revision): Promise<void> {
    const paths = this.#paths;
    await attempt(paths.document, async () => {
      await this.#closeJournal();
      await this.#readUnderLock(base);
      // A journal without its document would be refused, so it goes first.
      await removeFile(paths.journal);
      this.#checkLock();
      await removeFile(paths.document);
      await syncFolder(paths.folder);
    });
  }

  /**
   * The lock is checked after the flush: if it is still ours, no other run can have folded the
   * journal without these events. Events that need not last may be missing there, so for them the
   * lock is only checked from time to time.
   */
  async append(events: readonly StateEvent[], base: Revision, lasting: boolean): Promise<void> {
    await attempt(this.#paths.journal, async () => {
      const opened = this.#journal ?? (await this.#openJournal(base));
      // From here on, the operating system has the events, even if this process ends.
      appendFileSync(opened.fd, journalLine(events));
      if (!lasting) return this.#checkIfDue();
      await opened.datasync();
      this.#checkLock();
    });
  }

  async confirm(): Promise<void> {
    await attempt(this.#paths.lock, async () => this.#checkIfDue());
  }

  async unlock(): Promise<void> {
    await attempt(this.#paths.lock, async () => {
      await this.#closeJournal();
      await removeLock(this.#paths.lock, this.#info, this.#info, this.#world.processes);
    });
  }

  #checkLock(): void {
    this.#lookedAt = this.#world.clock.now().getTime();
    const holder = readLock(this.#paths.lock);
    if (holder?.id === this.#info.id) return;
    throw lockLost(
      this.key,
      holder === undefined ? "its file is gone" : `${holder.who} holds it since ${holder.since}`,
    );
  }

  /** Checks the lock if the last check is too old, or if the clock was set back. */
  #checkIfDue(): void {
    const elapsed = this.#world.clock.now().getTime() - this.#lookedAt;
    if (elapsed < 0 || elapsed >= LOOK_EVERY) this.#checkLock();
  }

  async #readUnderLock(base: Revision) {
    this.#checkLock();
    const files = await readFiles(this.#paths, this.key);
    if (files.revision === base) return files;
    throw this.#changed();
  }

  #changed(): StateFailure {
    return new StateFailure({ kind: "changed", where: this.#paths.document });
  }

  async #openJournal(base: Revision): Promise<FileHandle> {
    const { journal, folder } = this.#paths;
    if ((await this.#readUnderLock(base)).events !== undefined) throw this.#changed();
    await removeFile(journal);
    const opened = await openForAppend(journal, "new");
    this.#journal = opened;
    const { stage, target, service } = this.key;
    const header = { format: FORMAT, version: VERSION, stage, target, service, base };
    await flush(opened, journalLine(header));
    await syncFolder(folder);
    return opened;
  }

  async #closeJournal(): Promise<void> {
    const closing = this.#journal;
    this.#journal = undefined;
    await closing?.close();
  }
}

/**
 * Appends a line durably. A short text is written faster synchronously, but waiting for the disk is
 * not.
 */
async function flush(file: FileHandle, line: string): Promise<void> {
  appendFileSync(file.fd, line);
  await file.datasync();
}

async function appendLine(path: string, which: "old" | "any", line: string): Promise<void> {
  const file = await openForAppend(path, which);
  try {
    await flush(file, line);
  } finally {
    await file.close();
  }
}

/**
 * Returns a document's digest. A counter in it would conflict in every merge, and not show what git
 * replaced.
 */
export function revisionOf(bytes: Uint8Array | undefined): Revision {
  return bytes === undefined ? NO_DOCUMENT : hash("sha256", bytes, "base64url");
}

const NOTHING = Buffer.alloc(0);
/** Maximum number of attempts of a reader without a lock. */
const LOOKS = 20;

/**
 * Reads a document and its journal; needs no lock. Reads the journal first: if a session ends in
 * between, the journal does not match the document, and both are read again. @param read replaced
 * by tests, to make changes between two reads
 */
export async function readFiles(paths: StatePaths, key: DocumentKey, read = readIfThere) {
  let journalBytes = await read(paths.journal);
  for (let look = 1; look <= LOOKS; look += 1) {
    const document = await read(paths.document);
    try {
      return fit(document, journalBytes, key, paths);
    } catch (error) {
      problemOf(error, "stranded-journal");
      const again = await read(paths.journal);
      if ((again ?? NOTHING).equals(journalBytes ?? NOTHING)) throw error;
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
) {
  const revision = revisionOf(document);
  const journal = journalBytes && parseJournal(journalBytes, key, paths.journal);
  const isPending = journal !== undefined && !journal.folded.includes(revision);
  if (isPending && journal.base !== revision)
    throw new StateFailure({
      kind: "stranded-journal",
      where: paths.document,
      journal: paths.journal,
    });
  // `journal` is absent if not even its first line is complete; `events` is absent if it is already
  // folded in.
  return { document, revision, journal, events: isPending ? journal.events : undefined };
}

type StatePaths = Readonly<ReturnType<typeof pathsOf>>;

const DOCUMENT = ".json";
const JOURNAL = ".journal";

export function pathsOf(root: string, { stage, target }: StateKey) {
  const folder = join(root, fileName(stage));
  const base = join(folder, fileName(target));
  return {
    folder,
    document: `${base}${DOCUMENT}`,
    journal: `${base}${JOURNAL}`,
    lock: `${base}.lock`,
  };
}

/** Returns the target of a file name; `undefined` for locks and files that are not ours. */
export function targetOf(file: string): string | undefined {
  const ending = [DOCUMENT, JOURNAL].find((one) => file.endsWith(one));
  if (ending === undefined) return undefined;
  const name = file.slice(0, -ending.length);
  try {
    const target = decodeURIComponent(name);
    return fileName(target) === name ? target : undefined;
  } catch {
    return undefined;
  }
}

/*
 * A journal is JSON lines. The first line says which revision of which document it continues. Each further line has the
 * events that were appended together. When the journal has become part of the document, the last line is the resulting
 * revision, so that a crash before the journal is removed does not fold it twice.
 *
 * Lines are written one after another. A crash may damage the last one, which was not reported as durable: it is dropped. A
 * damaged line before it is refused.
 */

const FORMAT = "tasc-journal";
/** Since version 2, each line ends with a checksum. */
const VERSION = 2;
const NEWLINE = 0x0a;

/** Returns a line: JSON, a tab (which compact JSON never contains), and a checksum. */
export function journalLine(value: object): string {
  const text = JSON.stringify(value);
  return `${text}\t${checksum(text)}\n`;
}

function checksum(text: string): string {
  return hash("sha256", text, "base64url").slice(0, 12);
}

/** Parses a line; `undefined` if it is damaged. Lines of version 1 have no checksum. */
function valueOfLine(text: string): unknown {
  const tab = text.lastIndexOf("\t");
  if (tab < 0) return jsonIn(text);
  const json = text.slice(0, tab);
  return text.slice(tab + 1) === checksum(json) ? jsonIn(json) : undefined;
}

/** A line that was written completely: if it is invalid, that is not due to a crash. */
const WHOLE = /\t[\w-]{12}$/;

/** Parses a journal; `undefined` if not even its first line is complete. */
function parseJournal(bytes: Buffer, expected: DocumentKey, where: string) {
  const end = bytes.lastIndexOf(NEWLINE) + 1;
  const texts = bytes.toString("utf8", 0, end).split("\n").slice(0, -1);
  const last = texts.at(-1) ?? "";
  const isCut = valueOfLine(last) === undefined && !WHOLE.test(last);
  const [header, ...rest] = isCut ? texts.slice(0, -1) : texts;
  if (header === undefined) return undefined;
  const damaged = (line: number) =>
    new StateFailure({
      kind: "corrupt",
      where,
      reason: `line ${line} is not in the expected format`,
    });
  const found = valueOfLine(header);
  if (!isRecord(found) || found["format"] !== FORMAT) throw damaged(1);
  const { version, base } = found;
  if (isCount(version) && version > VERSION)
    throw new StateFailure({ kind: "newer", where, version, understood: VERSION });
  if (!isCount(version) || version === 0 || !isDocumentKey(found) || !isText(base))
    throw damaged(1);
  checkKey(found, expected, where);
  const events: StateEvent[] = [];
  const folded: Revision[] = [];
  for (const [at, text] of rest.entries()) {
    const value = valueOfLine(text);
    if (areStateEvents(value)) for (const event of value) events.push(event);
    else if (isRecord(value) && isText(value["folded"])) folded.push(value["folded"]);
    else throw damaged(at + 2);
  }
  // `folded`: revisions that contain the events. `soundBytes`: bytes up to the end of the last
  // valid line.
  return {
    base,
    events,
    folded,
    soundBytes: isCut ? bytes.lastIndexOf(NEWLINE, end - 2) + 1 : end,
  };
}
