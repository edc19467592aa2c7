import { isObject } from "../model/json.ts";
import type { Json, JsonObject } from "../model/json.ts";
import type { YamlProblem } from "../yaml/problem.ts";
import { readFast } from "../yaml/read-fast.ts";
import type { ProjectFolder } from "./files.ts";
import { manifestError } from "./problem.ts";
import type { ManifestProblem } from "./problem.ts";
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
  const documents: Document[] = [];
  const sources: SourceText[] = [];
  const problems: ManifestProblem[] = [];
  for (const file of files) {
    const decoded = decodeFile(folder, file);
    const reading = "problems" in decoded ? decoded : (quickly(decoded) ?? (await slowly(decoded)));
    if (reading.document !== undefined) documents.push(reading.document);
    if (reading.source !== undefined) sources.push(reading.source);
    problems.push(...reading.problems);
  }
  return { documents, sources, problems };
}

interface Reading {
  readonly document?: Document;
  readonly source?: SourceText;
  readonly problems: readonly ManifestProblem[];
}

type Decoded = SourceText & { readonly bom: boolean };

function decodeFile(folder: ProjectFolder, file: string): Decoded | Reading {
  const read = folder.read(file);
  if (!read.ok)
    return {
      problems: [manifestError("unreadable", { file, path: [] }, "The file cannot be read", read.reason)],
    };
  const { decoded } = read;
  return decoded.ok
    ? { file, text: decoded.text, bom: decoded.bom }
    : { problems: [yamlProblem(file, decoded.problem)] };
}

function quickly(decoded: Decoded): Reading | undefined {
  const value = readFast(decoded.text);
  return value === undefined ? undefined : documentOf(decoded, value);
}

/** The parser that explains is loaded for the first file that the fast one leaves to it. */
async function slowly(decoded: Decoded): Promise<Reading> {
  const { readSlow } = await import("../yaml/read-slow.ts");
  const reading = readSlow(decoded.text);
  if (reading.ok) return documentOf(decoded, reading.value);
  return { source: decoded, problems: reading.problems.map((problem) => yamlProblem(decoded.file, problem)) };
}

function documentOf(decoded: Decoded, value: Json): Reading {
  if (isObject(value)) {
    const document = { ...decoded, value };
    return { document, source: document, problems: [] };
  }
  const problem = manifestError(
    "wrong-type",
    { file: decoded.file, path: [] },
    "A manifest is a map",
    `Found ${showFound(value, true)}, where keys such as \`target:\` are expected.`,
  );
  return { source: decoded, problems: [problem] };
}

function yamlProblem(file: string, { line, column, code, message, hint }: YamlProblem): ManifestProblem {
  const summary = message.charAt(0).toUpperCase() + message.slice(1);
  const detail = hint === undefined ? "" : `${hint.charAt(0).toUpperCase()}${hint.slice(1)}.`;
  return manifestError(`yaml-${code}`, { file, path: [] }, summary, detail, { spot: { line, column } });
}
