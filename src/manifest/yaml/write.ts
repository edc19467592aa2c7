import { type Json, type Path, isArray, isObject } from "../../model/json.ts";
import type { Node, ScalarNode } from "./nodes.ts";
import { plainValue } from "./scalars.ts";
import { MAX_KEY_LENGTH } from "./text.ts";

/** Where a scalar is written: in braces and brackets more texts need quotes. */
type CollectionStyle = "block" | "flow";

/**
 * Writes a scalar on one line, with quotes if some reader needs them: single ones if no escapes are
 * needed then.
 */
function scalarText(value: string | number | boolean | null, style: CollectionStyle): string {
  if (typeof value === "number") return numberText(value);
  if (typeof value !== "string") return String(value);
  if (canBePlain(value, style)) return value;
  const isPlainer = /["\\]/.test(value) && !value.includes("'") && canBeSingleQuoted(value);
  return isPlainer ? singleQuoted(value) : doubleQuoted(value);
}

/**
 * Writes a number. YAML 1.1 needs a dot before an exponent, and reading refuses integers that
 * cannot be kept exactly.
 */
function numberText(value: number): string {
  if (Object.is(value, -0)) return "-0";
  const text = String(value);
  if (text.includes(".")) return text;
  if (text.includes("e")) return text.replace("e", ".0e");
  return Number.isSafeInteger(value) ? text : `${text}.0`;
}

/**
 * Whether readers of YAML 1.1 and of YAML 1.2 both read this text, without quotes, as the same
 * text.
 */
function canBePlain(text: string, style: CollectionStyle): boolean {
  return isPlainText(text, style) && !MEANT_OTHERWISE_IN_1_1.test(text);
}

/**
 * Whether readers of YAML 1.2 read this text, without quotes, as the same text: for them `ON` and
 * `12:30` are texts.
 */
function isPlainText(text: string, style: CollectionStyle): boolean {
  if (!PLAIN_START.test(text) || NEVER_PLAIN.test(text)) return false;
  if (style === "flow" && /[,[\]{}]/.test(text)) return false;
  return plainValue(text) === text && text !== "<<";
}

/**
 * A first character that is neither white space nor an indicator of YAML; `-x` is a text, `- x` is
 * not.
 */
const PLAIN_START = /^(?:-(?=[^\s-])|[^\s\-?:,[\]{}#&*!|>'"%@`])/;

const NEVER_PLAIN = new RegExp(
  [
    String.raw`\s$|:(?:\s|$)|\s#`,
    String.raw`^\.\.\.(?:\s|$)`,
    // Not only forbidden characters: also white space that readers treat differently, and halves of
    // characters.
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

/** Whether a text can be in single quotes, which have no escapes and fold lines. */
function canBeSingleQuoted(text: string): boolean {
  return !/[\t\n]/.test(text) && !NEVER_UNESCAPED.test(text);
}

function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/**
 * Quotes a text as JSON, whose escapes are valid in YAML, and escapes further characters that YAML
 * forbids.
 */
function doubleQuoted(text: string): string {
  return JSON.stringify(text).replaceAll(
    new RegExp(NEVER_UNESCAPED, "gu"),
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * Characters that YAML forbids, and those that change a line's direction, so that it looks
 * different from its content.
 */
const NEVER_UNESCAPED = new RegExp(
  String.raw`[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]|\p{Surrogate}`,
  "u",
);

/**
 * Whether a text can safely be a block. Editors and readers often damage white space at its start
 * and on its last line, and `|+` keeps empty lines at its end only together with those that follow
 * it in the file.
 */
function canBeBlock(text: string): boolean {
  return text !== "" && !/^\s|\n[ \t]+$|\n\n$/.test(text) && !NEVER_UNESCAPED.test(text);
}

export function flowText(value: Json): string {
  if (isArray(value)) return `[${value.map(flowText).join(", ")}]`;
  if (!isObject(value)) return scalarText(value, "flow");
  const pairs = Object.entries(value).map(([key, inner]) => flowPair(key, inner));
  return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
}

export function flowPair(key: string, value: Json): string {
  return `${scalarText(key, "flow")}: ${flowText(value)}`;
}

/** How a text is laid out: its indentation, and whether short lists stay on the line of their key. */
export type Layout = {
  readonly step: number;
  readonly listStep: number;
  readonly shortLists: boolean;
};

/** Returns the place of a key among the keys of the map at a path; equal ranks keep their order. */
export type KeyRank = (path: Path, key: string) => number;

/** Returns a value with the keys of all its maps in order. */
export function sorted<T extends Json>(value: T, path: Path, rank: KeyRank): T;
export function sorted(value: Json, path: Path, rank: KeyRank): Json {
  if (isArray(value)) return value.map((item, at) => sorted(item, [...path, at], rank));
  if (!isObject(value)) return value;
  const ranks = new Map(Object.keys(value).map((key) => [key, rank(path, key)]));
  const keys = [...ranks.keys()].toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
  return Object.fromEntries(
    keys.map((key) => [key, sorted(value[key] ?? null, [...path, key], rank)]),
  );
}

/** Longest list that stays on the line of its key. */
const SHORT_LIST = 60;

/** Whether a list is short and has only words that need no quotes. */
function isShortList(value: Json): boolean {
  if (!isArray(value)) return false;
  const words = value.filter((item) => typeof item === "string" && canBePlain(item, "flow"));
  return words.length === value.length && flowText(value).length <= SHORT_LIST;
}

type CommentAt = (path: Path) => string | undefined;

/** Writes values in block style, as lines without line ends. Columns count from 0. */
export class BlockWriter {
  readonly layout: Layout;
  readonly #commentAt: CommentAt;

  constructor(layout: Layout, commentAt: CommentAt = () => undefined) {
    this.layout = layout;
    this.#commentAt = commentAt;
  }

  lines(value: Json, indent: number, path: Path = []): string[] {
    if (isArray(value) && value.length > 0)
      return value.flatMap((item, at) => this.item(item, indent, [...path, at]));
    if (isObject(value) && isFilled(value))
      return Object.entries(value).flatMap(([key, inner]) =>
        this.pair(key, inner, indent, [...path, key]),
      );
    // Even at the top level, the lines of a text are indented: otherwise one could be read as
    // `---`.
    const [first, ...rest] = inlineLines(value, Math.max(indent, this.layout.step));
    return [pad(indent) + first, ...rest];
  }

  pair(key: string, value: Json, indent: number, path: Path = []): string[] {
    const lines = this.comment(path, indent);
    const keyText = scalarText(key, "block");
    // YAML only accepts a longer key after a `? `.
    const isLong = keyText.length >= MAX_KEY_LENGTH;
    if (isLong) lines.push(`${pad(indent)}? ${keyText}`);
    const head = `${pad(indent)}${isLong ? "" : keyText}:`;
    if (this.isBlock(value))
      return [...lines, head, ...this.lines(value, this.below(value, indent), path)];
    const [first, ...rest] = inlineLines(value, indent + this.layout.step);
    return [...lines, `${head} ${first}`, ...rest];
  }

  item(value: Json, indent: number, path: Path = []): string[] {
    const [first = "", ...rest] = this.lines(value, indent + DASH, path);
    return [
      ...this.comment(path, indent),
      `${pad(indent)}- ${first.slice(indent + DASH)}`,
      ...rest,
    ];
  }

  /** Whether a value under a key begins on a line of its own. */
  isBlock(value: Json): boolean {
    return isFilled(value) && !(this.layout.shortLists && isShortList(value));
  }

  below(value: Json, indent: number): number {
    return indent + (isArray(value) ? this.layout.listStep : this.layout.step);
  }

  /**
   * Returns the comment for a path. It may quote names from elsewhere; characters that YAML forbids
   * become U+FFFD.
   */
  comment(path: Path, indent: number): string[] {
    const lines = this.#commentAt(path)?.split(/\r\n?|[\n\u0085\u2028\u2029]/) ?? [];
    const printable = lines.map((line) =>
      line.replaceAll(
        /[^\P{Cc}\t]|\p{Cs}|[\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/gu,
        "\ufffd",
      ),
    );
    return printable.map((line) => `${pad(indent)}# ${line}`.trimEnd());
  }
}

const DASH = 2;

/**
 * A value that can begin after a colon or a dash: its first line, and the further lines, which are
 * indented.
 */
type Inline = readonly [first: string, ...rest: string[]];

function inlineLines(value: Json, indent: number): Inline {
  if (isArray(value)) return [flowText(value)];
  if (isObject(value)) return ["{}"];
  if (typeof value !== "string" || !value.includes("\n") || !canBeBlock(value))
    return [scalarText(value, "block")];
  const [mark, text] = value.endsWith("\n") ? ["|", value.slice(0, -1)] : ["|-", value];
  return [mark, ...text.split("\n").map((line) => (line === "" ? "" : pad(indent) + line))];
}

export function isFilled(value: Json): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

export function pad(indent: number): string {
  return " ".repeat(indent);
}

/**
 * Writes plain data as YAML in block style; short lists of plain words stay on the line of their
 * key. The same value always gives the same text. Texts of several lines become `|` blocks, and quotes are only used where a reader of YAML 1.1 or 1.2 would otherwise read a text as something different.
 * Reading the text gives the value again, if it is not nested deeper than reading allows.
 *
 * @param commentAt returns a comment for the line above the key or the item at a path, or above everything for `[]`,
 *   without `#`. It may have several lines and any content: it cannot end early and become YAML.
 */
export function writeYaml(value: Json, commentAt?: CommentAt): string {
  const writer = new BlockWriter({ step: 2, listStep: 2, shortLists: true }, commentAt);
  return `${[...writer.comment([], 0), ...writer.lines(value, 0)].join("\n")}\n`;
}

/**
 * Writes a value in the style of the one that it replaces, as far as possible: plain, quoted, or a
 * block of text with its header, its comment and its indentation. `source` contains the node;
 * `indent` is used if the old value was not a block.
 */
export function restyled(value: Json, node: Node, source: string, indent: number): Inline {
  if (node.kind !== "scalar") return inlineLines(value, indent);
  if (node.style === "literal" || node.style === "folded") {
    const old = source.slice(node.start, node.end).split(/\r?\n/);
    const block = typeof value === "string" ? blockLike(value, node.style, old, indent) : undefined;
    if (block !== undefined) return block;
    // The comment in the header of the old block stays on its line.
    const comment = /(?<!\s)\s+#.*$/.exec(old[0] ?? "")?.[0] ?? "";
    const [first, ...rest]: Inline =
      typeof value === "string" ? [doubleQuoted(value)] : inlineLines(value, indent);
    return [first + comment, ...rest];
  }
  const quoted = typeof value === "string" ? sameQuotes(value, node, "block") : undefined;
  return quoted === undefined ? inlineLines(value, indent) : [quoted];
}

/**
 * Writes a value in the style of the old one inside braces and brackets, where everything stays on
 * one line.
 */
export function restyledFlow(value: Json, node: Node): string {
  if (typeof value !== "string" || node.kind !== "scalar") return flowText(value);
  return sameQuotes(value, node, "flow") ?? scalarText(value, "flow");
}

function sameQuotes(
  text: string,
  node: ScalarNode,
  surroundings: CollectionStyle,
): string | undefined {
  if (node.style === "single" && canBeSingleQuoted(text)) return singleQuoted(text);
  if (node.style === "double" || node.style === "single") return doubleQuoted(text);
  // `ON` without quotes is text only in YAML 1.2, so its author also wants `OFF` without quotes.
  const isOwnStyle = node.value === node.text && !canBePlain(node.text, surroundings);
  return isOwnStyle && isPlainText(text, surroundings) ? text : undefined;
}

function blockLike(
  value: string,
  style: "literal" | "folded",
  [header = "", ...body]: readonly string[],
  indent: number,
): Inline | undefined {
  const [, marks = "", note = ""] = /^[|>]([-+0-9]*)(.*)$/.exec(header) ?? [];
  const keepsAll = marks.includes("+");
  const content = value.replace(keepsAll ? /(?<!\n)\n+$/ : /\n$/, "");
  // Only `|+` keeps empty lines at the end.
  if (!canBeBlock(content) || content.endsWith("\n") || (keepsAll && content === value))
    return undefined;
  const chomping = value === content ? "-" : keepsAll ? "+" : "";
  const folded = style === "folded" ? foldedLines(content, body) : undefined;
  const lines = folded ?? content.split("\n");
  for (let left = value.length - content.length; left > 1; left--) lines.push("");
  const margin = pad(
    /^ *(?=[^ ])/.exec(body.find((line) => line.trim() !== "") ?? "")?.[0].length ?? indent,
  );
  const indented = lines.map((line) => (line === "" ? "" : margin + line));
  return [`${folded ? ">" : "|"}${chomping}${note}`, ...indented];
}

/**
 * Returns the lines of a `>` block for a text without line ends at its end; `undefined` if folding
 * would change the text. Paragraphs of the old block keep their line breaks, so that a diff only
 * shows the paragraphs that changed. Others are broken at the width of the old block, if that had
 * any line breaks.
 */
function foldedLines(content: string, body: readonly string[]): string[] | undefined {
  if (/^[ \t]|[ \t]$/m.test(content)) return undefined;
  // Old paragraphs by their text, each with its lines.
  const blocks = body
    .map((line) => line.trim())
    .join("\n")
    .trim()
    .split(/\n\n+/);
  const old = new Map(blocks.map((block) => [block.replaceAll("\n", " "), block.split("\n")]));
  const isBroken = [...old.values()].some((lines) => lines.length > 1);
  const width = isBroken ? Math.max(...body.map((line) => line.trim().length)) : Infinity;
  const lines = content
    .split("\n")
    .map((paragraph) => old.get(paragraph) ?? broken(paragraph, width));
  // Between two paragraphs a line end is written as an empty line; after an empty paragraph it is
  // written as it is.
  return lines.flatMap((paragraph, at) =>
    paragraph[0] !== "" && at < lines.length - 1 ? [...paragraph, ""] : paragraph,
  );
}

/**
 * Breaks a paragraph into lines, only at single spaces: folding would reduce several spaces to one.
 */
function broken(paragraph: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of paragraph.split(/(?<=[^ \t]) (?=[^ \t])/)) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
