import type { Entry, EntryChange } from "./entry.ts";
import type { LineText } from "./line-text.ts";
import type { Splice } from "./splice.ts";

/**
 * Takes entries out of a map or list in braces or brackets and puts others in, together with the commas.
 * Where entries have lines of their own, the new ones get such, too, and comments stay beside their entries.
 *
 * @param end of the map or list, past its closing mark.
 */
export function changeFlow(source: LineText, end: number, change: EntryChange): Splice[] {
  const lastKept = change.entries.findLastIndex((_, at) => !change.deleted.has(at));
  const flow: Flow = { ...change, source, end, lastKept };
  const cuts = runsOf(change.deleted, lastKept).map(([first, last]) => cutInside(flow, first, last));
  const insertions = change.inserted.flatMap(({ after, content }) =>
    after < lastKept ? [insertInside(flow, after + 1, content.flow)] : [],
  );
  const appended = change.inserted
    .filter(({ after }) => after >= lastKept)
    .map(({ content }) => content.flow);
  return [...cuts, ...insertions, ...changeTail(flow, appended)];
}

type Flow = EntryChange & { readonly source: LineText; readonly end: number; readonly lastKept: number };

/** The text between two entries, or between the last one and the closing mark. */
function gapAfter({ source, entries, end }: Flow, at: number): string {
  return source.text.slice(entries[at]?.end, entries[at + 1]?.start ?? end - 1);
}

/** Entries side by side that go, with one behind them that stays: first and last of each such row. */
function runsOf(deleted: ReadonlySet<number>, before: number): [number, number][] {
  const runs: [number, number][] = [];
  for (let at = 0; at < before; at++) {
    const run = runs.at(-1);
    if (!deleted.has(at)) continue;
    if (run?.[1] === at - 1) run[1] = at;
    else runs.push([at, at]);
  }
  return runs;
}

/**
 * They go with their commas and, if they have lines to themselves, with those lines and what else is on them.
 */
function cutInside(flow: Flow, first: number, last: number): Splice {
  const { source, entries } = flow;
  const { start } = entries[first] ?? NOWHERE;
  const { end } = entries[last] ?? NOWHERE;
  const comma = end + commaIn(gapAfter(flow, last));
  const next = entries[last + 1]?.start ?? end;
  const haveOwnLines = source.isFirstOnLine(start) && source.afterLine(comma) <= next;
  if (haveOwnLines) return { start: source.lineStart(start), end: source.afterLine(comma), text: "" };
  return { start, end: next, text: "" };
}

/** Before the entry at this place, which stays. */
function insertInside(flow: Flow, at: number, content: string): Splice {
  const { source, entries } = flow;
  const { start } = entries[at] ?? NOWHERE;
  const text = source.isFirstOnLine(start) ? `${content},${newLine(flow, at)}` : `${content}, `;
  return { start, end: start, text };
}

/** What is behind the last entry that stays: entries that go, and new ones. */
function changeTail(flow: Flow, appended: readonly string[]): Splice[] {
  const { source, entries, lastKept } = flow;
  const isCut = lastKept < entries.length - 1;
  const { end: keptEnd } = entries[lastKept] ?? NOWHERE;
  const { start: nextStart } = entries[lastKept + 1] ?? NOWHERE;
  const isMultiline = isCut
    ? source.isFirstOnLine(nextStart)
    : source.isFirstOnLine(entries.at(-1)?.start ?? 0);
  if (!isMultiline) {
    const cut = isCut ? [{ start: keptEnd, end: entries.at(-1)?.end ?? keptEnd, text: "" }] : [];
    return [...appended.map((content) => insertionAt(keptEnd, `, ${content}`)), ...cut];
  }
  return isCut ? cutLines(flow, appended) : appendLines(flow, appended);
}

/** The comma before the lines that go stays where it is: YAML allows it, and its line remains untouched. */
function cutLines(flow: Flow, appended: readonly string[]): Splice[] {
  const { source, entries, lastKept } = flow;
  const { start } = entries[lastKept + 1] ?? NOWHERE;
  const { end } = entries.at(-1) ?? NOWHERE;
  const tail = gapAfter(flow, entries.length - 1);
  const from = source.lineEnd(source.lineStart(start) - 1);
  const to = tail.includes("\n") ? source.lineEnd(end + Math.max(0, commaIn(tail))) : end;
  const text = appended.map((content) => newLine(flow, lastKept + 1) + content).join(",");
  return [{ start: from, end: to, text }];
}

function appendLines(flow: Flow, appended: readonly string[]): Splice[] {
  const { source, entries } = flow;
  if (appended.length === 0) return [];
  const last = entries.length - 1;
  const { end } = entries[last] ?? NOWHERE;
  const tail = gapAfter(flow, last);
  const comma = commaIn(tail);
  const lines = appended.map((content) => newLine(flow, last) + content);
  if (comma >= 0) return [insertionAt(source.lineEnd(end + comma), lines.map((line) => `${line},`).join(""))];
  if (!tail.includes("\n")) return [insertionAt(end, `,${lines.join(",")}`)];
  return [insertionAt(end, ","), insertionAt(source.lineEnd(end), lines.join(","))];
}

/** A line's end and the indentation of the line that an entry stands on. */
function newLine({ source, entries }: Flow, like: number): string {
  return source.eol + " ".repeat(source.column(entries[like]?.start ?? 0));
}

/** -1 if there is none. A comma in a comment is none. */
function commaIn(gap: string): number {
  return gap.replaceAll(/#.*/g, (comment) => " ".repeat(comment.length)).indexOf(",");
}

function insertionAt(offset: number, text: string): Splice {
  return { start: offset, end: offset, text };
}

/** For an entry that is not there, which does not happen to the indices above. */
const NOWHERE: Entry = { start: 0, end: 0 };
