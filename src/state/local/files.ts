import { readFileSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { mkdir, open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";

/** Only who runs tasc may read state: it tells what a company tests, and where. */
export const FILE_MODE = 0o600;
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
export function readIfThereNow(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Makes the folder and those above it. */
export async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: FOLDER_MODE });
}

/**
 * Replaces a file whole and for good: after a crash at any point there is either the old text or the new one, and
 * the new one once this resolves. The temporary name is fixed, so that what a crash leaves is overwritten by the
 * next try; one writer at a time is the caller's care.
 */
export async function replaceFile(path: string, text: string | Uint8Array): Promise<void> {
  const temporary = `${path}.tmp`;
  const file = await open(temporary, "w", FILE_MODE);
  await writeDurably(file, text);
  await rename(temporary, path);
  await syncFolder(dirname(path));
}

/** For additions at the end; makes the file if it is not there. */
export async function openForAppend(path: string): Promise<FileHandle> {
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
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return (
    error instanceof Error && "code" in error && typeof error.code === "string" && codes.includes(error.code)
  );
}
