import { replaceActing, safeLine, safeLines, withoutLogCommands } from "./safe.ts";

/**
 * One function per format: text from outside becomes a piece of that format which says the same and cannot be
 * anything else. Each makes its text safe to look at first (`safe.ts`).
 */

/** The message of a workflow annotation, `::error …::MESSAGE`. */
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

/**
 * Code inside a line of Markdown. In code nobody is mentioned, no link or issue number is made and no HTML is
 * read; all it takes is a fence longer than any run of backticks inside.
 */
export function markdownCode(text: string): string {
  const line = safeLine(text);
  if (line === "") return "";
  const fence = "`".repeat(longestRun(line, /`+/g) + 1);
  const pad = /^`|`$|^ .* $/.test(line) ? " " : "";
  return `${fence}${pad}${line}${pad}${fence}`;
}

/** The same inside a cell of a table, where even in code a bar ends the cell. */
export function markdownCellCode(text: string): string {
  return markdownCode(text).replaceAll("|", "\\|");
}

/** A block of code, `language` naming its colours. */
export function markdownBlock(text: string, language: string): string {
  const lines = safeLines(text);
  const fence = "`".repeat(Math.max(3, longestRun(lines, /`+/g) + 1));
  return `${fence}${language}\n${lines.replace(/\n?$/, "\n")}${fence}\n`;
}

/**
 * Running text in Markdown, where code would read badly: a message, a name in a sentence. Every sign that Markdown
 * knows becomes an entity; mentions, issue numbers and addresses are found by GitHub after the entities are read
 * again, so these are parted by a character that shows nothing.
 */
export function markdownText(text: string): string {
  return safeLine(text)
    .replace(/[!-/:-@[-`{-~]/g, (sign) => `&#${sign.charCodeAt(0)};`)
    .replace(/&#64;|&#35;|&#58;/g, "$&&#8203;")
    .replace(/(?<![\p{L}\p{N}])(www|gh|GH)(?![\p{L}\p{N}])/giu, "$1&#8203;")
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

/** Text or an attribute's value in HTML. */
export function html(text: string): string {
  return safeLines(text)
    .replace(/[&<>"'`]/g, (sign) => ENTITIES[sign] ?? sign)
    .replace(/^([^\S\n]*):/gm, "$1&#58;")
    .replace(/#(?=#)/g, "&#35;");
}

/** The same in XML: what XML 1.0 cannot hold is among what is shown by number. */
export function xml(text: string): string {
  return html(text);
}

/** JSON text inside a script element: the same value, with no character that could end the element. */
export function scriptJson(json: string): string {
  return printedJson(json).replace(/[<>&]/g, byUnits);
}

/** JSON text as it may be printed: the same value; what acts on a terminal or a workflow log by its number. */
export function printedJson(json: string): string {
  return replaceActing(json, (character) => (character === "\n" ? character : byUnits(character))).replace(
    /##(?=\w*\[)/g,
    byUnits,
  );
}

/** Each UTF-16 unit as JSON writes it. */
function byUnits(text: string): string {
  return text.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function longestRun(text: string, runs: RegExp): number {
  return Math.max(0, ...(text.match(runs) ?? []).map((run) => run.length));
}
