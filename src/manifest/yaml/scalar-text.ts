import { type Json, isArray, isObject } from "../../model/json.ts";
import { plainValue } from "./fast.ts";

/** Where a scalar is written: in braces and brackets fewer texts can go without quotes. */
export type CollectionStyle = "block" | "flow";

/** A scalar on one line, with quotes where some reader needs them. */
export function scalarText(value: string | number | boolean | null, style: CollectionStyle): string {
  if (typeof value === "number") return numberText(value);
  if (typeof value !== "string") return String(value);
  return canBePlain(value, style) ? value : quotedText(value);
}

/**
 * A number such that YAML 1.1 takes it for one, too, which wants a dot before an exponent; and with a dot
 * where it is an integer of more digits than can be kept, since those are refused when they are read as
 * integers.
 */
export function numberText(value: number): string {
  if (Object.is(value, -0)) return "-0";
  const text = String(value);
  if (text.includes(".")) return text;
  if (text.includes("e")) return text.replace("e", ".0e");
  return Number.isSafeInteger(value) ? text : `${text}.0`;
}

/** Whether YAML 1.1 and YAML 1.2 readers alike take this text for itself when it stands without quotes. */
export function canBePlain(text: string, style: CollectionStyle): boolean {
  return isPlainText(text, style) && !MEANT_OTHERWISE_IN_1_1.test(text);
}

/** The same for readers of YAML 1.2 alone: to them `ON` and `12:30` are texts. */
export function isPlainText(text: string, style: CollectionStyle): boolean {
  if (!PLAIN_START.test(text) || NEVER_PLAIN.test(text)) return false;
  if (style === "flow" && /[,[\]{}]/.test(text)) return false;
  return plainValue(text) === text && text !== "<<";
}

/**
 * The first character begins neither white space nor anything of YAML's own; `-x` is a text, `- x` is none.
 */
const PLAIN_START = /^(?:-(?=[^\s-])|[^\s\-?:,[\]{}#&*!|>'"%@`])/;

const NEVER_PLAIN = new RegExp(
  [
    String.raw`\s$|:(?:\s|$)|\s#`,
    String.raw`^\.\.\.(?:\s|$)`,
    // Beyond what may not stand in a line: white space that readers treat differently, halves of characters.
    String.raw`[\0-\x1f\x7f-\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ufffe\uffff]|\p{Surrogate}`,
  ].join("|"),
  "u",
);

const MEANT_OTHERWISE_IN_1_1 = new RegExp(
  [
    String.raw`^(?:y|n|yes|no|on|off|true|false|null)$`,
    String.raw`^[-+]?(?:0b[01_]+|0x[0-9a-f_]+|[0-9][0-9_]*)$`,
    String.raw`^[-+]?(?:[0-9][0-9_]*)?(?:\.[0-9_]*)?(?:e[-+]?[0-9]+)?$`,
    String.raw`^[-+]?[0-9][0-9_]*(?::[0-9]+)+(?:\.[0-9_]*)?$`,
    String.raw`^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:$|t|\s)`,
    String.raw`^(?:=|<<)$`,
  ].join("|"),
  "i",
);

/** In double quotes, or in single ones where that spares every escape. */
export function quotedText(text: string): string {
  const isPlainer = /["\\]/.test(text) && !text.includes("'") && canBeSingleQuoted(text);
  return isPlainer ? singleQuoted(text) : doubleQuoted(text);
}

/** Single quotes know no escapes, and fold lines. */
export function canBeSingleQuoted(text: string): boolean {
  return !/[\t\n]/.test(text) && !NEVER_UNESCAPED.test(text);
}

export function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/**
 * JSON's escapes are YAML's, too; only some characters that JSON leaves alone is not allowed in a YAML file.
 */
export function doubleQuoted(text: string): string {
  return JSON.stringify(text).replaceAll(
    new RegExp(NEVER_UNESCAPED, "gu"),
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

const NEVER_UNESCAPED = new RegExp(
  String.raw`[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|\p{Surrogate}`,
  "u",
);

/** The mark and the lines, not yet indented, of a block that keeps every line end as it is. */
export type Literal = { readonly mark: "|" | "|-"; readonly lines: readonly string[] };

/** A text of several lines as a block; undefined for one that is better quoted. */
export function literalOf(text: string): Literal | undefined {
  if (!text.includes("\n") || !canBeBlock(text)) return undefined;
  return text.endsWith("\n")
    ? { mark: "|", lines: text.slice(0, -1).split("\n") }
    : { mark: "|-", lines: text.split("\n") };
}

/**
 * Whether a block holds this text safely. Not with characters that need an escape, nor with white space at
 * its start or on its last line: a block can hold these only in ways that editors and readers are known to
 * spoil. Nor with empty lines at its end, which `|+` keeps, but together with those that follow it in the
 * file.
 */
export function canBeBlock(text: string): boolean {
  return text !== "" && !/^\s|\n[ \t]+$|\n\n$/.test(text) && !NEVER_UNESCAPED.test(text);
}

/** A value on one line: maps in braces, lists in brackets. */
export function flowText(value: Json): string {
  if (isArray(value)) return `[${value.map(flowText).join(", ")}]`;
  if (!isObject(value)) return scalarText(value, "flow");
  const pairs = Object.entries(value).map(([key, inner]) => flowPair(key, inner));
  return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
}

export function flowPair(key: string, value: Json): string {
  return `${scalarText(key, "flow")}: ${flowText(value)}`;
}

/**
 * A text as the lines of a `>` block. Paragraphs that the old block had keep their line breaks, so that a
 * change of one of them is all that a diff shows; others are broken at the width of the old block, if that
 * was broken at all.
 *
 * @param content the text without line ends at its end.
 * @param body the lines of the old block with their indentation.
 * @returns undefined for a text that folding would change: lines with white space at their start or end.
 */
export function foldedLines(content: string, body: readonly string[]): string[] | undefined {
  if (/^[ \t]|[ \t]$/m.test(content)) return undefined;
  const old = paragraphsOf(body);
  const isBroken = [...old.values()].some((lines) => lines.length > 1);
  const width = isBroken ? Math.max(...body.map((line) => line.trim().length)) : Infinity;
  const lines = content.split("\n").map((paragraph) => old.get(paragraph) ?? broken(paragraph, width));
  // Between two paragraphs a line end is written as an empty line; between empty ones it stands for itself.
  return lines.flatMap((paragraph, at) => {
    const isText = paragraph[0] !== "";
    const isFollowed = lines[at + 1] !== undefined;
    return isText && isFollowed ? [...paragraph, ""] : paragraph;
  });
}

/** Paragraphs by their text, each with its lines. */
function paragraphsOf(body: readonly string[]): Map<string, string[]> {
  const text = body.map((line) => line.trim()).join("\n");
  const blocks = text.trim().split(/\n\n+/);
  return new Map(blocks.map((block) => [block.replaceAll("\n", " "), block.split("\n")]));
}

/** Only single spaces can be line breaks: of several, folding would leave one. */
function broken(paragraph: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of paragraph.split(/(?<=[^ \t]) (?=[^ \t])/)) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
