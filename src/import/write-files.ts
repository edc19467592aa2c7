import { randomUUID } from "node:crypto";
import { linkSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { NewFile } from "./layout.ts";

export type Written =
  | { readonly ok: true }
  /** `file` could not be made, and none of the others is there either. */
  | { readonly ok: false; readonly file: string; readonly exists: boolean; readonly reason: string };

/**
 * Writes files that are not there yet: all of them, or none. Each is written whole under a name that no manifest
 * pattern matches and then linked to its own, which fails if that is taken; so nobody reads half a manifest, and
 * nothing is ever overwritten, whoever else writes at the same time.
 */
export function writeNewFiles(root: string, files: readonly NewFile[]): Written {
  const made: string[] = [];
  for (const { file, text } of files) {
    const path = join(root, file);
    try {
      mkdirSync(dirname(path), { recursive: true });
      writeNew(path, text);
      made.push(path);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      for (const one of made) rmSync(one, { force: true });
      return { ok: false, file, exists: error.code === "EEXIST", reason: error.code };
    }
  }
  return { ok: true };
}

function writeNew(path: string, text: string): void {
  const draft = join(dirname(path), `.tasc-import-${randomUUID()}.tmp`);
  try {
    writeFileSync(draft, text, { flag: "wx" });
    link(draft, path, text);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Some file systems know no links; there the file is written in place, which still overwrites nothing. */
function link(draft: string, path: string, text: string): void {
  try {
    linkSync(draft, path);
  } catch (error) {
    if (!isSystemError(error) || !["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(error.code))
      throw error;
    writeFileSync(path, text, { flag: "wx" });
  }
}

function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}
