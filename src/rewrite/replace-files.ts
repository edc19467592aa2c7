import { randomUUID } from "node:crypto";
import { chmodSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { NewText } from "./texts.ts";

export type Replaced =
  | { readonly ok: true }
  /** None of the files is changed. `meanwhile`: it is no longer what it was when it was read. */
  | { readonly ok: false; readonly file: string; readonly meanwhile: boolean; readonly reason: string };

/**
 * Replaces files whole: all of them, or none. Each new text is written beside its file and takes its place at once, so
 * nobody reads half a manifest; where one cannot be put in place, those before it get their old text back. A symbolic
 * link stays one, and a file keeps its permissions. What somebody else has changed meanwhile is not overwritten.
 */
export function replaceFiles(root: string, texts: readonly NewText[]): Replaced {
  const drafts: Draft[] = [];
  const done: Draft[] = [];
  let current = "";
  try {
    for (const text of texts) {
      current = text.file;
      drafts.push(writeDraft(root, text));
    }
    for (const draft of drafts) {
      current = draft.file;
      if (!readFileSync(draft.path).equals(draft.before)) return undone(done, current, true, "");
      renameSync(draft.draft, draft.path);
      done.push(draft);
    }
    return { ok: true };
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return undone(done, current, false, error.code);
  } finally {
    for (const { draft } of drafts) rmSync(draft, { force: true });
  }
}

interface Draft {
  readonly file: string;
  readonly path: string;
  readonly draft: string;
  readonly before: Buffer;
  readonly mode: number;
}

function writeDraft(root: string, { file, bom, before, after }: NewText): Draft {
  const path = realpathSync(join(root, file));
  const mode = statSync(path).mode & 0o7777;
  const draft = besides(path, bytesOf(after, bom), mode);
  return { file, path, draft, before: bytesOf(before, bom), mode };
}

/** Under a name that no manifest pattern matches. */
function besides(path: string, bytes: Buffer, mode: number): string {
  const draft = join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`);
  try {
    writeFileSync(draft, bytes, { flag: "wx", flush: true });
    chmodSync(draft, mode);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  return draft;
}

function undone(done: readonly Draft[], file: string, meanwhile: boolean, reason: string): Replaced {
  for (const { path, before, mode } of done) renameSync(besides(path, before, mode), path);
  return { ok: false, file, meanwhile, reason };
}

function bytesOf(text: string, bom: boolean): Buffer {
  return Buffer.from(bom ? `\ufeff${text}` : text);
}

function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}
