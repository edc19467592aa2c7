import { createHash } from "node:crypto";
import { appendFileSync, readFileSync } from "node:fs";
import {
  type FileHandle,
  link,
  mkdir,
  open,
  readFile,
  readdir,
  rename,
  rm,
  truncate,
  writeFile,
} from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type State, type StateEvent, emptyState } from "../model/state.ts";
import { type Backend, type HeldLock, NO_DOCUMENT, type Revision, type StoredState } from "./backend.ts";
import type { LocalConfig } from "./config.ts";
import { applyEvents, areStateEvents, formatDocument, parseDocument } from "./document.ts";
import {
  type DocumentKey,
  type LockInfo,
  type Processes,
  type Result,
  type StateKey,
  type StateProblem,
  type StateWorld,
  createLockInfo,
  isCount,
  isGone,
  isLockInfo,
  isRecord,
  isText,
  parseJson,
  refusal,
  sameService,
  success,
} from "./problem.ts";

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

/**
 * Errors of the file system become a problem; anything else is a mistake of ours and stays an exception.
 *
 * @param where the file that it is about, for people.
 */
async function attempt<T>(where: string, work: () => Promise<Result<T>>): Promise<Result<T>> {
  try {
    return await work();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return refusal({ kind: "failed", where, reason: error.message });
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error && "code" in error;
}

/** Only who runs tasc may read state: it tells what a company tests, and where. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** What a file holds, or `undefined` if there is none. @throws errors of the file system */
export async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** The same at once, for a short file that is looked at after every flush. @throws errors of the file system */
function readIfThereNow(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Makes the folder and those above it. */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: FOLDER_MODE });
}

/**
 * Replaces a file whole and for good: after a crash at any point there is either the old text or the new one, and
 * the new one once this resolves. The temporary name is fixed, so that what a crash leaves is overwritten by the
 * next try; one writer at a time is the caller's care.
 */
async function replaceFile(path: string, text: string | Uint8Array): Promise<void> {
  const temporary = `${path}.tmp`;
  const file = await open(temporary, "w", FILE_MODE);
  await writeDurably(file, text);
  await rename(temporary, path);
  await syncFolder(dirname(path));
}

/** For additions at the end; makes the file if it is not there. */
async function openForAppend(path: string): Promise<FileHandle> {
  return await open(path, "a", FILE_MODE);
}

