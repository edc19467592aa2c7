import { type Json, copyOf } from "../../model/json.ts";

/**
 * Thrown if a text must be left to the careful parser; without a message, because it is never
 * shown.
 */
export class Deferred extends Error {}

export function defer(): never {
  throw new Deferred();
}

/**
 * Returns a block's lines without indentation or empty ones at the end, their end (`last`), and the
 * next line (`end`).
 */
export function linesBelow(text: string, start: number, parent: number) {
  const lines: string[] = [];
  let indent = -1;
  let filled = 0;
  let last = start;
  let line = start;
  while (line < text.length) {
    const end = text.indexOf("\n", line);
    let at = line;
    while (text.charCodeAt(at) === 0x20) at++;
    if (at === end) {
      // White space that may be part of the text.
      if (at > line && (indent < 0 || at - line > indent)) defer();
      lines.push("");
    } else {
      if (indent < 0 && at - line > parent) indent = at - line;
      if (indent < 0 || at - line < indent) break;
      lines.push(text.slice(line + indent, end));
      filled = lines.length;
      last = end + 1;
    }
    line = end + 1;
  }
  return { lines: lines.slice(0, filled), last, end: line };
}

/**
 * Joins lines. A gap becomes as many line ends as it has empty lines. Lines with more indentation
 * are not read here.
 */
export function folded(lines: readonly string[]): string {
  if (lines.some((line) => line.startsWith(" "))) defer();
  if (!lines.includes("")) return lines.join(" ");
  const text = lines.join("\n");
  return text.replaceAll(/(?<=[^\n])\n+/g, (gap) => (gap === "\n" ? " " : gap.slice(1)));
}

/**
 * Texts that manifests repeat, such as a status or a tag; each is kept once. Longer texts are
 * copied out of the file's text: without a copy they would only refer to it, and keep the whole of
 * it in memory.
 */
const REPEATED = new Map<string, string>();
const LONGEST_REPEATED = 12;
const MOST_REPEATED = 1000;

export function once(text: string): string {
  if (text.length > LONGEST_REPEATED) return copyOf(text);
  const known = REPEATED.get(text);
  if (known === undefined && REPEATED.size < MOST_REPEATED) REPEATED.set(text, text);
  return known ?? text;
}

/** The result for a number that plain data cannot contain: infinite, not a number, or inexact. */
export const NOT_PLAIN_DATA = Symbol("not plain data");

const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ...["", "~", "null", "Null", "NULL"].map((word) => [word, null] as const),
  ...["true", "True", "TRUE"].map((word) => [word, true] as const),
  ...["false", "False", "FALSE"].map((word) => [word, false] as const),
]);
const INTEGER = /^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const NOT_FINITE = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

/**
 * Returns the YAML 1.2 core value of an unquoted scalar: `yes`, `ON`, `1_000`, `0b1`, `2024-01-01`
 * and `12:30` are text.
 */
export function plainValue(text: string): Json | typeof NOT_PLAIN_DATA {
  if (!"~nNtTfF+-.0123456789".includes(text.charAt(0))) return text;
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  const isInteger = INTEGER.test(text);
  if (!isInteger && !FLOAT.test(text)) return NOT_FINITE.test(text) ? NOT_PLAIN_DATA : text;
  const value = Number(text);
  return (isInteger ? Number.isSafeInteger(value) : Number.isFinite(value))
    ? value
    : NOT_PLAIN_DATA;
}
