import { defer, NEWLINE, SPACE } from "./cursor.ts";
import type { Cursor } from "./cursor.ts";

/** Without what tells the indentation or keeps empty lines. */
const HEADER = /[|>]-?/y;

/** At `|` or `>`: the lines below that are indented deeper than `parent`. */
export function blockScalar(cursor: Cursor, parent: number): string {
  const header = cursor.take(HEADER);
  const start = headerEnd(cursor, cursor.at);
  const { lines, end } = linesBelow(cursor.text, start, parent);
  if (end === cursor.text.length && !cursor.isEnded) defer();
  cursor.toContent(end);
  // A comment between the two indentations, where parsers part.
  if (cursor.indent > parent) defer();
  const text = header.startsWith("|") ? lines.join("\n") : folded(lines);
  return text === "" || header.endsWith("-") ? text : `${text}\n`;
}

/** Behind the header's line, in which a comment may follow. */
function headerEnd({ text }: Cursor, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === SPACE) at++;
  if (text.charCodeAt(at) !== NEWLINE && (text[at] !== "#" || at === from)) defer();
  return text.indexOf("\n", at) + 1;
}

interface Block {
  /** Without their indentation, and without empty ones at the end. */
  readonly lines: readonly string[];
  /** Start of the first line that is not part of it. */
  readonly end: number;
}

function linesBelow(text: string, start: number, parent: number): Block {
  const lines: string[] = [];
  let indent = -1;
  let filled = 0;
  let line = start;
  while (line < text.length) {
    const end = text.indexOf("\n", line);
    let at = line;
    while (text.charCodeAt(at) === SPACE) at++;
    if (at === end) {
      // White space that may be text.
      if (at > line && (indent < 0 || at - line > indent)) defer();
      lines.push("");
    } else {
      if (indent < 0 && at - line > parent) indent = at - line;
      if (indent < 0 || at - line < indent) break;
      lines.push(text.slice(line + indent, end));
      filled = lines.length;
    }
    line = end + 1;
  }
  return { lines: filled === lines.length ? lines : lines.slice(0, filled), end: line };
}

/** Lines are joined, and a gap is as many line ends as it has empty lines. Lines that stand deeper are not joined. */
function folded(lines: readonly string[]): string {
  if (lines.some((line) => line.startsWith(" "))) defer();
  if (!lines.includes("")) return lines.join(" ");
  let text = "";
  let gap = 0;
  for (const line of lines) {
    if (line === "") gap++;
    else {
      text += gap > 0 ? "\n".repeat(gap) : text === "" ? "" : " ";
      text += line;
      gap = 0;
    }
  }
  return text;
}
