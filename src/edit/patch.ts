import { FILE_HEADERS_ONLY, type StructuredPatchHunk, diffArrays, formatPatch } from "diff";
import { type Splice, spliced } from "../manifest/yaml/text.ts";
import type { EditedText } from "./edit-files.ts";

/** A line with its line end: unchanged, removed or added. */
type PatchRow = readonly [sign: " " | "-" | "+", line: string];

const CONTEXT = 3;
/**
 * Maximum number of differences; if there are more, lines that are edited together are shown as
 * replaced.
 */
const MOST_CHANGES = 1000;

/** Returns the change of a file as `git diff` shows it, without carriage returns. */
export function patchOf({ file, before, splices }: EditedText): string {
  const names = { oldFileName: `a/${file}`, newFileName: `b/${file}` };
  const hunks = hunksOf(rowsOf(before, splices));
  const patch = { ...names, oldHeader: undefined, newHeader: undefined, hunks };
  return formatPatch(patch, FILE_HEADERS_ONLY).replaceAll("\r", "");
}

/**
 * Compares lines only where the text was edited: comparing whole texts takes time quadratic in the
 * number of edits.
 */
function rowsOf(before: string, splices: readonly Splice[]): readonly PatchRow[] {
  const regions: { start: number; end: number; splices: Splice[] }[] = [];
  for (const splice of splices) {
    const start = before.lastIndexOf("\n", splice.start - 1) + 1;
    const end = lineEnd(before, splice);
    const last = regions.at(-1);
    if (last === undefined || last.end < start) regions.push({ start, end, splices: [splice] });
    else {
      last.end = Math.max(last.end, end);
      last.splices.push(splice);
    }
  }
  const rows: PatchRow[] = [];
  const add = (sign: PatchRow[0], lines: readonly string[]): void => {
    for (const line of lines) rows.push([sign, line]);
  };
  let offset = 0;
  for (const { start, end, splices: own } of regions) {
    add(" ", linesOf(before.slice(offset, start)));
    const moved = own.map((one) => ({ ...one, start: one.start - start, end: one.end - start }));
    const text = before.slice(start, end);
    const [was, now] = [linesOf(text), linesOf(spliced(text, moved))];
    const whole = [
      { removed: true, added: false, value: was },
      { removed: false, added: true, value: now },
    ];
    // Check first: a diff that finds too many changes takes as long as one with the maximum number
    // of changes.
    const [old, fresh] = [new Set(was), new Set(now)];
    const differing = [
      ...was.filter((line) => !fresh.has(line)),
      ...now.filter((line) => !old.has(line)),
    ];
    const isTooMany = differing.length > MOST_CHANGES;
    const compared = isTooMany ? undefined : diffArrays(was, now, { maxEditLength: MOST_CHANGES });
    for (const { removed, added, value } of compared ?? whole)
      add(removed ? "-" : added ? "+" : " ", value);
    offset = end;
  }
  add(" ", linesOf(before.slice(offset)));
  return rows;
}

/** Returns the end of the line on which an edit ends. */
function lineEnd(before: string, { start, end, text }: Splice): number {
  const isLineStart = (offset: number): boolean => offset === 0 || before[offset - 1] === "\n";
  const isWhole = text === "" ? isLineStart(start) : text.endsWith("\n");
  if (isWhole && isLineStart(end)) return end;
  const next = before.indexOf("\n", end);
  return next < 0 ? before.length : next + 1;
}

function hunksOf(rows: readonly PatchRow[]): StructuredPatchHunk[] {
  const changes: { start: number; end: number }[] = [];
  for (const [at, [sign]] of rows.entries()) {
    const last = changes.at(-1);
    if (sign === " ") continue;
    if (last !== undefined && at - last.end <= 2 * CONTEXT) last.end = at + 1;
    else changes.push({ start: at, end: at + 1 });
  }
  const count = (some: readonly PatchRow[], other: PatchRow[0]): number =>
    some.filter(([sign]) => sign !== other).length;
  let [at, oldStart, newStart] = [0, 1, 1];
  return changes.map(({ start, end }) => {
    const first = Math.max(start - CONTEXT, 0);
    oldStart += count(rows.slice(at, first), "+");
    newStart += count(rows.slice(at, first), "-");
    at = first;
    const own = rows.slice(first, end + CONTEXT);
    const lines = own.flatMap(([sign, line]) =>
      line.endsWith("\n")
        ? [sign + line.slice(0, -1)]
        : [sign + line, "\\ No newline at end of file"],
    );
    return { oldStart, oldLines: count(own, "+"), newStart, newLines: count(own, "-"), lines };
  });
}

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
