import { randomUUID } from "node:crypto";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Document } from "../manifest/document.ts";
import type { ProjectFolder } from "../manifest/files.ts";
import type { SourceText } from "../manifest/problem.ts";
import { failed, isSystemError } from "../model/error.ts";
import { refuseLinks } from "../files/output.ts";
import { groupBy } from "../model/collections.ts";
import { type Splice, decodedText } from "../manifest/yaml/text.ts";
import type { FileEdit } from "./manifests.ts";
import { type Excluded, type Rewrite, changeKey } from "./rewrite.ts";

/** A manifest with its old and new text, both without byte order mark. */
export interface NewText {
  readonly file: string;
  readonly bom: boolean;
  /** Undefined for a new file. */
  readonly before: string | undefined;
  readonly after: string;
}

export interface EditedText extends NewText {
  readonly before: string;
  /** Splices that turn the old text into the new one, in text order. */
  readonly splices: readonly Splice[];
  /** The new text as parsed again by the editor. */
  readonly tree?: SourceText["tree"];
}

/** Applies edits to the texts of their documents; the rest of each text is unchanged. */
export async function editTexts(documents: readonly Document[], edits: readonly FileEdit[]) {
  const { editYaml } = await import("../manifest/yaml/edit.ts");
  const { keyRank } = await import("../manifest/format.ts");
  const byFile = groupBy(edits, ({ file }) => file);
  const texts: EditedText[] = [];
  // A file with several documents is edited once, with all edits of the file.
  for (const { file, bom, text } of new Map(documents.map((one) => [one.file, one])).values()) {
    const own = byFile.get(file)?.map(({ edit }) => edit);
    if (own === undefined) continue;
    const edited = editYaml(text, own, { prune: true, rank: keyRank("target") });
    if (!edited.ok) return { file, reason: edited.reason };
    const { text: after, splices, tree } = edited;
    if (after !== text) texts.push({ file, bom, before: text, after, splices, tree });
  }
  return texts;
}

/**
 * Makes as many changes of a rewrite as possible. If an anchor or another peculiarity of a text
 * prevents some changes, the set of changes is halved until these are found; all others are made.
 * @param prove returns what is wrong with the new texts, or undefined if they are right
 */
export async function makeTexts(
  documents: readonly Document[],
  make: (excluded: Excluded) => Rewrite,
  prove: (texts: readonly EditedText[], rewrite: Rewrite) => Promise<string | undefined>,
): Promise<{ readonly rewrite: Rewrite; readonly texts: readonly EditedText[] }> {
  const attempt = async (excluded: Excluded) => {
    const rewrite = make(excluded);
    const texts = await editTexts(documents, rewrite.edits);
    if ("reason" in texts) return texts.reason;
    const fault = texts.length === 0 ? undefined : await prove(texts, rewrite);
    return fault ?? { rewrite, texts };
  };
  const whole = await attempt(new Map());
  if (typeof whole !== "string") return whole;
  const keys = [...new Set(make(new Map()).changes.map(changeKey))];
  const excluded = new Map(keys.map((key) => [key, ""]));
  const include = async (some: readonly string[]): Promise<void> => {
    const tried = new Map(excluded);
    for (const key of some) tried.delete(key);
    const result = await attempt(tried);
    if (typeof result !== "string") for (const key of some) excluded.delete(key);
    else if (some.length > 1) {
      const half = Math.ceil(some.length / 2);
      await include(some.slice(0, half));
      await include(some.slice(half));
    } else
      for (const key of some)
        excluded.set(key, `It cannot be written by itself: ${result}. Edit it by hand.`);
  };
  await include(keys);
  const made = await attempt(excluded);
  if (typeof made === "string")
    throw failed("not-editable", "Cannot edit the manifests", `${made}. Nothing was written.`);
  return made;
}

/**
 * Returns a project folder as it will be with some new texts, and without the files whose text is
 * undefined.
 */
