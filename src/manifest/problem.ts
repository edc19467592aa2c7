import { compareText } from "../model/address.ts";
import {
  type Diagnostic,
  type Origin,
  type Place,
  type Severity,
  oneLine,
} from "../model/diagnostic.ts";
import { type Json, type Path, isArray, isObject } from "../model/json.ts";
import { list } from "../model/words.ts";
import type { Node } from "./yaml/nodes.ts";

/**
 * A problem of a manifest. Finding line and column needs a second parse of the file, so only
 * reported problems get them.
 */
export interface ManifestProblem extends Omit<Diagnostic, "place"> {
  readonly origin: Origin;
  /** Points to the key of the path's last step instead of the value. */
  readonly at?: "key";
  /** The part of the value's text that the problem is about, e.g. `${env:HOST}`. */
  readonly within?: string;
  /** A second place that belongs to the problem; the end of the detail names it. */
  readonly related?: Origin;
  /** Line and column, if they are known without the path. */
  readonly spot?: { readonly line: number; readonly column: number };
}

type Extras = Partial<Omit<ManifestProblem, "code" | "origin" | "summary" | "detail">>;

/**
 * Returns a problem at a place of a manifest, by default an error. The detail begins with the path
 * in the document.
 */
export function manifestProblem(
  code: string,
  origin: Origin,
  summary: string,
  detail: string,
  extras: Extras = {},
): ManifestProblem {
  const isInside = origin.path.some((step) => typeof step !== "number");
  const placed = isInside ? `At \`${showPath(origin.path)}\`. ${detail}` : detail;
  return { severity: "error", code, summary, detail: oneLine(placed), origin, ...extras };
}

export function hasErrors(problems: readonly { readonly severity: Severity }[]): boolean {
  return problems.some(({ severity }) => severity === "error");
}

const LONGEST = 60;
const MOST_NAMED = 20;

/** Returns a path as messages show it: `testCases.login.elements[2].selectors`. */
export function showPath(path: Path): string {
  // A number at the start is the document's number in its file, not a step in the document.
  const inner = typeof path[0] === "number" ? path.slice(1) : path;
  return inner
    .map((step, at) => (typeof step === "number" ? `[${step}]` : at === 0 ? step : `.${step}`))
    .join("");
}

/** Describes a value that was found, with its text if that may show; a long text is cut. */
export function showFound(value: Json | undefined, mayShow: boolean): string {
  if (value === undefined) return "nothing";
  if (value === null) return "nothing (null)";
  if (isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (isObject(value)) return "a map";
  const kind =
    typeof value === "string"
      ? "the string"
      : typeof value === "number"
        ? "the number"
        : "the boolean";
  if (!mayShow) return kind.replace("the", "a");
  const text = JSON.stringify(value);
  return `${kind} ${text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 2)}…"`}`;
}

export function shortened(text: string, longest = LONGEST): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}

export function listWords(words: readonly string[], joint: "and" | "or"): string {
  const named = words.slice(0, MOST_NAMED).map((word) => `\`${word}\``);
  return list(words.length > MOST_NAMED ? [...named, "others"] : named, joint);
}

/** Returns a guess as a sentence with a space before it, or an empty text. */
export function didYouMean(guess: string | undefined): string {
  return guess === undefined ? "" : ` Did you mean \`${guess}\`?`;
}

/**
 * Returns such a sentence with the candidate that a word most likely means, e.g. an address; or an
 * empty text.
 */
export function guessed(word: string, candidates: Iterable<string>): string {
  const guess = nearest(word, candidates);
  return guess === undefined ? "" : ` Did you mean ${guess}?`;
}

const SHORTEST_START = 3;
/**
 * Limits of a comparison, which takes the product of both lengths. Longer words, or more edits, are
 * not typing errors.
 */
const [LONGEST_WORD, MOST_EDITS] = [100, 8];

/**
 * Returns the candidate that a misspelt word most likely means: up to a third of it differs, or it
 * begins with the word.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const all = [...candidates];
  const wanted = word.toLowerCase();
  let best: string | undefined;
  const isComparable = word.length <= LONGEST_WORD;
  let bestDistance = isComparable
    ? Math.min(MOST_EDITS, Math.max(1, Math.floor(word.length / 3))) + 1
    : 0;
  for (const candidate of all) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const distance = distanceOf(wanted, candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return (
    best ?? all.find((candidate) => word.length >= SHORTEST_START && candidate.startsWith(word))
  );
}

/**
 * Returns the number of edits between two words, up to a limit; swapped neighbours are one
 * (Damerau, optimal alignment).
 */
function distanceOf(a: string, b: string, most: number): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const line = [row];
    const end = Math.min(b.length, row + most);
    for (let column = Math.max(1, row - most); column <= end; column++) {
      const same = a[row - 1] === b[column - 1];
      const swapped =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
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

export interface SourceText {
  readonly file: string;
  readonly text: string;
  /** The parsed text, if it was parsed already. */
  readonly tree?: Node | undefined;
}

/** The texts of all files that diagnostics may refer to, by file. */
export type Sources = Pick<ReadonlyMap<string, SourceText>, "get">;

/**
 * Adds lines and columns to diagnostics and sorts them by place; those without a place come last,
 * in their order.
 */
export async function locate(
  problems: readonly (Diagnostic | ManifestProblem)[],
  sources: Sources,
): Promise<readonly Diagnostic[]> {
  if (problems.length === 0) return [];
  const placeOf = await placesIn(sources);
  const located = problems.map((problem): Diagnostic => {
    if ("place" in problem && problem.place !== undefined) return problem;
    const { at, within, related, spot, ...rest }: Partial<ManifestProblem> & Diagnostic = problem;
    const { origin, detail } = rest;
    if (origin === undefined) return rest;
    const place = spot === undefined ? placeOf(origin, at, within) : { file: origin.file, ...spot };
    if (related === undefined) return { ...rest, place };
    const { file, line, column } = placeOf(related, "key");
    return {
      ...rest,
      detail: `${detail} The other place is ${oneLine(file)}:${line}:${column}.`,
      place,
    };
  });
  return located.toSorted(({ place: a, code }, { place: b, code: other }) =>
    a === undefined || b === undefined
      ? Number(a === undefined) - Number(b === undefined)
      : compareText(a.file, b.file) ||
        a.line - b.line ||
        a.column - b.column ||
        compareText(code, other),
  );
}

/**
 * Returns a function that looks up lines and columns. It reads and parses a file at the first
 * request for a place in it.
 */
export async function placesIn(
  sources: Sources,
): Promise<(origin: Origin, at?: "key", within?: string) => Place> {
  const { openSource } = await import("./yaml/read-slow.ts");
  const opened = new Map<string, ReturnType<typeof openSource> | undefined>();
  return ({ file, path }, at, within) => {
    if (!opened.has(file)) {
      const source = sources.get(file);
      opened.set(file, source && openSource(source.text, source.tree));
    }
    return { file, ...(opened.get(file)?.positionOf(path, at, within) ?? { line: 1, column: 1 }) };
  };
}
