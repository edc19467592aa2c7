import { createHash } from "node:crypto";
import type { State } from "../../model/state.ts";
import { emptyState } from "../../model/state.ts";
import type { Revision, StoredState } from "../backend.ts";
import { NO_DOCUMENT } from "../backend.ts";
import { parseDocument } from "../parse-document.ts";
import type { DocumentKey, Result } from "../problem.ts";
import { refusal, success } from "../problem.ts";
import { applyEvents } from "../reduce.ts";
import { readIfThere } from "./files.ts";
import type { Journal } from "./journal-text.ts";
import { parseJournal } from "./journal-text.ts";
import type { StatePaths } from "./paths.ts";

/** The two files of a document as they were at one moment, and how they belong together. */
export interface StoredFiles {
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
  const text = decode(document);
  if (text === undefined) return refusal({ kind: "corrupt", where, reason: "it is no UTF-8 text" });
  const parsed = parseDocument(text, key, where);
  return parsed.ok ? success(parsed.value.state) : parsed;
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function empty({ stage, target, service }: DocumentKey): State {
  return emptyState(stage, target, service);
}