export function withTexts(
  folder: ProjectFolder,
  files: readonly (Pick<SourceText, "file" | "tree"> & { readonly after: string | undefined })[],
): ProjectFolder {
  const texts = new Map(files.map((one) => [one.file, one]));
  return {
    ...folder,
    list: (path) => {
      const start = path === "" ? "" : `${path}/`;
      const entries = new Map(folder.list(path).map((entry) => [entry.name, entry]));
      for (const [file, { after }] of texts) {
        if (!file.startsWith(start)) continue;
        const [name = "", ...rest] = file.slice(start.length).split("/");
        if (after === undefined) entries.delete(rest.length === 0 ? name : "");
        else if (!entries.has(name))
          entries.set(name, { name, kind: rest.length === 0 ? "file" : "folder" });
      }
      return [...entries.values()];
    },
    read: (file) => {
      const { after, tree } = texts.get(file) ?? {};
      return after === undefined
        ? folder.read(file)
        : { ...decodedText(after), value: tree?.value };
    },
    follow: (path) =>
      texts.get(path)?.after === undefined ? folder.follow(path) : { kind: "file", inside: path },
  };
}

/**
 * Writes all files completely, or none of them. Each text is written to a temporary file in the
 * same folder, under a name that no manifest pattern matches, and replaces the file in one step; if
 * one fails, the earlier files get their old text back. A symbolic link stays a link, and a file
 * keeps its permissions. Files that were changed or created meanwhile are not overwritten. @throws
 * TascError; then nothing has changed
 */
export function writeTexts(root: string, texts: readonly NewText[]): void {
  const prepared: Prepared[] = [];
  const done: Prepared[] = [];
  let current = "";
  try {
    for (const text of texts) {
      current = text.file;
      prepared.push(prepare(root, text));
    }
    for (const one of prepared) {
      current = one.file;
      if (one.before === undefined) linkNew(one);
      else if (readFileSync(one.path).equals(one.before)) renameSync(one.beside, one.path);
      else throw meanwhile(one.file);
      done.push(one);
    }
  } catch (error) {
    for (const { path, before, mode } of done)
      if (before === undefined) rmSync(path, { force: true });
      else renameSync(writeBeside(path, before, mode), path);
    if (!isSystemError(error)) throw error;
    if (error.code === "EEXIST") throw meanwhile(current);
    throw unwritten(current, `The system says ${error.code}. Nothing was written.`);
  } finally {
    for (const { beside } of prepared) rmSync(beside, { force: true });
  }
}

type Prepared = ReturnType<typeof prepare>;

function prepare(root: string, { file, bom, before, after }: NewText) {
  const named = join(root, file);
  refuseLinks(named, root, true);
  if (before === undefined) mkdirSync(dirname(named), { recursive: true });
  const path = before === undefined ? named : realpathSync(named);
  const mode = before === undefined ? 0o666 & ~process.umask() : statSync(path).mode & 0o7777;
  const beside = writeBeside(path, bytesOf(after, bom), mode);
  return {
    file,
    path,
    beside,
    before: before === undefined ? undefined : bytesOf(before, bom),
    mode,
  };
}

function writeBeside(path: string, bytes: Buffer, mode: number): string {
  const beside = join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`);
  try {
    writeFileSync(beside, bytes, { flag: "wx", flush: true });
    chmodSync(beside, mode);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
  return beside;
}

/**
 * Creates a new file; fails if the name is taken. On file systems without links, the file is
 * written in place.
 */
function linkNew({ beside, path }: Prepared): void {
  try {
    linkSync(beside, path);
  } catch (error) {
    if (!isSystemError(error) || !["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(error.code))
      throw error;
    writeFileSync(path, readFileSync(beside), { flag: "wx" });
  }
}

function meanwhile(file: string): Error {
  return unwritten(
    file,
    "It was changed in the meantime. Nothing was written; run the command again.",
  );
}

function unwritten(file: string, detail: string): Error {
  return failed("file-not-written", `Cannot write ${file}`, detail);
}

function bytesOf(text: string, bom: boolean): Buffer {
  return Buffer.from(bom ? `\ufeff${text}` : text);
}
