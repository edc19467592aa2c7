import { createHash } from "node:crypto";
import { constants, readFileSync } from "node:fs";
import { type FileHandle, link, mkdir, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { StateEvent } from "../model/state.ts";
import { refuseLinks } from "../render/output-file.ts";
import type { DocumentKey, LockInfo, Processes, Revision, StateKey } from "./backend.ts";
import { areStateEvents, checkKey, isCount, isDocumentKey, isRecord, isText, parseJson } from "./document.ts";
import { isGone, isLockInfo } from "./lock.ts";
import { StateFailure, codeOf } from "./problem.ts";

/** Only who runs tasc may read state: it tells what a company tests, and where. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** What a file holds, or `undefined` if there is none. @throws errors of the file system */
export async function readIfThere(path: string): Promise<Buffer | undefined> {
  return await readFile(path).catch(absent);
}

/** For a file that need not be there. */
export function absent(error: unknown): undefined {
  if (codeOf(error) !== "ENOENT") throw error;
}

/** Makes the folder and those above it, of which those below `root` may not be links. */
export async function makeFolder(path: string, root: string): Promise<void> {
  refuseLinks(path, root);
  await mkdir(path, { recursive: true, mode: FOLDER_MODE });
}

/**
 * Replaces a file whole and for good: after a crash at any point there is either the old text or the new one, and
 * the new one once this resolves. The temporary name is fixed, so that what a crash leaves is removed by the
 * next try, as is a link of that name; one writer at a time is the caller's care.
 */
export async function replaceFile(path: string, text: string | Uint8Array): Promise<void> {
  const temporary = `${path}.tmp`;
  await rm(temporary, { force: true });
  const file = await open(temporary, "wx", FILE_MODE);
  try {
    await file.chmod(FILE_MODE);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  await syncFolder(dirname(path));
}

const APPEND = constants.O_APPEND | constants.O_WRONLY | constants.O_NOFOLLOW;

/** A file for additions at its end; it must be new, or be there already. A link is not followed. */
export async function openForAppend(path: string, which: "new" | "old" | "any"): Promise<FileHandle> {
  const create = { new: constants.O_CREAT | constants.O_EXCL, old: 0, any: constants.O_CREAT }[which];
  return await open(path, APPEND | create, FILE_MODE);
}

/** Makes the names in a folder durable. Some systems cannot open folders; they keep names in order themselves. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
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
/** Since 2, each line ends with a checksum. */
const VERSION = 2;
const NEWLINE = 0x0a;

export interface Journal {
  /** The revision that the events continue. */
  readonly base: Revision;
  readonly events: readonly StateEvent[];
  /** Revisions of the document that have the events in them. */
  readonly folded: readonly Revision[];
  /** Bytes up to the end of the last sound line. */
  readonly soundBytes: number;
}

/** The first line of a journal. */
export function headerOf({ stage, target, service }: DocumentKey, base: Revision): object {
  return { format: FORMAT, version: VERSION, stage, target, service, base };
}

/** A line of a journal: JSON, a tab, which no JSON has outside of its white space, and a checksum. */
export function journalLine(value: object): string {
  const text = JSON.stringify(value);
  return `${text}\t${checksum(text)}\n`;
}

function checksum(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 12);
}

/** The value of a line; `undefined` if the line is damaged. Lines of version 1 have no checksum. */
function valueOfLine(text: string): unknown {
  const tab = text.lastIndexOf("\t");
  if (tab < 0) return parseJson(text);
  const json = text.slice(0, tab);
  return text.slice(tab + 1) === checksum(json) ? parseJson(json) : undefined;
}

/** A line that was written to its end: what is wrong with it, no crash did. */
const WHOLE = /\t[\w-]{12}$/;

/** Reads a journal; `undefined` if not even its first line was finished. @param where the file, for problems */
export function parseJournal(bytes: Buffer, expected: DocumentKey, where: string): Journal | undefined {
  const end = bytes.lastIndexOf(NEWLINE) + 1;
  const texts = bytes.toString("utf8", 0, end).split("\n").slice(0, -1);
  const last = texts.at(-1) ?? "";
  const isCut = valueOfLine(last) === undefined && !WHOLE.test(last);
  const [header, ...rest] = isCut ? texts.slice(0, -1) : texts;
  if (header === undefined) return undefined;
  const base = readHeader(valueOfLine(header), expected, where);
  const events: StateEvent[] = [];
  const folded: Revision[] = [];
  for (const [at, text] of rest.entries()) {
    const value = valueOfLine(text);
    if (areStateEvents(value)) for (const event of value) events.push(event);
    else if (isRecord(value) && isText(value["folded"])) folded.push(value["folded"]);
    else throw damaged(where, at + 2);
  }
  return { base, events, folded, soundBytes: isCut ? bytes.lastIndexOf(NEWLINE, end - 2) + 1 : end };
}

/** The revision that the journal continues. */
function readHeader(header: unknown, expected: DocumentKey, where: string): Revision {
  if (!isRecord(header) || header["format"] !== FORMAT) throw damaged(where, 1);
  const { version, base } = header;
  if (isCount(version) && version > VERSION)
    throw new StateFailure({ kind: "newer", where, version, understood: VERSION });
  if (!isCount(version) || version === 0 || !isDocumentKey(header) || !isText(base)) throw damaged(where, 1);
  checkKey(header, expected, where);
  return base;
}

function damaged(where: string, lineNumber: number): StateFailure {
  const reason = `line ${lineNumber} is not in the expected format`;
  return new StateFailure({ kind: "corrupt", where, reason });
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

export type LockAttempt =
  | { readonly taken: true; readonly from?: LockInfo }
  /** `holder` is absent where the file is not one of ours. */
  | { readonly taken: false; readonly holder?: LockInfo };

/** Takes the lock at this path, if it is free or its owner is gone. @throws errors of the file system */
export async function takeLock(path: string, info: LockInfo, processes: Processes): Promise<LockAttempt> {
  for (;;) {
    // One that leads nowhere could neither be made nor be read, for ever.
    refuseLinks(path, dirname(path));
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
export function readLock(path: string): LockInfo | undefined {
  try {
    return parseLock(readFileSync(path));
  } catch (error) {
    return absent(error);
  }
}

/**
 * Removes this very lock; another one that has taken its place stays.
 *
 * @param info who removes it: the holder itself, or somebody by force.
 */
export async function removeLock(
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
    // Without links, a crash between making and filling it leaves a lock to be freed by hand.
    await link(temporary, path).catch(async (error: unknown) => {
      if (!NO_LINKS.includes(codeOf(error))) throw error;
      await createFile(path, info);
    });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Of file systems without links. */
const NO_LINKS: readonly unknown[] = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"];

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
export interface StatePaths {
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

export function stageFolder(root: string, stage: string): string {
  return join(root, fileName(stage));
}

/** The target that a file of a stage's folder tells of; `undefined` for locks and what is not ours. */
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

/** A key is a file name as it is; a stage may be called anything, and must not lead out of the folder. */
export function fileName(key: string): string {
  return encodeURIComponent(key).replace(/^\./, "%2E");
}
