import { compareText } from "../model/address.ts";
import type { Diagnostic, Origin, Place, Severity } from "../model/diagnostic.ts";
import { type Json, type JsonObject, type Path, isArray, isObject } from "../model/json.ts";
import type { ProjectFolder } from "./files.ts";
import type { YamlProblem } from "./yaml/text.ts";
import { readFast } from "./yaml/fast.ts";
import { splitDocuments } from "./yaml/tree.ts";

/** The file that makes a folder a project. */
export const PROJECT_FILE = "tasc.yaml";

/** A document of a manifest file: the file's text, to find places in and to edit, and what the document means. */
export interface Document extends SourceText {
  /**
   * What every path in it begins with: nothing, or the number of the document in its file from the second on. A document
   * is a map, so that a number at the start of a path cannot be part of one.
   */
  readonly root: Path;
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
export async function readDocuments(
  folder: ProjectFolder,
  files: readonly string[],
  { several = false }: { readonly several?: boolean } = {},
): Promise<ReadDocuments> {
  const reading = new DocumentReader();
  for (const file of files) {
    const read = folder.read(file);
    if (!read.ok) reading.problems.push(unreadable(file, read.reason));
    else if (!read.decoded.ok) reading.problems.push(yamlProblem(file, read.decoded.problem));
    else {
      const { text, bom } = read.decoded;
      const value = readFast(text);
      if (value !== undefined) reading.add({ file, text, bom, root: FIRST }, value);
      else await readCarefully(reading, { file, text, bom, root: FIRST }, several);
    }
  }
  return reading;
}

/** Made once: ten thousand documents share it. */
const FIRST: Path = [];

/** What a text is without its meaning. */
type Unread = Omit<Document, "value">;

/** The parser that explains is loaded for the first text that the fast one leaves to it. */
async function readCarefully(reading: DocumentReader, source: Unread, several: boolean): Promise<void> {
  const { file, text } = source;
  const parts = several ? splitDocuments(text) : [];
  if (parts.length < 2) return readPart(reading, source, text, 0);
  for (const [number, { start, end }] of parts.entries()) {
    const part = text.slice(start, end);
    const value = readFast(part);
    const document = { ...source, root: number === 0 ? FIRST : [number] };
    // An empty document is what a stray `---` makes; a file of nothing else is an error.
    if (value !== undefined) reading.add(document, value);
    else if (/[^\s]/.test(part.replaceAll(/^---|#.*/gm, "")))
      await readPart(reading, document, part, linesBefore(text, start));
  }
  if (reading.sources.at(-1)?.file !== file) await readPart(reading, source, "", 0);
}

async function readPart(reading: DocumentReader, source: Unread, part: string, line: number): Promise<void> {
  const { readSlow } = await import("./yaml/read-slow.ts");
  const read = readSlow(part);
  if (!read.ok)
    for (const problem of read.problems)
      reading.problems.push(yamlProblem(source.file, { ...problem, line: problem.line + line }));
  if (read.value === undefined) reading.sources.push(source);
  else reading.add(source, read.value);
}

function linesBefore(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length - 1;
}

class DocumentReader {
  readonly documents: Document[] = [];
  readonly sources: SourceText[] = [];
  readonly problems: ManifestProblem[] = [];

  add(source: Unread, value: Json): void {
    if (isObject(value)) {
      const { file, text, bom, root } = source;
      const document = { file, text, bom, root, value };
      this.documents.push(document);
      this.sources.push(document);
    } else {
      this.sources.push(source);
      this.problems.push(notAMap(source.file, source.root, value));
    }
  }
}

function unreadable(file: string, reason: string): ManifestProblem {
  return manifestError("unreadable", { file, path: [] }, "The file cannot be read", reason);
}

function notAMap(file: string, path: Path, value: Json): ManifestProblem {
  return manifestError(
    "wrong-type",
    { file, path },
    "A manifest must be a map",
    `Found ${showFound(value, true)}, where keys like \`target:\` are expected.`,
  );
}

function yamlProblem(file: string, { line, column, code, message, hint }: YamlProblem): ManifestProblem {
  const summary = message.charAt(0).toUpperCase() + message.slice(1);
  const detail = hint === undefined ? "" : `${hint.charAt(0).toUpperCase()}${hint.slice(1)}.`;
  return manifestError(`yaml-${code}`, { file, path: [] }, summary, detail, { spot: { line, column } });
}

/**
 * A problem of a manifest whose line and column are not known yet. They cost a second parse of the file, so they are
 * looked up once, at the end, and for nothing but what is reported.
 */
export interface ManifestProblem extends Omit<Diagnostic, "place"> {
  readonly origin: Origin;
  /** The key of the path's last step is meant, and not the value. */
  readonly at?: "key";
  /** A piece of the value's text that is meant, `${env:HOST}` for example. */
  readonly within?: string;
  /** A second place that belongs to the problem; the detail ends by naming it. */
  readonly related?: Origin;
  /** Line and column, where something else than the path tells them. */
  readonly spot?: { readonly line: number; readonly column: number };
}

type Extras = Partial<Pick<ManifestProblem, "at" | "within" | "related" | "spot" | "address">>;

/** An error at a place of a manifest. The detail begins with the path in the document. */
export function manifestError(
  code: string,
  origin: Origin,
  summary: string,
  detail: string,
  extras: Extras = {},
): ManifestProblem {
  return { severity: "error", code, summary, detail: withPath(origin, detail), origin, ...extras };
}

/** A warning at a place of a manifest, likewise. */
export function manifestWarning(
  code: string,
  origin: Origin,
  summary: string,
  detail: string,
  extras: Extras = {},
): ManifestProblem {
  return { ...manifestError(code, origin, summary, detail, extras), severity: "warning" };
}

function withPath({ path }: Origin, detail: string): string {
  return path.every((step) => typeof step === "number") ? detail : `At \`${showPath(path)}\`. ${detail}`;
}

/** Whether any of the problems is an error. */
export function hasErrors(problems: readonly { readonly severity: Severity }[]): boolean {
  return problems.some(({ severity }) => severity === "error");
}

const LONGEST = 60;

/** A path as the messages write it: `testCases.login.elements[2].selectors`. */
export function showPath(path: Path): string {
  // A number at the start is not of the document, but which of its file it is.
  const inner = typeof path[0] === "number" ? path.slice(1) : path;
  return inner
    .map((step, at) => (typeof step === "number" ? `[${step}]` : at === 0 ? step : `.${step}`))
    .join("");
}

/** What was found, with its value where that is short and may show. */
export function showFound(value: Json | undefined, mayShow: boolean): string {
  if (value === undefined) return "nothing";
  if (value === null) return "nothing (null)";
  if (isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (isObject(value)) return "a map";
  const kind =
    typeof value === "string" ? "the string" : typeof value === "number" ? "the number" : "the boolean";
  return mayShow ? `${kind} ${quote(value)}` : kind.replace("the", "a");
}

/** A text for a message, cut where it is long. */
export function shortened(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
}

function quote(value: string | number | boolean): string {
  const text = JSON.stringify(value);
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 2)}…"`;
}

/** `a`, `b` and `c`. */
export function listWords(words: readonly string[], joint: "and" | "or"): string {
  const quoted = words.map((word) => `\`${word}\``);
  const last = quoted.at(-1) ?? "";
  return quoted.length < 2 ? last : `${quoted.slice(0, -1).join(", ")} ${joint} ${last}`;
}

/** A guess as a sentence of its own with a space before it, or nothing. */
export function didYouMean(guess: string | undefined): string {
  return guess === undefined ? "" : ` Did you mean \`${guess}\`?`;
}

/** A JSON pointer as a path. Only the document knows whether `0` is a key or a position. */
export function pathOf(pointer: string, document: Json): Path {
  const path: (string | number)[] = [];
  let value: Json | undefined = document;
  for (const raw of pointer.split("/").slice(1)) {
    const step = raw.replaceAll("~1", "/").replaceAll("~0", "~");
    path.push(isArray(value) ? Number(step) : step);
    value = childOf(value, isArray(value) ? Number(step) : step);
  }
  return path;
}

/** What stands at a path; `undefined` where there is nothing. */
export function valueAt(document: Json, path: Path): Json | undefined {
  let value: Json | undefined = document;
  for (const step of path) {
    if (value === undefined) return undefined;
    value = childOf(value, step);
  }
  return value;
}

function childOf(value: Json | undefined, step: string | number): Json | undefined {
  if (isArray(value)) return typeof step === "number" ? value[step] : undefined;
  return isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

/**
 * The document without what is at some paths. A list keeps its length, so that positions stay true: null remains. All
 * paths are taken out in one walk, or thousands of unknown keys would copy a document thousands of times.
 */
export function withoutAll(document: JsonObject, paths: readonly Path[]): JsonObject {
  const removed: Removed = new Map();
  for (const path of paths) {
    let level = removed;
    for (const step of path.slice(0, -1)) {
      const inner = level.get(step) ?? new Map();
      if (inner === GONE) break;
      level.set(step, inner);
      level = inner;
    }
    level.set(path.at(-1) ?? "", GONE);
  }
  return paths.some((path) => path.length === 0) ? {} : withoutIn(document, removed);
}

/** By key or position: what goes as a whole, and what goes of what stays. */
type Removed = Map<string | number, Removed | typeof GONE>;
const GONE = "gone";

function withoutIn(map: JsonObject, removed: Removed): JsonObject {
  const entries = Object.entries(map).flatMap(([key, value]): [string, Json][] => {
    const inner = removed.get(key);
    return inner === GONE ? [] : [[key, inner === undefined ? value : withoutInValue(value, inner)]];
  });
  return Object.fromEntries(entries);
}

function withoutInValue(value: Json, removed: Removed): Json {
  if (isObject(value)) return withoutIn(value, removed);
  if (!isArray(value)) return value;
  return value.map((item, at) => {
    const inner = removed.get(at);
    return inner === GONE ? null : inner === undefined ? item : withoutInValue(item, inner);
  });
}

/** The shortest beginning of a word that is worth a guess. */
const SHORTEST_START = 3;

/**
 * The candidate that a misspelt word most likely means: a third of its letters may differ, and at least one. If none
 * is that near, the first that begins with the word; `undefined` if there is none.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const all = [...candidates];
  const started =
    word.length < SHORTEST_START ? undefined : all.find((candidate) => candidate.startsWith(word));
  return nearestByLetters(word, all) ?? started;
}

function nearestByLetters(word: string, candidates: readonly string[]): string | undefined {
  const wanted = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const distance = distanceOf(wanted, candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Edits that turn one word into the other; two swapped neighbours count as one (Damerau, optimal alignment). */
function distanceOf(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const line = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      line[column] = Math.min(
        cell(last, column) + 1,
        cell(line, column - 1) + 1,
        cell(last, column - 1) + (same ? 0 : 1),
        swapped ? cell(beforeLast, column - 2) + 1 : Infinity,
      );
    }
    [beforeLast, last] = [last, line];
  }
  return cell(last, b.length);
}

function cell(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}

/** The texts of all files that a diagnostic may speak of, by file. */
export type Sources = Pick<ReadonlyMap<string, SourceText>, "get">;

/** They are sorted in when the first is asked for: where nothing is wrong, none is. */
export function sourcesByFile(sources: readonly SourceText[]): Sources {
  let byFile: ReadonlyMap<string, SourceText> | undefined;
  return { get: (file) => (byFile ??= new Map(sources.map((source) => [source.file, source]))).get(file) };
}

/**
 * Diagnostics with the line and column of what they speak of, sorted by place; those without one come last, in
 * their order. Files are parsed for positions here and only here, and only those that are spoken of.
 */
export async function locate(
  problems: readonly (Diagnostic | ManifestProblem)[],
  sources: Sources,
): Promise<readonly Diagnostic[]> {
  if (problems.length === 0) return [];
  const { openSource } = await import("./yaml/read-slow.ts");
  const atlas = new Atlas(sources, (text) => openSource(text));
  return problems.map((problem) => atlas.place(problem)).toSorted(byPlace);
}

/** The lines and columns of many places at once, since a file is parsed for them. */
export async function placesOf(
  origins: readonly Origin[],
  sources: Sources,
): Promise<(origin: Origin) => Place | undefined> {
  const { openSource } = await import("./yaml/read-slow.ts");
  const atlas = new Atlas(sources, (text) => openSource(text));
  const keyOf = ({ file, path }: Origin): string => JSON.stringify([file, path]);
  const places = new Map(origins.map((origin) => [keyOf(origin), atlas.placeOf(origin)]));
  return (origin) => places.get(keyOf(origin));
}

interface Positions {
  positionOf(path: Path, at: "key" | undefined): { readonly line: number; readonly column: number };
}

class Atlas {
  readonly #sources: Sources;
  readonly #open: (text: string) => Positions;
  readonly #opened = new Map<string, Positions>();

  constructor(sources: Sources, open: (text: string) => Positions) {
    this.#sources = sources;
    this.#open = open;
  }

  place(problem: Diagnostic | ManifestProblem): Diagnostic {
    if ("place" in problem && problem.place !== undefined) return problem;
    const { at, within, related, spot, ...rest }: Partial<ManifestProblem> & Diagnostic = problem;
    if (rest.origin === undefined) return rest;
    const place =
      spot === undefined ? this.placeOf(rest.origin, at, within) : { file: rest.origin.file, ...spot };
    const also =
      related === undefined
        ? ""
        : ` The other place is ${showPlace(this.placeOf(related, "key", undefined))}.`;
    return { ...rest, detail: rest.detail + also, place };
  }

  placeOf({ file, path }: Origin, at?: "key", within?: string): Place {
    const source = this.#sources.get(file);
    if (source === undefined) return { file, line: 1, column: 1 };
    const position = this.#positions(source).positionOf(path, at);
    const exact = within === undefined ? undefined : findFrom(source.text, position, within);
    return { file, ...(exact ?? position) };
  }

  #positions({ file, text }: SourceText): Positions {
    const known = this.#opened.get(file);
    if (known !== undefined) return known;
    const opened = this.#open(text);
    this.#opened.set(file, opened);
    return opened;
  }
}

type Position = { readonly line: number; readonly column: number };

/** Where a piece of a value's text stands, from the value's beginning on. */
function findFrom(text: string, from: Position, piece: string): Position | undefined {
  const start = offsetOf(text, from);
  const offset = piece === "" ? -1 : text.indexOf(piece, start);
  if (offset < 0) return undefined;
  const between = text.slice(start, offset).split("\n");
  const last = between.at(-1) ?? "";
  return between.length === 1
    ? { line: from.line, column: from.column + last.length }
    : { line: from.line + between.length - 1, column: last.length + 1 };
}

function offsetOf(text: string, { line, column }: Position): number {
  let offset = 0;
  for (let passed = 1; passed < line; passed++) offset = text.indexOf("\n", offset) + 1;
  return offset + column - 1;
}

function showPlace({ file, line, column }: Place): string {
  return `${file}:${line}:${column}`;
}

function byPlace(a: Diagnostic, b: Diagnostic): number {
  if (a.place === undefined || b.place === undefined)
    return Number(a.place === undefined) - Number(b.place === undefined);
  return (
    compareText(a.place.file, b.place.file) ||
    a.place.line - b.place.line ||
    a.place.column - b.place.column ||
    compareText(a.code, b.code)
  );
}
