import { compareText } from "../model/address.ts";
import type { Diagnostic, Origin } from "../model/diagnostic.ts";
import { isArray, isObject } from "../model/json.ts";
import type { Json, Path } from "../model/json.ts";
import type { Place } from "../model/diagnostic.ts";
import type { Document, SourceText } from "./document.ts";
import type { ManifestProblem } from "./problem.ts";

/** The texts of all files that a diagnostic may speak of, by file. */
export type Sources = Pick<ReadonlyMap<string, SourceText | Document>, "get">;

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
  const { openSource } = await import("../yaml/source.ts");
  const atlas = new Atlas(sources, (text) => openSource(text));
  return problems.map((problem) => atlas.place(problem)).toSorted(byPlace);
}

interface Positions {
  positionOf(path: Path, at: "key" | "value"): { readonly line: number; readonly column: number };
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
      spot === undefined ? this.#placeOf(rest.origin, at, within) : { file: rest.origin.file, ...spot };
    const also =
      related === undefined
        ? ""
        : ` The other place is ${showPlace(this.#placeOf(related, "key", undefined))}.`;
    return { ...rest, detail: rest.detail + also, place };
  }

  #placeOf({ file, path }: Origin, at: "key" | undefined, within: string | undefined): Place {
    const source = this.#sources.get(file);
    if (source === undefined) return { file, line: 1, column: 1 };
    const side = at ?? (isCollection(source, path) && path.length > 0 ? "key" : "value");
    const position = this.#positions(source).positionOf(path, side);
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

/** A map or a list begins with its first entry, which is the wrong line to point at: its key is meant. */
function isCollection(source: SourceText | Document, path: Path): boolean {
  if (!("value" in source)) return false;
  let value: Json | undefined = source.value;
  for (const step of path) {
    if (isArray(value) && typeof step === "number") value = value[step];
    else value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return typeof value === "object" && value !== null;
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
