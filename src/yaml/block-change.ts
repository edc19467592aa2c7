import type { EntryChange } from "./entry.ts";
import type { LineText } from "./line-text.ts";
import type { Splice } from "./splice.ts";

/**
 * Takes entries out of a map or list in block style and puts others in, by whole lines. Comments on lines of
 * their own stay, also those above an entry that goes: whether they still mean something is for the reader of
 * the diff.
 */
export function changeBlock(source: LineText, { entries, deleted, inserted }: EntryChange): Splice[] {
  const additions = inserted.map(({ after, content }) =>
    insertion(source, entries[after], entries[0], content.lines),
  );
  return [...deletions(source, entries, deleted), ...additions];
}

type Entries = EntryChange["entries"];

function deletions(source: LineText, entries: Entries, deleted: ReadonlySet<number>): Splice[] {
  const [first] = entries;
  const isInline = first !== undefined && !source.isFirstOnLine(first.start);
  const firstKept = entries.findIndex((_, at) => !deleted.has(at));
  const lead = isInline ? firstKept : 0;
  const wholeLines = entries.flatMap(({ start, end }, at): Splice[] => {
    if (!deleted.has(at) || at < lead) return [];
    return [{ start: source.lineStart(start), end: source.afterLine(end), text: "" }];
  });
  const last = entries[lead - 1];
  if (first === undefined || last === undefined) return wholeLines;
  return [cutLead(source, first.start, last.end), ...wholeLines];
}

/**
 * The first entries of what begins behind a dash, as in `- a: 1`: what follows, a comment or an entry, moves
 * up to the dash, so that it stays in its column.
 */
function cutLead(source: LineText, start: number, end: number): Splice {
  const below = source.afterLine(end);
  const next = below + source.text.slice(below).search(/[^ \r\n]|$/);
  return { start, end: next, text: "" };
}

function insertion(
  source: LineText,
  before: EntryChange["entries"][number] | undefined,
  first: EntryChange["entries"][number] | undefined,
  lines: readonly string[],
): Splice {
  if (before !== undefined) return source.below(before.end, lines);
  const at = first?.start ?? 0;
  const indent = " ".repeat(source.column(at));
  // Works for `- - a`, too, where the first entry does not begin its line.
  const text = `${lines.join(source.eol).slice(indent.length)}${source.eol}${indent}`;
  return { start: at, end: at, text };
}
