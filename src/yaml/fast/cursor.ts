import type { Json } from "../../model/json.ts";
import { ALIAS_BUDGET, MAX_DEPTH } from "../bounds.ts";

/** Thrown where the text must be left to the careful parser. */
export class Deferred extends Error {}

/** Written without a message: nobody sees why a text was left to the careful parser. */
export function defer(): never {
  throw new Deferred();
}

/** Without the room that is left for further items: a list of three would keep that of seventeen. */
export function trimmed(items: readonly Json[]): readonly Json[] {
  return items.slice();
}

export const NEWLINE = 0x0a;
export const SPACE = 0x20;
export const HASH = 0x23;

/** The indentation of what is behind the last line. */
export const END = -1;

/** An anchored value; undefined while it is still being read, when an alias to it would be a cycle. */
type Anchored = { read: { readonly value: Json; readonly size: number } | undefined };

const ANCHOR_NAME = /[\w-]+(?=[ \n,\]}])/y;

/** A place in a text. It stands at the content of a line, or behind the last one. */
export class Cursor {
  /** With a line end behind the last line, which may be ours. */
  readonly text: string;
  /** Whether that was there, since how much of it is text is seen differently where a block scalar ends. */
  readonly isEnded: boolean;
  /** Where the next content begins. */
  at = 0;
  /** Column of the line's first character that is no space; of an item behind a dash, its own. */
  indent = 0;
  #depth = 0;
  #aliased = 0;
  /** Made for the first anchor: most texts have none. */
  #anchors: Map<string, Anchored> | undefined;

  /** @param text with LF for line ends */
  constructor(text: string) {
    this.isEnded = text.endsWith("\n");
    this.text = this.isEnded ? text : `${text}\n`;
  }

  code(): number {
    return this.text.charCodeAt(this.at);
  }

  skipSpaces(): void {
    while (this.text.charCodeAt(this.at) === SPACE) this.at++;
  }

  /** Goes on to the next line that has content. @param start of a line */
  toContent(start: number): void {
    const { text } = this;
    for (let line = start; line < text.length;) {
      let at = line;
      while (text.charCodeAt(at) === SPACE) at++;
      const code = text.charCodeAt(at);
      if (code !== NEWLINE && code !== HASH) {
        this.at = at;
        this.indent = at - line;
        return;
      }
      line = text.indexOf("\n", at) + 1;
    }
    this.at = text.length;
    this.indent = END;
  }

  /** Goes on to the next content when nothing but a comment may be left in this line. */
  endLine(): void {
    const from = this.at;
    this.skipSpaces();
    const code = this.code();
    if (code !== NEWLINE && (code !== HASH || this.at === from)) defer();
    this.toContent(this.text.indexOf("\n", this.at) + 1);
  }

  /** Before what nests one deeper. */
  enter(): void {
    if (++this.#depth > MAX_DEPTH) defer();
  }

  /** Behind it. */
  leave(): void {
    this.#depth--;
  }

  /** At `&name`: reads it and the value that it names. */
  anchored(read: () => Json): Json {
    const name = this.#name();
    // Kept apart from the name, which an anchor inside of this one may take over.
    const anchored: Anchored = { read: undefined };
    (this.#anchors ??= new Map()).set(name, anchored);
    const from = this.at;
    this.skipSpaces();
    // Neither two anchors nor an anchored alias are YAML.
    if (this.text[this.at] === "&" || this.text[this.at] === "*") defer();
    const aliasedBefore = this.#aliased;
    const value = read();
    anchored.read = { value, size: this.at - from + this.#aliased - aliasedBefore };
    return value;
  }

  /** At `*name`: the value that it stands for, which is shared. */
  alias(): Json {
    const read = this.#anchors?.get(this.#name())?.read ?? defer();
    this.#aliased += read.size;
    if (this.#aliased > ALIAS_BUDGET) defer();
    return read.value;
  }

  #name(): string {
    this.at++;
    return this.take(ANCHOR_NAME);
  }

  /** Where what a sticky pattern finds at a place ends; the place itself, if it finds nothing there. */
  endOf(pattern: RegExp, at: number): number {
    pattern.lastIndex = at;
    return pattern.test(this.text) ? pattern.lastIndex : at;
  }

  /** What a sticky pattern finds at the cursor, which goes behind it. */
  take(pattern: RegExp): string {
    const from = this.at;
    this.at = this.endOf(pattern, from);
    return this.at === from ? defer() : this.text.slice(from, this.at);
  }
}
