import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { refuseLinks } from "../render/output-file.ts";
import { codeOf } from "../model/error.ts";

/** Only who runs tasc may read state: it tells what a company tests, and where. */
export const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** @throws errors of the file system */
export async function readIfThere(path: string): Promise<Buffer | undefined> {
  return await readFile(path).catch(absent);
}

export function absent(error: unknown): undefined {
  if (codeOf(error) !== "ENOENT") throw error;
}

/** Of the folders below `root`, none may be a link. */
export async function makeFolder(path: string, root: string): Promise<void> {
  refuseLinks(path, root);
  await mkdir(path, { recursive: true, mode: FOLDER_MODE });
}

/**
 * After a crash at any point there is either the old text or the new one, and the new one once this resolves. The
 * temporary name is fixed, so that what a crash leaves is removed by the next try; one writer at a time.
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

/** A key is a file name as it is; a stage may be called anything, and must not lead out of the folder. */
export function fileName(key: string): string {
  return encodeURIComponent(key).replace(/^\./, "%2E");
}
