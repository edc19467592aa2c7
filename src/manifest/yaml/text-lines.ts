import { type Node, nodesOf } from "./nodes.ts";
import type { Splice } from "./text.ts";
import type { Layout } from "./write.ts";

/** A text as lines with their line ends: LF, or CRLF if more lines of the text have that. */
export class TextLines {
  readonly text: string;
  readonly eol: "\n" | "\r\n";

  constructor(text: string) {
    this.text = text;
    const all = text.split("\n").length - 1;
    this.eol = text.split("\r\n").length - 1 > all / 2 ? "\r\n" : "\n";
  }

  start(offset: number): number {
    return this.text.lastIndexOf("\n", offset - 1) + 1;
  }

  end(offset: number): number {
    const end = this.text.indexOf("\n", offset);
    if (end === -1) return this.text.length;
    return this.text[end - 1] === "\r" ? end - 1 : end;
  }

  column(offset: number): number {
    return offset - this.start(offset);
  }

  isFirstOnLine(offset: number): boolean {
    return /^ *$/.test(this.text.slice(this.start(offset), offset));
  }

  /** Whether an end is after the end of a line, which is only the case for blocks of text. */
  isAfterLine(end: number): boolean {
    return end > 0 && this.text[end - 1] === "\n";
  }

  afterLine(end: number): number {
    if (this.isAfterLine(end)) return end;
    const newline = this.text.indexOf("\n", end);
    return newline === -1 ? this.text.length : newline + 1;
  }

  below(end: number, lines: readonly string[]): Splice {
    const at = this.afterLine(end);
    const isUnended = at === this.text.length && !this.isAfterLine(at) && at > 0;
    const joined = lines.join(this.eol);
    return { start: at, end: at, text: isUnended ? this.eol + joined : joined + this.eol };
  }

  /**
   * Replaces a text. A comment on its last line stays after the first new line: below, it might
   * join a block of text.
   */
  replace(start: number, end: number, first: string, rest: readonly string[]): Splice[] {
    const below = rest.map((line) => this.eol + line).join("");
    if (this.isAfterLine(end)) return [{ start, end, text: first + below + this.eol }];
    const lineEnd = this.end(end);
    if (rest.length === 0) return [{ start, end, text: first }];
    return [
      { start, end, text: first },
      { start: lineEnd, end: lineEnd, text: below },
    ];
  }
}

/**
 * Returns how a text is laid out: it indents like its first map in a map, and its first list under
 * a key; short lists stay on a line if its first list of words does, or if it has none.
 */
export function layoutOf(root: Node, source: TextLines): Layout {
  const steps: { map?: number; list?: number } = {};
  let shortLists: boolean | undefined;
  for (const node of nodesOf(root))
    for (const { start, key, value } of node.kind === "map" && !node.flow ? node.entries : []) {
      if (key === undefined || (value.kind !== "map" && value.kind !== "list")) continue;
      if (value.kind === "list" && value.entries[0]?.value.kind === "scalar")
        shortLists ??= value.flow;
      if (!value.flow) steps[value.kind] ??= source.column(value.start) - source.column(start);
    }
  const { map = 2, list = map } = steps;
  return { step: map, listStep: list, shortLists: shortLists ?? true };
}
