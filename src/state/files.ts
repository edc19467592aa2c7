import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readFile, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { refuseLinks } from "../files/output.ts";
import { codeOf } from "../model/error.ts";

/** Only the user who runs tasc may read state, because it shows what a company tests, and where. */
export const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** Reads a file; `undefined` if it does not exist. @throws other errors of the file system */
export async function readIfThere(path: string): Promise<Buffer | undefined> {
  return await readFile(path).catch(absent);
}

/** Removes a file, if it exists. */
export async function removeFile(path: string): Promise<void> {
  await unlink(path).catch(absent);
}

export function absent(error: unknown): undefined {
  if (codeOf(error) !== "ENOENT") throw error;
}

/** Creates a folder. Refuses a path below `root` that contains a link. */
export async function makeFolder(path: string, root: string): Promise<void> {
  refuseLinks(path, root);
  await mkdir(path, { recursive: true, mode: FOLDER_MODE });
}

/**
 * Replaces a file atomically: after a crash at any point it has the old text or the new one, and
 * once this resolves, the new one. The temporary name is fixed, so that the next attempt removes
 * what a crash left. One writer at a time.
 */
export async function replaceFile(path: string, text: string | Uint8Array): Promise<void> {
  const temporary = `${path}.tmp`;
  await removeFile(temporary);
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

/**
 * Opens a file for appending. `which` says whether it must be new, must exist, or may be either.
 * Does not follow a link.
 */
export async function openForAppend(
  path: string,
  which: "new" | "old" | "any",
): Promise<FileHandle> {
  const create = { new: constants.O_CREAT | constants.O_EXCL, old: 0, any: constants.O_CREAT }[
    which
  ];
  return await open(path, APPEND | create, FILE_MODE);
}

/**
 * Makes the names in a folder durable. Windows cannot open folders, and keeps names in order by
 * itself.
 */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/**
 * Returns a safe file name. A key is already one; a stage may have any name, and must not lead out
 * of the folder.
 */
export function fileName(key: string): string {
  return encodeURIComponent(key).replace(/^\./, "%2E");
}
