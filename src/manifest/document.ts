import { type Json, type JsonObject, isObject } from "../model/json.ts";
import type { YamlProblem } from "../yaml/problem.ts";
import { readFast } from "../yaml/read-fast.ts";
import type { ProjectFolder } from "./files.ts";
import { type ManifestProblem, manifestError } from "./problem.ts";
import { showFound } from "./words.ts";

/** The file that makes a folder a project. */
export const PROJECT_FILE = "tasc.yaml";

/** A manifest file: its text, to find places in and to edit, and what that means. */
export interface Document extends SourceText {
  /** Whether the file begins with a byte order mark, which `text` does not hold. */
  readonly bom: boolean;
  readonly value: JsonObject;
}

/** A file's text under the path by which diagnostics name it. */
export interface SourceText {
  readonly file: string;
  readonly text: string;
}

export interface ReadDocuments {
  /** Those that could be read, in the order asked for. */
  readonly documents: readonly Document[];
  /** The texts of all that were UTF-8. */
  readonly sources: readonly SourceText[];
  readonly problems: readonly ManifestProblem[];
}

/** Reads manifest files. One that cannot be read is a problem, never an absence. */
export async function readDocuments(folder: ProjectFolder, files: readonly string[]): Promise<ReadDocuments> {
  const reading = new Reading();
  for (const file of files) {
    const read = folder.read(file);
    if (!read.ok) reading.problems.push(unreadable(file, read.reason));
    else if (!read.decoded.ok) reading.problems.push(yamlProblem(file, read.decoded.problem));
    else {
      const { text, bom } = read.decoded;
      const value = readFast(text);
      if (value !== undefined) reading.add(file, text, bom, value);
      else await readCarefully(reading, file, text, bom);
    }
  }
  return reading;
}

/** The parser that explains is loaded for the first file that the fast one leaves to it. */
async function readCarefully(reading: Reading, file: string, text: string, bom: boolean): Promise<void> {
  const { readSlow } = await import("../yaml/read-slow.ts");
  const read = readSlow(text);
  if (!read.ok) reading.problems.push(...read.problems.map((problem) => yamlProblem(file, problem)));
  if (read.value === undefined) reading.sources.push({ file, text });
  else reading.add(file, text, bom, read.value);
}

class Reading {
  readonly documents: Document[] = [];
  readonly sources: SourceText[] = [];
  readonly problems: ManifestProblem[] = [];

  add(file: string, text: string, bom: boolean, value: Json): void {
    if (isObject(value)) {
      const document = { file, text, bom, value };
      this.documents.push(document);
      this.sources.push(document);
    } else {
      this.sources.push({ file, text });
      this.problems.push(notAMap(file, value));
    }
  }
}

function unreadable(file: string, reason: string): ManifestProblem {
  return manifestError("unreadable", { file, path: [] }, "The file cannot be read", reason);
}

function notAMap(file: string, value: Json): ManifestProblem {
  return manifestError(
    "wrong-type",
    { file, path: [] },
    "A manifest is a map",
    `Found ${showFound(value, true)}, where keys such as \`target:\` are expected.`,
  );
}

function yamlProblem(file: string, { line, column, code, message, hint }: YamlProblem): ManifestProblem {
  const summary = message.charAt(0).toUpperCase() + message.slice(1);
  const detail = hint === undefined ? "" : `${hint.charAt(0).toUpperCase()}${hint.slice(1)}.`;
  return manifestError(`yaml-${code}`, { file, path: [] }, summary, detail, { spot: { line, column } });
}
