import { COLOUR } from "./style.ts";

/*
 * Text from the service and the manifests must be shown as written and must not act: no terminal codes, no reversed or
 * invisible text, no workflow commands. Characters that would act are shown by number (`\u001b`), so that a reviewer sees
 * them. There is one function per format, so that text from outside becomes a piece of it and cannot be anything else.
 */

export function annotationMessage(text: string): string {
  return withoutLogCommands(safeLines(text))
    .replaceAll("%", "%25")
    .replaceAll("\r", "%0D")
    .replaceAll("\n", "%0A");
}

/** Escapes a property of a workflow annotation, `::error file=PROPERTY`. */
export function annotationProperty(text: string): string {
  return annotationMessage(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

/**
 * Writes inline code in Markdown. It only needs a fence that is longer than any run of backticks.
 */
export function markdownCode(text: string): string {
  const line = withoutLogCommands(safeLine(text));
  if (line === "") return "";
  const fence = "`".repeat(longestRun(line) + 1);
  const pad = /^`|`$|^ .* $/.test(line) ? " " : "";
  return `${fence}${pad}${line}${pad}${fence}`;
}

/**
 * Writes inline code in a table cell. A bar would end the cell; as an entity, all parsers read it
 * in the same way.
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
 * Escapes running text for Markdown. Every special character becomes an entity. GitHub finds
 * mentions, issue numbers, commit hashes and URLs after it has decoded entities, so an invisible
 * character splits these.
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
  // Fast path: most texts are addresses and words, and a page has a hundred thousand of them.
  if (/^(?!\s*:)[\w .,:;()[\]{}=+/→…-]*$/.test(text)) return text;
  return withEntities(text, /[&<>"'`]/g);
}

/**
 * Escapes text between tags, where quotes need no entity: the bodies of calls are full of them, and
 * the search for secrets reads each entity.
 */
export function htmlContent(text: string): string {
  return withEntities(text, /[&<>`]/g);
}

function withEntities(text: string, signs: RegExp): string {
  return safeLines(text)
    .replace(signs, (sign) => ENTITIES[sign] ?? sign)
    .replace(/^([^\S\n]*):/gm, "$1&#58;")
    .replace(/#(?=#)/g, "&#35;");
}

/**
 * Escapes an XML attribute like HTML, and also line breaks and tabs, which would be read as blanks.
 */
export function xmlAttribute(text: string): string {
  return html(text).replaceAll("\n", "&#10;").replaceAll("\t", "&#9;");
}

/** Encodes a segment of a URL path; half a surrogate pair, which cannot be encoded, is replaced. */
export function uriPart(text: string): string {
  return encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, "\ufffd"));
}

/**
 * Makes JSON text safe to print, with the same value: characters that act on a terminal or a
 * workflow log are escaped.
 */
export function printedJson(json: string): string {
  return replaceActing(json, "inLines", byUnits).replace(/##(?=\w*\[)/g, byUnits);
}

/** Escapes each UTF-16 unit as JSON does. */
function byUnits(text: string): string {
  return text.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}

/**
 * Controls, separators, invisible characters, direction marks, halves of characters, private use
 * (any appearance).
 */
const ACTING = String.raw`[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2028\u2029\u2800\ufff9-\ufffb\p{Noncharacter_Code_Point}\p{Cs}\p{Co}]`;
/** Letters of scripts in which a joiner can be visible. */
const JOINED = String.raw`[^\P{L}\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}\p{sc=Han}]`;
/**
 * Invisible characters that may stay. Joiners, selectors and tags can hide a difference between two
 * names. But some are part of visible text: they combine emoji, shape a Persian or Hindi word, or
 * spell the flags of England, Scotland and Wales. Neighbours are checked last, because a pattern of
 * all emoji is too slow to try at every character.
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
/**
 * Compiles the patterns on first use: whole character classes take as long to compile as a manifest
 * takes to read.
 */
const patterns = () => (made ??= makePatterns());

/**
 * Makes text safe for one line: controls are shown by number, line breaks and tabs as `\n` and
 * `\t`.
 */
export function safeLine(text: string): string {
  return replaceActing(text, "inLine", numbered);
}

/**
 * Makes text safe for several lines: line breaks and tabs stay as they are; `\r\n` counts as one
 * line break.
 */
export function safeLines(text: string): string {
  return replaceActing(text.replaceAll("\r\n", "\n"), "inLines", numbered);
}

/** Splits text into safe lines; an empty text has no lines. */
export function linesOf(text: string): readonly string[] {
  return text === "" ? [] : safeLines(text).trimEnd().split("\n");
}

/**
 * Most texts have only these characters (Latin letters and our own signs), so one quick test shows
 * that nothing acts.
 */
const PLAIN = {
  inLine: /^[ -~\u00a0-\u00ac\u00ae-\u024f→…↻]*$/,
  inLines: /^[\n\t -~\u00a0-\u00ac\u00ae-\u024f→…↻]*$/,
};
type Place = keyof typeof PLAIN;

/** Replaces all characters that would act. */
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

/**
 * Makes a finished text safe for a terminal or a log: nothing in it acts except, with `colour`, our
 * own colours.
 */
export function safeOutput(text: string, { colour }: { readonly colour: boolean }): string {
  if (isHarmless(text)) return text;
  const parts = colour ? text.split(COLOUR) : [text];
  return withoutWorkflowCommands(
    parts.map((part, at) => (at % 2 === 1 ? part : safeLines(part))).join(""),
  );
}

/**
 * Puts a visible blank into commands: GitHub's runner obeys `::` at a line's start and ignores
 * invisible characters.
 */
export function withoutWorkflowCommands(text: string): string {
  return isHarmless(text) ? text : withoutLogCommands(text).replace(patterns().workflow, "$1: $2:");
}

/**
 * Breaks up log commands: `##[` is obeyed anywhere in a line, as are `##vso[` on Azure and
 * `##teamcity[`.
 */
function withoutLogCommands(text: string): string {
  return isHarmless(text) ? text : text.replace(patterns().log, "# $1#");
}

function isHarmless(text: string): boolean {
  return PLAIN.inLines.test(text) && !/::|##/.test(text);
}
