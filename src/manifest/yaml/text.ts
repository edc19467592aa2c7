import type { Path } from "../../model/json.ts";

/**
 * A problem of a YAML text. `code` is for programs, `message` and `hint` are for the person who has
 * to correct the file: what was found and why it is refused, then what to write instead. Lines and
 * columns count from 1, columns in UTF-16 units, as editors, SARIF and GitHub annotations count
 * them.
 */
export type YamlProblem = LineColumn & Omit<Finding, "offset">;

export type Finding = {
  readonly offset: number;
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
};

const CONTROL = new RegExp(
  String.raw`[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]`,
  "g",
);
const LONE_RETURN = /\r(?!\n)/g;

/**
 * Finds characters that YAML forbids, and line ends that parsers disagree on. `cleaned` is as long,
 * but can be parsed.
 */
export function findCharacters(text: string): {
  readonly cleaned: string;
  readonly findings: Finding[];
} {
  const findings = [...text.matchAll(CONTROL)].map(({ 0: character, index }): Finding => {
    const code = character.charCodeAt(0).toString(16);
    const escape = code.length > 2 ? `\\u${code}` : `\\x${code.padStart(2, "0")}`;
    return {
      offset: index,
      code: "control-character",
      message: `the control character U+${code.toUpperCase().padStart(4, "0")} is not allowed in a YAML file`,
      hint: `delete it, or write it as \`${escape}\` in double quotes`,
    };
  });
  // Reported once: a file has such line ends either everywhere, or at one place that is easy to
  // see.
  const lone = text.search(LONE_RETURN);
  if (lone >= 0)
    findings.push({
      offset: lone,
      code: "line-break",
      message: "a line ends in a carriage return alone, which YAML parsers do not agree on",
      hint: "save the file with LF or CRLF line endings",
    });
  return { cleaned: text.replace(CONTROL, "\ufffd").replace(LONE_RETURN, "\n"), findings };
}

/**
 * Decodes the bytes of a file as UTF-8. A problem is located at the first byte that cannot be
 * decoded.
 */
export function decodeUtf8(bytes: Uint8Array) {
  try {
    return decodedText(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    const problem = undecodable(bytes);
    return { ok: false as const, missing: false, reason: "It is not UTF-8 text.", problem };
  }
}

/**
 * Removes the byte order mark of a text; `bom` says whether there was one, because it must be kept
 * when writing.
 */
export function decodedText(text: string) {
  const bom = text.startsWith("\ufeff");
  return { ok: true as const, text: bom ? text.slice(1) : text, bom };
}

function undecodable(bytes: Uint8Array): YamlProblem {
  // The decoder does not report where it failed, but it stops there if it gets one byte at a time.
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  try {
    for (const byte of bytes) text += decoder.decode(Uint8Array.of(byte), { stream: true });
  } catch {
    // `text` now ends before the invalid bytes.
  }
  const isUtf16 =
    (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  return {
    ...placesOf(text)(text.length),
    code: "encoding",
    message: "the file is not UTF-8 text: the bytes from here on are not a valid character",
    hint: isUtf16
      ? "it looks like UTF-16; save it as UTF-8"
      : "save it as UTF-8; a different encoding or a binary file cannot be read",
  };
}

/**
 * Maximum depth of maps and lists. A manifest needs about ten levels; a hundred are the mistake of
 * a generator.
 */
export const MAX_DEPTH = 100;

/** YAML's own limit for a key without `? `, in UTF-16 units from its start to its colon. */
export const MAX_KEY_LENGTH = 1024;

export type LineColumn = { readonly line: number; readonly column: number };

/**
 * Converts offsets of a text to lines and columns. A lone CR, refused elsewhere, ends a line, as it
 * does in editors.
 */
export function placesOf(text: string): (offset: number) => LineColumn {
  const starts = [0];
  for (const found of text.matchAll(/\r\n?|\n/g)) starts.push(found.index + found[0].length);
  return (offset) => {
    let line = 0;
    let past = starts.length;
    while (past - line > 1) {
      const middle = (line + past) >> 1;
      if ((starts[middle] ?? 0) <= offset) line = middle;
      else past = middle;
    }
    return { line: line + 1, column: offset - (starts[line] ?? 0) + 1 };
  };
}

export type TextSpan = { readonly start: number; readonly end: number };

/**
 * Splits a text into documents. A line that begins with `---` always separates them, so a parser is
 * not needed.
 */
export function splitDocuments(text: string): readonly TextSpan[] {
  // Not `^`, which treats U+2028 as a line end: in YAML, text after it still belongs to the comment
  // that people see.
  const found = text.includes("---") ? text.matchAll(/(?<![^\n])---(?=[ \t\r\n]|$)/g) : [];
  const marks = [...found].map(({ index }) => index);
  const above = text.slice(0, marks[0] ?? 0).split("\n");
  const isPreface = above.every((line) => /^(?:[ \t\r]*(?:#|$)|%)/.test(line));
  const starts = [0, ...marks.slice(isPreface ? 1 : 0)];
  return starts.map((start, at) => ({ start, end: starts[at + 1] ?? text.length }));
}

export function inDocument(
  documents: readonly TextSpan[],
  path: Path,
): { readonly number: number; readonly inner: Path } {
  const [number, ...inner] = path;
  return documents.length > 1 && typeof number === "number"
    ? { number, inner }
    : { number: 0, inner: path };
}

/**
 * Replaces the characters from `start` up to `end` by `text`. If both are equal, it is an
 * insertion.
 */
export type Splice = { readonly start: number; readonly end: number; readonly text: string };

export function spliced(text: string, splices: readonly Splice[]): string {
  let done = 0;
  const parts: string[] = [];
  for (const splice of splices) {
    parts.push(text.slice(done, splice.start), splice.text);
    done = splice.end;
  }
  return parts.join("") + text.slice(done);
}

/**
 * Sorts replacements by their place; `undefined` if two overlap. The last line keeps its line end,
 * or its lack of one.
 */
export function inOrder(text: string, splices: readonly Splice[]): readonly Splice[] | undefined {
  const sorted = splices.toSorted((a, b) => a.start - b.start || a.end - b.end);
  if (sorted.some(({ end }, at) => end > (sorted[at + 1]?.start ?? text.length))) return undefined;
  const after = spliced(text, sorted);
  const wasEnded = text.endsWith("\n");
  if (sorted.length === 0 || wasEnded === after.endsWith("\n")) return sorted;
  const end = text.length;
  if (wasEnded)
    return [...sorted, { start: end, end, text: text.endsWith("\r\n") ? "\r\n" : "\n" }];
  // Lines that are deleted at the end take the line end before them with them.
  const rest = after.replace(/(?:\r?\n)+$/, "");
  let same = 0;
  while (same < rest.length && rest[same] === text[same]) same++;
  return [{ start: same, end, text: rest.slice(same) }];
}
