import { COLOUR } from "./style.ts";

/*
 * What the service and manifests say must show as it was written and do nothing else: no terminal codes, no reversed or
 * invisible text, no workflow commands. Text that would act is shown by its number (`\u001b`), so that a reviewer sees
 * it. With one function per format, text from outside becomes a piece of that format and cannot be anything else.
 */

export function annotationMessage(text: string): string {
  return withoutLogCommands(safeLines(text))
    .replaceAll("%", "%25")
    .replaceAll("\r", "%0D")
    .replaceAll("\n", "%0A");
}

/** A property of a workflow annotation, `::error file=PROPERTY`. */
export function annotationProperty(text: string): string {
  return annotationMessage(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

/** Code inside a line of Markdown: all it takes is a fence longer than any run of backticks. */
export function markdownCode(text: string): string {
  const line = withoutLogCommands(safeLine(text));
  if (line === "") return "";
  const fence = "`".repeat(longestRun(line) + 1);
  const pad = /^`|`$|^ .* $/.test(line) ? " " : "";
  return `${fence}${pad}${line}${pad}${fence}`;
}

/**
 * The same inside a cell of a table, where a bar ends even code. What a backslash before it means differs from parser to
 * parser; an entity means the same to all of them.
 */
export function markdownCellCode(text: string): string {
  return text.includes("|") ? `<code>${markdownText(text)}</code>` : markdownCode(text);
}

export function markdownBlock(text: string, language: string): string {
  const lines = safeLines(text);
  const fence = "`".repeat(Math.max(3, longestRun(lines) + 1));
  return `${fence}${language}\n${lines.replace(/\n?$/, "\n")}${fence}\n`;
}

/**
 * Running text in Markdown. Every sign that Markdown knows becomes an entity; mentions, issue numbers and addresses are
 * found by GitHub after entities are read, so these are parted by a character that shows nothing.
 */
export function markdownText(text: string): string {
  return safeLine(text)
    .replace(/[!-/:-@[-`{-~]/g, (sign) => `&#${sign.charCodeAt(0)};`)
    .replace(/&#64;|&#35;|&#58;/g, "$&&#8203;")
    .replace(patterns().links, "$1&#8203;")
    .replace(/\b[0-9a-f]{7,40}\b/gi, (hash) => `${hash.slice(0, 1)}&#8203;${hash.slice(1)}`);
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "`": "&#96;",
};

export function html(text: string): string {
  // Most texts are addresses and words, and there are a hundred thousand of them in a page.
  if (/^(?!\s*:)[\w .,:;()[\]{}=+/-]*$/.test(text)) return text;
  return safeLines(text)
    .replace(/[&<>"'`]/g, (sign) => ENTITIES[sign] ?? sign)
    .replace(/^([^\S\n]*):/gm, "$1&#58;")
    .replace(/#(?=#)/g, "&#35;");
}

/** In XML it is the same; inside an attribute a line break would be read as a blank. */
export function xmlAttribute(text: string): string {
  return html(text).replaceAll("\n", "&#10;").replaceAll("\t", "&#9;");
}

/** A part of a path in a URL; half of a character cannot be encoded. */
export function uriPart(text: string): string {
  return encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, "\ufffd"));
}

/** JSON text as it may be printed: the same value; what acts on a terminal or a workflow log by its number. */
export function printedJson(json: string): string {
  return replaceActing(json, "inLines", byUnits).replace(/##(?=\w*\[)/g, byUnits);
}

/** Each UTF-16 unit as JSON writes it. */
function byUnits(text: string): string {
  return text.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}

/** Controls, separators, what shows nothing or turns the direction, halves of characters, private use (any drawing). */
const ACTING = String.raw`[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2028\u2029\u2800\ufff9-\ufffb\p{Noncharacter_Code_Point}\p{Cs}\p{Co}]`;
/** Letters of scripts in which a joiner may show. */
const JOINED = String.raw`[^\P{L}\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}\p{sc=Han}]`;
/**
 * Joiners, selectors and tags can hide a difference between two names. Some belong to what one sees: they make one emoji
 * of several, shape a Persian or Hindi word, or spell the flags of England, Scotland and Wales. The neighbours are looked
 * at last: a pattern of all emoji is too slow to be tried at every character.
 */
const HARMLESS = [
  String.raw`[\ufe0e\ufe0f](?:(?<=(?![\d#*])\p{Emoji}.)|(?=\u20e3))`,
  String.raw`\u200d(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f].)(?=\p{Extended_Pictographic})`,
  String.raw`[\u200c\u200d](?<=(?:${JOINED}|\p{M}).)(?=${JOINED}|\p{M})`,
  String.raw`[\u{e0020}-\u{e007f}](?<=\u{1f3f4}[\u{e0020}-\u{e007e}]{0,7}.)`,
].join("|");

function makePatterns() {
  const actingBut = (kept: string) => ({
    any: new RegExp(kept + ACTING, "u"),
    every: new RegExp(`(${HARMLESS})|${kept}${ACTING}`, "gu"),
  });
  const invisible = String.raw`\p{Default_Ignorable_Code_Point}`;
  return {
    inLine: actingBut(""),
    inLines: actingBut(String.raw`(?![\n\t])`),
    links: new RegExp(String.raw`(?<![\p{L}\p{N}])(www|gh|GH)(?![\p{L}\p{N}])`, "giu"),
    workflow: new RegExp(String.raw`^((?:[^\S\n\ufeff]|${invisible})*):(${invisible}*):`, "gmu"),
    log: new RegExp(String.raw`#(${invisible}*)#(?=[${invisible}\w]*\[)`, "gu"),
  };
}
let made: ReturnType<typeof makePatterns> | undefined;
/** Made for the first text that needs them: whole classes of characters take as long as reading a manifest. */
const patterns = () => (made ??= makePatterns());

/** One line: every control is shown by its number, line breaks and tabs as `\n` and `\t`. */
export function safeLine(text: string): string {
  return replaceActing(text, "inLine", numbered);
}

/** Several lines: line breaks and tabs stay as they are; `\r\n` counts as one line break. */
export function safeLines(text: string): string {
  return replaceActing(text.replaceAll("\r\n", "\n"), "inLines", numbered);
}

/** The same line by line; of an empty text none. */
export function linesOf(text: string): readonly string[] {
  return text === "" ? [] : safeLines(text).trimEnd().split("\n");
}

/** Most texts have none but these (Latin letters, and signs of our own), and are seen to do nothing at a glance. */
const PLAIN = {
  inLine: /^[ -~\u00a0-\u00ac\u00ae-\u024f→…↻]*$/,
  inLines: /^[\n\t -~\u00a0-\u00ac\u00ae-\u024f→…↻]*$/,
};
type Place = keyof typeof PLAIN;

/** The text with all that would act written in another way. */
function replaceActing(text: string, place: Place, write: (character: string) => string): string {
  if (PLAIN[place].test(text)) return text;
  const { any, every } = patterns()[place];
  if (!any.test(text)) return text;
  return text.replace(every, (character, harmless?: string) => harmless ?? write(character));
}

const NAMED: Readonly<Record<string, string>> = { "\n": "\\n", "\t": "\\t", "\r": "\\r" };

function numbered(character: string): string {
  const named = NAMED[character];
  if (named !== undefined) return named;
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, "0")}`;
}

/** A finished text for a terminal or a log: nothing in it acts but, with `colour`, our own colours. */
export function safeOutput(text: string, { colour }: { readonly colour: boolean }): string {
  if (isHarmless(text)) return text;
  const parts = colour ? text.split(COLOUR) : [text];
  return withoutWorkflowCommands(parts.map((part, at) => (at % 2 === 1 ? part : safeLines(part))).join(""));
}

/** GitHub's runner obeys `::` at the start of a line, and passes over what is invisible: the break is a visible one. */
export function withoutWorkflowCommands(text: string): string {
  return isHarmless(text) ? text : withoutLogCommands(text).replace(patterns().workflow, "$1: $2:");
}

/** `##[` is obeyed anywhere in a line; so are `##vso[` on Azure and `##teamcity[`. */
function withoutLogCommands(text: string): string {
  return isHarmless(text) ? text : text.replace(patterns().log, "# $1#");
}

function isHarmless(text: string): boolean {
  return PLAIN.inLines.test(text) && !/::|##/.test(text);
}
