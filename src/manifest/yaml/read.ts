import type { Json } from "../../model/json.ts";
import { Cursor, Deferred, END, block, flow } from "./fast.ts";

/**
 * Tabs, control characters, line ends other than LF, and byte order marks: in a text with one of them the careful
 * parser decides.
 */
const UNUSUAL = /[^\n\u0020-\u007e\u00a0-\u2027\u202a-\ufefe\uff00-\ufffd]/;

/**
 * Reads a text in the everyday part of YAML, many times faster than the parser with positions and messages can:
 * maps and lists in block style, values in one line, brackets, block scalars, anchors and aliases.
 *
 * It never says what is wrong, and never guesses: whatever it does not read with certainty it leaves to `readSlow` by
 * returning undefined. What it reads, it reads as that does; that they agree is tested with generated texts.
 *
 * @returns the value, or undefined when `readSlow` must decide. Aliased values are shared, not copied.
 */
export function readFast(text: string): Json | undefined {
  const lines = text.includes("\r") ? text.replaceAll("\r\n", "\n") : text;
  if (UNUSUAL.test(lines)) return undefined;
  try {
    return document(new Cursor(lines));
  } catch (error) {
    if (error instanceof Deferred) return undefined;
    throw error;
  }
}

function document(cursor: Cursor): Json | undefined {
  cursor.toContent(0);
  if (cursor.indent === 0 && cursor.text.startsWith("---\n", cursor.at)) cursor.toContent(cursor.at + 4);
  if (cursor.indent === END) return undefined;
  const code = cursor.code();
  const inBrackets = code === 0x5b || code === 0x7b;
  const value = inBrackets ? flow(cursor, END) : block(cursor);
  if (inBrackets) cursor.endLine();
  return cursor.indent === END ? value : undefined;
}
