import type { Splice } from "./splice.ts";

/** A text seen as lines, each with its end: LF, or CRLF where the text has more of those. */
export class LineText {
  readonly text: string;
  /** What new lines end in. */
  readonly eol: "\n" | "\r\n";

  constructor(text: string) {
    this.text = text;
    const all = text.split("\n").length - 1;
    this.eol = text.split("\r\n").length - 1 > all / 2 ? "\r\n" : "\n";
  }

  lineStart(offset: number): number {
    return this.text.lastIndexOf("\n", offset - 1) + 1;
  }

  /** Before the line's end. */
  lineEnd(offset: number): number {
    const end = this.text.indexOf("\n", offset);
    if (end === -1) return this.text.length;
    return this.text[end - 1] === "\r" ? end - 1 : end;
  }

  /** Counted from 0, as indentation is. */
  column(offset: number): number {
    return offset - this.lineStart(offset);
  }

  isFirstOnLine(offset: number): boolean {
    return /^ *$/.test(this.text.slice(this.lineStart(offset), offset));
  }

  /** Whether an end is past a line's end, as it is for blocks of text and nothing else. */
  isAfterLine(end: number): boolean {
    return end > 0 && this.text[end - 1] === "\n";
  }

  /** Where the line begins that follows some content. */
  afterLine(end: number): number {
    if (this.isAfterLine(end)) return end;
    const newline = this.text.indexOf("\n", end);
    return newline === -1 ? this.text.length : newline + 1;
  }

  /** New lines below the line on which some content ends. */
  below(end: number, lines: readonly string[]): Splice {
    const at = this.afterLine(end);
    const isUnended = at === this.text.length && !this.isAfterLine(at) && at > 0;
    const joined = lines.join(this.eol);
    return { start: at, end: at, text: isUnended ? this.eol + joined : joined + this.eol };
  }

  /**
   * Replaces content by what may need several lines. What else is on its last line, a comment, stays behind
   * the first of them: behind the last it might end up in a block of text.
   */
  replace(start: number, end: number, first: string, rest: readonly string[]): Splice[] {
    const below = rest.map((line) => this.eol + line).join("");
    if (this.isAfterLine(end)) return [{ start, end, text: first + below + this.eol }];
    const lineEnd = this.lineEnd(end);
    if (rest.length === 0) return [{ start, end, text: first }];
    return [
      { start, end, text: first },
      { start: lineEnd, end: lineEnd, text: below },
    ];
  }
}