async function writeDurably(file: FileHandle, text: string | Uint8Array): Promise<void> {
  try {
    await file.chmod(FILE_MODE);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes the names in a folder durable. Some systems cannot open folders; they keep names in order themselves. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return (
    error instanceof Error && "code" in error && typeof error.code === "string" && codes.includes(error.code)
  );
}

/** Milliseconds between two looks at the lock, where each answer of the service would give a reason for one. */
const LOOK_EVERY = 100;

/** A document's lock in hand, and what may be done under it. */
class LocalLock implements HeldLock {
  readonly info: LockInfo;
  readonly takenOver?: LockInfo;
  readonly #key: DocumentKey;
  readonly #paths: StatePaths;
  readonly #world: Pick<StateWorld, "clock" | "processes">;
  #journal: FileHandle | undefined;
  /** Milliseconds since 1970. */
  #lookedAt = -Infinity;

  constructor(
    key: DocumentKey,
    paths: StatePaths,
    info: LockInfo,
    world: Pick<StateWorld, "clock" | "processes">,
    takenOver: LockInfo | undefined,
  ) {
    this.#key = key;
    this.#paths = paths;
    this.info = info;
    this.#world = world;
    if (takenOver !== undefined) this.takenOver = takenOver;
  }

  async write(state: State, base: Revision): Promise<Result<Revision>> {
    return await attempt(this.#paths.document, async () => {
      await this.#closeJournal();
      const ready = await this.#readUnderLock(base);
      if (!ready.ok) return ready;
      const bytes = Buffer.from(formatDocument(state));
      const revision = revisionOf(bytes);
      await this.#markJournal(ready.value.journal, revision);
      const lost = this.#lossOfLock();
      if (lost !== undefined) return refusal(lost);
      await replaceFile(this.#paths.document, bytes);
      await rm(this.#paths.journal, { force: true });
      return success(revision);
    });
  }

  /**
   * The lock is looked at after the flush: if it is still ours then, nobody can have folded the journal without
   * these events. What need not last may be missing there, so for that it is looked at from time to time only.
   */
  readonly append = async (
    events: readonly StateEvent[],
    base: Revision,
    lasting: boolean,
  ): Promise<Result<void>> =>
    await attempt(this.#paths.journal, async () => {
      const opened = await this.#openJournal(base);
      if (!opened.ok) return opened;
      if (lasting) await flush(opened.value, eventsLine(events));
      // The system has it, and keeps it whatever becomes of this process.
      else appendFileSync(opened.value.fd, eventsLine(events));
      const lost = lasting || this.#isLookDue() ? this.#lossOfLock() : undefined;
      return lost === undefined ? success(undefined) : refusal(lost);
    });

  async unlock(): Promise<Result<void>> {
    return await attempt(this.#paths.lock, async () => {
      await this.#closeJournal();
      await removeLock(this.#paths.lock, this.info, this.info, this.#world.processes);
      return success(undefined);
    });
  }

  async #openJournal(base: Revision): Promise<Result<FileHandle>> {
    if (this.#journal !== undefined) return success(this.#journal);
    const files = await this.#readUnderLock(base);
    if (!files.ok) return files;
    if (files.value.journalled === "pending")
      return refusal({ kind: "changed", where: this.#paths.document });
    await rm(this.#paths.journal, { force: true });
    const journal = await openForAppend(this.#paths.journal);
    this.#journal = journal;
    await flush(journal, headerLine(this.#key, base));
    await syncFolder(this.#paths.folder);
    return success(journal);
  }

  async #readUnderLock(base: Revision): Promise<Result<StoredFiles>> {
    const lost = this.#lossOfLock();
    if (lost !== undefined) return refusal(lost);
    const files = await readFiles(this.#paths, this.#key);
    if (!files.ok || files.value.revision === base) return files;
    return refusal({ kind: "changed", where: this.#paths.document });
  }

  /** Notes in the journal, after its last sound line, which revision is about to have its events in it. */
  async #markJournal(journal: Journal | undefined, revision: Revision): Promise<void> {
    if (journal === undefined) return;
    await truncate(this.#paths.journal, journal.soundBytes);
    const file = await openForAppend(this.#paths.journal);
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

  #lossOfLock(): StateProblem | undefined {
    this.#lookedAt = this.#world.clock.now().getTime();
    const holder = readLock(this.#paths.lock);
    if (holder?.id === this.info.id) return undefined;
    const { stage, target } = this.#key;
    const reason = holder === undefined ? "its file is gone" : `${holder.who} holds it since ${holder.since}`;
    return { kind: "lock-lost", key: { stage, target }, reason };
  }
}

/** Handing a short text to the system takes less time than asking another thread to; waiting for the disk does not. */
async function flush(file: FileHandle, text: string): Promise<void> {
  appendFileSync(file.fd, text);
  await file.datasync();
}

/*
 * The text of a journal: JSON lines. The first says what it is and which revision of which document it continues;
 * then one line for each group of events that was flushed together; last, when the journal has become part of
 * the document, the revision that this gave, so that a crash before the journal is removed does not fold it twice.
 *
 * Since each line is flushed before the next is written, a crash can spoil only the last one, and nobody has yet
 * been told that this one is safe. It is dropped. A spoilt line further up is damage, and is refused.
 */

const FORMAT = "tasc-journal";
const VERSION = 1;
const NEWLINE = 0x0a;

interface Journal {
  /** The revision that the events continue. */
  readonly base: Revision;
  readonly events: readonly StateEvent[];
  /** Revisions of the document that have the events in them. */
  readonly folded: readonly Revision[];
  /** Bytes up to the end of the last sound line. */
  readonly soundBytes: number;
}

function headerLine({ stage, target, service }: DocumentKey, base: Revision): string {
  return line({ format: FORMAT, version: VERSION, stage, target, service, base });
}

function eventsLine(events: readonly StateEvent[]): string {
  return line(events);
}

export function foldedLine(revision: Revision): string {
  return line({ folded: revision });
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

/** Reads a journal; `undefined` if not even its first line was finished. @param where the file, for problems */
function parseJournal(bytes: Buffer, expected: DocumentKey, where: string): Result<Journal | undefined> {
  const { values, spoilt, soundBytes } = parseLines(bytes);
  if (spoilt !== undefined) return refusal(damaged(where, spoilt));
  const [header, ...rest] = values;
  if (header === undefined) return success(undefined);
  const base = readHeader(header, expected, where);
  if (!base.ok) return base;
  const events: StateEvent[] = [];
  const folded: Revision[] = [];
  for (const [at, value] of rest.entries()) {
    if (areStateEvents(value)) for (const event of value) events.push(event);
    else if (isRecord(value) && isText(value["folded"])) folded.push(value["folded"]);
    else return refusal(damaged(where, at + 2));
  }
  return success({ base: base.value, events, folded, soundBytes });
}

interface Lines {
  readonly values: readonly unknown[];
  /** Number, from 1, of a line before the last that is no JSON. */
  readonly spoilt: number | undefined;
  readonly soundBytes: number;
}

function parseLines(bytes: Buffer): Lines {
  const end = bytes.lastIndexOf(NEWLINE) + 1;
  const texts = bytes.toString("utf8", 0, end).split("\n").slice(0, -1);
  const values: unknown[] = [];
  for (const [at, text] of texts.entries()) {
    const value = parseJson(text);
    if (value !== undefined) values.push(value);
    else if (at + 1 < texts.length) return { values, spoilt: at + 1, soundBytes: 0 };
    else return { values, spoilt: undefined, soundBytes: startOfLastLine(bytes, end) };
  }
  return { values, spoilt: undefined, soundBytes: end };
}

function startOfLastLine(bytes: Buffer, end: number): number {
  return end < 2 ? 0 : bytes.lastIndexOf(NEWLINE, end - 2) + 1;
}

/** The revision that the journal continues. */
function readHeader(header: unknown, expected: DocumentKey, where: string): Result<Revision> {
  if (!isRecord(header) || header["format"] !== FORMAT) return refusal(damaged(where, 1));
  const { version, stage, target, service, base } = header;
  if (isCount(version) && version > VERSION)
    return refusal({ kind: "newer", where, version, understood: VERSION });
  if (version !== VERSION || !isText(stage) || !isText(target) || !isText(service) || !isText(base))
    return refusal(damaged(where, 1));
  if (stage !== expected.stage || target !== expected.target)
    return refusal({
      kind: "misplaced",
      where,
      expected: { stage: expected.stage, target: expected.target },
      found: { stage, target },
    });
  if (!sameService(service, expected.service))
    return refusal({ kind: "other-service", where, expected: expected.service, found: service });
  return success(base);
}

function damaged(where: string, lineNumber: number): StateProblem {
  return { kind: "corrupt", where, reason: `line ${lineNumber} is not as tasc writes it` };
}

/*
 * A lock is a file that is made only if it is not there. The hard part is the lock that a killed process left.
 * The obvious way (see that its owner is gone, remove it, make one's own) breaks when two do it at once: the
 * slower one removes the lock that the faster one has just made, and both believe that they hold it.
 *
 * So taking a lock over is itself done under a lock, whose name holds the id of the lock that is to go. Whoever
 * gets it looks again whether that very lock is still there: ids never come back, so if it is, nobody else can
 * be replacing it, and if it is not, somebody already has. It is taken in the same way, so that a process killed
 * while taking over leaves nothing that the next one could not take over in turn.
 */

export type Taking =
  | { readonly taken: true; readonly from?: LockInfo }
  /** `holder` is absent where the file is not one of ours. */
  | { readonly taken: false; readonly holder?: LockInfo };

/** Takes the lock at this path, if it is free or its owner is gone. @throws errors of the file system */
export async function takeLock(path: string, info: LockInfo, processes: Processes): Promise<Taking> {
  for (;;) {
    if (await create(path, info)) return { taken: true };
    const bytes = await readIfThere(path);
    if (bytes === undefined) continue; // freed between the two steps
    const holder = parseLock(bytes);
    if (holder === undefined) return { taken: false };
    if (holder.process === undefined || !(await isGone(holder.process, processes)))
      return { taken: false, holder };
    const change = () => replace(path, info);
    const outcome = await changeHolder(path, holder, info, processes, change);
    if (outcome === "done") return { taken: true, from: holder };
    if (outcome === "busy") return { taken: false, holder };
  }
}

/** Who holds the lock; `undefined` if nobody does, or the file is not one of ours. */
function readLock(path: string): LockInfo | undefined {
  const bytes = readIfThereNow(path);
  return bytes === undefined ? undefined : parseLock(bytes);
}

/**
 * Removes this very lock; another one that has taken its place stays.
 *
 * @param info who removes it: the holder itself, or somebody by force.
 */
async function removeLock(
  path: string,
  holder: LockInfo,
  info: LockInfo,
  processes: Processes,
): Promise<void> {
  await changeHolder(path, holder, info, processes, () => rm(path, { force: true }));
}

/** Does something to a lock while nobody else can, and only if the lock still is the one of this holder. */
async function changeHolder(
  path: string,
  holder: LockInfo,
  info: LockInfo,
  processes: Processes,
  change: () => Promise<void>,
): Promise<"done" | "busy" | "gone"> {
  const guard = `${path}.${encodeURIComponent(holder.id)}`;
  const guarding = await takeLock(guard, info, processes);
  if (!guarding.taken) return "busy";
  try {
    if (readLock(path)?.id !== holder.id) return "gone";
    await change();
    return "done";
  } finally {
    await rm(guard, { force: true });
  }
}

/** Makes the lock, with its text in it from the first moment. Returns whether it was free. */
async function create(path: string, info: LockInfo): Promise<boolean> {
  const temporary = await writeAside(path, info);
  try {
    await link(temporary, path);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    if (hasCode(error, "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS")) return await createInPlace(path, info);
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** For file systems without links. A crash between making and filling it leaves a lock to be freed by hand. */
async function createInPlace(path: string, info: LockInfo): Promise<boolean> {
  try {
    await createFile(path, info);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
}

async function replace(path: string, info: LockInfo): Promise<void> {
  await rename(await writeAside(path, info), path);
}

async function writeAside(path: string, info: LockInfo): Promise<string> {
  const temporary = `${path}.${encodeURIComponent(info.id)}.tmp`;
  await rm(temporary, { force: true });
  await createFile(temporary, info);
  return temporary;
}

/** Not flushed to disk: a lock that a power cut loses is one that nobody holds. */
async function createFile(path: string, info: LockInfo): Promise<void> {
  await writeFile(path, `${JSON.stringify(info, undefined, 2)}\n`, { flag: "wx", mode: FILE_MODE });
}

function parseLock(bytes: Buffer): LockInfo | undefined {
  const value = parseJson(bytes.toString("utf8"));
  return isLockInfo(value) ? value : undefined;
}

/** The files of one document. */
interface StatePaths {
  readonly folder: string;
  readonly document: string;
  readonly journal: string;
  readonly lock: string;
}

const DOCUMENT = ".json";
const JOURNAL = ".journal";

export function pathsOf(root: string, { stage, target }: StateKey): StatePaths {
  const folder = stageFolder(root, stage);
  const base = join(folder, fileName(target));
  return { folder, document: base + DOCUMENT, journal: base + JOURNAL, lock: `${base}.lock` };
}

function stageFolder(root: string, stage: string): string {
  return join(root, fileName(stage));
}

/** The target that a file of a stage's folder tells of; `undefined` for locks and what is not ours. */
export function targetOf(file: string): string | undefined {
  const ending = [DOCUMENT, JOURNAL].find((one) => file.endsWith(one));
  if (ending === undefined) return undefined;
  const name = file.slice(0, -ending.length);
  const target = decode(name);
  return target !== undefined && fileName(target) === name ? target : undefined;
}

/** A key is a file name as it is; a stage may be called anything, and must not lead out of the folder. */
function fileName(key: string): string {
  return encodeURIComponent(key).replace(/^\./, "%2E");
}

function decode(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined;
  }
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
): Promise<Result<StoredFiles>> {
  let journalBytes = await read(paths.journal);
  for (let look = 1; look <= LOOKS; look += 1) {
    const document = await read(paths.document);
    const files = fit(document, journalBytes, key, paths);
    if (files.ok || files.problem.kind !== "stranded-journal") return files;
    const again = await read(paths.journal);
    if (sameBytes(again, journalBytes)) return files;
    journalBytes = again;
  }
  return refusal({ kind: "changed", where: paths.document });
}

function fit(
  document: Buffer | undefined,
  journalBytes: Buffer | undefined,
  key: DocumentKey,
  paths: StatePaths,
): Result<StoredFiles> {
  const revision = revisionOf(document);
  if (journalBytes === undefined)
    return success({ document, revision, journal: undefined, journalled: "no" });
  const parsed = parseJournal(journalBytes, key, paths.journal);
  if (!parsed.ok) return parsed;
  const journal = parsed.value;
  if (journal === undefined) return success({ document, revision, journal, journalled: "folded" });
  if (journal.folded.includes(revision))
    return success({ document, revision, journal, journalled: "folded" });
  if (journal.base === revision) return success({ document, revision, journal, journalled: "pending" });
  return refusal({ kind: "stranded-journal", where: paths.document, journal: paths.journal });
}

function sameBytes(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.equals(b);
}

/** The state that the files amount to. */
export function stateOf(
  files: StoredFiles,
  key: DocumentKey,
  where: string,
): Result<StoredState | undefined> {
  const { document, revision, journal } = files;
  const journalled = files.journalled === "pending";
  if (document === undefined && !journalled) return success(undefined);
  const below = document === undefined ? success(empty(key)) : parse(document, key, where);
  if (!below.ok) return below;
  const state = journalled ? applyEvents(below.value, journal?.events ?? []) : below.value;
  return success({ state, revision, journalled });
}

function parse(document: Buffer, key: DocumentKey, where: string): Result<State> {
  const text = decodeDocument(document);
  if (text === undefined) return refusal({ kind: "corrupt", where, reason: "it is no UTF-8 text" });
  const parsed = parseDocument(text, key, where);
  return parsed.ok ? success(parsed.value.state) : parsed;
}

function decodeDocument(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function empty({ stage, target, service }: DocumentKey): State {
  return emptyState(stage, target, service);
}
