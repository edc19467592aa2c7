import { COLOUR } from "../render/style.ts";
import { isHarmlessJoiner } from "./harmless.ts";

/**
 * Names, prompts and messages come from the service and from manifests, so from people we do not know. What they
 * write must show as they wrote it and do nothing else: no terminal codes, no reversed or invisible text, no
 * workflow commands. Text that would act is shown by its number (`\u001b`) instead of being dropped, so that a
 * reviewer sees that it is there. The escapes of the single formats are in `escape.ts`.
 */

/**
 * Controls, separators, everything that shows nothing or turns the direction of its surroundings, halves of
 * characters, private-use characters (a font may draw anything there).
 */
const ACTING = String.raw`[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2028\u2029\ufff9-\ufffb\p{Noncharacter_Code_Point}\p{Cs}\p{Co}]`;
const anyActing = new RegExp(ACTING, "u");
const everyActing = new RegExp(ACTING, "gu");

/** One line: every control is shown by its number, line breaks and tabs as `\n` and `\t`. */
export function safeLine(text: string): string {
  return replaceActing(text, numbered);
}

/** Several lines: line breaks and tabs stay as they are; `\r\n` counts as one line break. */
export function safeLines(text: string): string {
  return replaceActing(text.replaceAll("\r\n", "\n"), (character) =>
    character === "\n" || character === "\t" ? character : numbered(character),
  );
}

/** The text with all that would act, line breaks and tabs included, written in another way. */
export function replaceActing(text: string, write: (character: string) => string): string {
  if (!anyActing.test(text)) return text;
  return text.replace(everyActing, (character: string, at: number) =>
    isHarmlessJoiner(character, text, at) ? character : write(character),
  );
}

const NAMED: Readonly<Record<string, string>> = { "\n": "\\n", "\t": "\\t", "\r": "\\r" };

function numbered(character: string): string {
  const named = NAMED[character];
  if (named !== undefined) return named;
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, "0")}`;
}

/** Most texts are made of nothing else, and are seen to do nothing at a glance. */
const PRINTABLE = /^[\n\t\u0020-\u007e]*$/;

/**
 * A finished text for a terminal or a log. It may carry the colours that our own renderers set, when `colour` says
 * so, and nothing else that acts; a line cannot give an order to the runner of a workflow.
 */
export function safeOutput(text: string, { colour }: { readonly colour: boolean }): string {
  if (PRINTABLE.test(text) && !text.includes("::") && !text.includes("##")) return text;
  const parts = colour ? text.split(COLOUR) : [text];
  return withoutWorkflowCommands(parts.map((part, at) => (at % 2 === 1 ? part : safeLines(part))).join(""));
}

/**
 * GitHub's runner obeys `::` at the start of a line, after any whitespace. The break is a visible one, since runners
 * compare text in a way that passes over invisible characters.
 */
export function withoutWorkflowCommands(text: string): string {
  return withoutLogCommands(text).replace(
    /^((?:[^\S\n]|\p{Default_Ignorable_Code_Point})*):([\p{Default_Ignorable_Code_Point}]*):/gmu,
    "$1: $2:",
  );
}

/** `##[` is obeyed anywhere in a line; so are `##vso[` on Azure and `##teamcity[`. */
export function withoutLogCommands(text: string): string {
  return text.replace(
    /#([\p{Default_Ignorable_Code_Point}]*)#(?=[\p{Default_Ignorable_Code_Point}\w]*\[)/gu,
    "# $1#",
  );
}
