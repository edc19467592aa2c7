import { FILE_HEADERS_ONLY, type StructuredPatchHunk, diffArrays, formatPatch } from "diff";
import { type Splice, spliced } from "../manifest/yaml/text.ts";
import type { EditedText } from "./edit-files.ts";

/** Lines that go and lines that come in at the same place; both with their ends. */
interface LineChange {
  /** Lines of the old text before it. */
  readonly at: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** Lines shown around a change. */
const CONTEXT = 3;
/** Beyond this number of differences, lines that are edited together count as replaced. */
const MOST_CHANGES = 1000;

/**
 * The change of a file as `git diff` shows it, without line ends of their own kind. Lines are compared only where the
 * text was edited: two whole texts would take time with the square of the number of edits.
 */
export function patchOf({ file, before, splices }: EditedText): string {
  const hunks = hunksOf(linesOf(before), changedLines(before, splices));
  const names = { oldFileName: `a/${file}`, newFileName: `b/${file}` };
  const patch = { ...names, oldHeader: undefined, newHeader: undefined, hunks };
  return formatPatch(patch, FILE_HEADERS_ONLY).replaceAll("\r", "");
}

function changedLines(before: string, splices: readonly Splice[]): readonly LineChange[] {
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
  let offset = 0;
  let line = 0;
  return regions.flatMap(({ start, end, splices: own }) => {
    line += linesOf(before.slice(offset, start)).length;
    offset = start;
    const moved = own.map((one) => ({ ...one, start: one.start - start, end: one.end - start }));
    const text = before.slice(start, end);
    return compareLines(linesOf(text), linesOf(spliced(text, moved)), line);
  });
}

/** Where the line ends that an edit leaves its last text on. */
function lineEnd(before: string, { start, end, text }: Splice): number {
  const isWhole = text === "" ? isLineStart(before, start) : text.endsWith("\n");
  if (isWhole && isLineStart(before, end)) return end;
  const next = before.indexOf("\n", end);
  return next < 0 ? before.length : next + 1;
}

function isLineStart(text: string, offset: number): boolean {
  return offset === 0 || text[offset - 1] === "\n";
}

function compareLines(before: string[], after: string[], line: number): readonly LineChange[] {
  const changes: LineChange[] = [];
  let at = line;
  let open: { at: number; removed: readonly string[]; added: readonly string[] } | undefined;
  const whole = [
    { removed: true, added: false, value: before },
    { removed: false, added: true, value: after },
  ];
  for (const { removed, added, value } of diffArrays(before, after, { maxEditLength: MOST_CHANGES }) ??
    whole) {
    if (!removed && !added) open = undefined;
    else if (open === undefined) changes.push((open = { at, removed: [], added: [] }));
    if (open !== undefined && removed) open.removed = value;
    if (open !== undefined && added) open.added = value;
    if (!added) at += value.length;
  }
  return changes;
}

function hunksOf(before: readonly string[], changes: readonly LineChange[]): StructuredPatchHunk[] {
  const groups: LineChange[][] = [];
  for (const change of changes) {
    const last = groups.at(-1)?.at(-1);
    if (last !== undefined && change.at - last.at - last.removed.length <= 2 * CONTEXT)
      groups.at(-1)?.push(change);
    else groups.push([change]);
  }
  let grown = 0;
  return groups.map((group) => {
    const start = Math.max(0, (group[0]?.at ?? 0) - CONTEXT);
    const lines: string[] = [];
    let at = start;
    let more = 0;
    for (const { at: here, removed, added } of group) {
      lines.push(...before.slice(at, here).map((line) => ` ${line}`));
      lines.push(...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`));
      at = here + removed.length;
      more += added.length - removed.length;
    }
    const end = Math.min(at + CONTEXT, before.length);
    lines.push(...before.slice(at, end).map((line) => ` ${line}`));
    const oldLines = end - start;
    const hunk = { oldStart: start + 1, oldLines, newStart: start + 1 + grown, newLines: oldLines + more };
    grown += more;
    return { ...hunk, lines: lines.flatMap(withoutEnd) };
  });
}

function withoutEnd(line: string): readonly string[] {
  return line.endsWith("\n") ? [line.slice(0, -1)] : [line, "\\ No newline at end of file"];
}

/** Lines with their ends. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
