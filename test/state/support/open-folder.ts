// Folders that other users can enter: as root, some tests run programs as the user nobody.
import { execFileSync } from "node:child_process";
import { mkdtempSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/**
 * Creates a temporary folder that other users can enter. The user's own folder for temporary files
 * may be private, e.g. with libpam-tmpdir.
 */
export function makeOpenFolder(prefix: string): string {
  const parent = [tmpdir(), "/tmp", "/var/tmp"].find(canBeEntered) ?? tmpdir();
  const folder = mkdtempSync(join(parent, prefix));
  openToOthers(folder);
  return folder;
}

/** Lets other users read everything in a folder, whatever the umask was. */
export function openToOthers(folder: string): void {
  execFileSync("chmod", ["-R", "a+rX", folder]);
}

function canBeEntered(folder: string): boolean {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats === undefined || (stats.mode & 0o001) === 0) return false;
  return dirname(folder) === folder || canBeEntered(dirname(folder));
}
