import { type Json, type JsonObject, type Path, isObject } from "../model/json.ts";
import type { ProjectFolder } from "./files.ts";
import { type ManifestProblem, type SourceText, manifestProblem, showFound } from "./problem.ts";
import { readFast } from "./yaml/fast.ts";
import { type TextSpan, type YamlProblem, splitDocuments } from "./yaml/text.ts";

export const PROJECT_FILE = "tasc.yaml";

/**
 * A document of a manifest file: the text of the whole file, to find places in and to edit, and the
 * document's value.
 */
export interface Document extends SourceText {
  /**
   * The start of every path in the document: empty, or, from the second document of a file on, its
   * number.
   */
  readonly root: Path;
  readonly bom: boolean;
  readonly value: JsonObject;
}

/**
 * Returns the values that a document declares for all stages and for each single stage, with their
 * paths.
 */
export function scopesIn({ root, value }: Pick<Document, "root" | "value">) {
  const scopes = [{ path: root, value }];
  for (const [stage, override] of isObject(value.stages) ? Object.entries(value.stages) : [])
    if (isObject(override)) scopes.push({ path: [...root, "stages", stage], value: override });
  return scopes;
}

/** Returns the keys that documents declare in a section, in all stages. */
export function keysIn(documents: readonly Document[], section: string): readonly string[] {
  return documents
    .flatMap(scopesIn)
    .flatMap(({ value: { [section]: resources } }) =>
      isObject(resources) ? Object.keys(resources) : [],
    );
}

export interface ReadDocuments {
  readonly documents: readonly Document[];
  readonly source?: SourceText;
  readonly problems: readonly ManifestProblem[];
}

/** A shared instance, because ten thousand documents use it. */
const FIRST: Path = [];

/**
 * Reads a manifest file. Returns most files without a promise, which would take as long as reading
 * the file does.
 */
export function readDocuments(
  folder: ProjectFolder,
  file: string,
): ReadDocuments | Promise<ReadDocuments> {
  const read = folder.read(file);
  if (!read.ok) {
    const { reason, problem } = read;
    const unreadable = manifestProblem(
      "unreadable",
      { file, path: [] },
      "The file cannot be read",
      reason,
    );
    return {
      documents: [],
      problems: [problem === undefined ? unreadable : yamlProblem(file, problem)],
    };
  }
  const { text, bom, value = readFast(text) } = read;
  if (!isObject(value))
    return readCarefully(
      { file, text, bom },
      value,
      file === PROJECT_FILE ? [] : splitDocuments(text),
    );
  const document = { file, text, bom, root: FIRST, value };
  return { documents: [document], source: document, problems: [] };
}

/**
 * Reads a file that is not a single map in the common part of YAML: several documents, anchors, or
 * a mistake.
 */
async function readCarefully(
  source: SourceText & { readonly bom: boolean },
  whole: Json | undefined,
  parts: readonly TextSpan[],
): Promise<ReadDocuments> {
  const { file, text } = source;
  const documents: Document[] = [];
  const problems: ManifestProblem[] = [];
  const add = (value: Json, root: Path): void => {
    if (isObject(value)) documents.push({ ...source, root, value });
    else {
      const detail = `Found ${showFound(value, true)}, where keys like \`target:\` are expected.`;
      problems.push(
        manifestProblem("wrong-type", { file, path: root }, "A manifest must be a map", detail),
      );
    }
  };
  // The slow parser, which explains mistakes, is loaded for the first text that the fast parser
  // cannot read.
  const addSlowly = async (part: string, root: Path, line: number): Promise<void> => {
    const { readSlow } = await import("./yaml/read-slow.ts");
    const slow = readSlow(part);
    for (const problem of slow.ok ? [] : slow.problems)
      problems.push(yamlProblem(file, { ...problem, line: problem.line + line }));
    if (slow.value !== undefined) add(slow.value, root);
  };
  if (whole !== undefined) add(whole, FIRST);
  else if (parts.length < 2) await addSlowly(text, FIRST, 0);
  else {
    let line = 0;
    for (const [number, { start, end }] of parts.entries()) {
      const part = text.slice(start, end);
      const root = number === 0 ? FIRST : [number];
      const value = readFast(part);
      // A stray `---` makes an empty document, which is skipped. A file that contains nothing else
      // is an error.
      if (value !== undefined) add(value, root);
      else if (/[^\s]/.test(part.replaceAll(/^---|#[^\n]*/g, "")))
        await addSlowly(part, root, line);
      line += part.split("\n").length - 1;
    }
    if (documents.length + problems.length === 0) await addSlowly("", FIRST, 0);
  }
  return { documents, source, problems };
}

function yamlProblem(
  file: string,
  { line, column, code, message, hint }: YamlProblem,
): ManifestProblem {
  const summary = message.charAt(0).toUpperCase() + message.slice(1);
  const detail = hint === undefined ? "" : `${hint.charAt(0).toUpperCase()}${hint.slice(1)}.`;
  return manifestProblem(`yaml-${code}`, { file, path: [] }, summary, detail, {
    spot: { line, column },
  });
}
