/**
 * The forms in which a secret turns up in a text: as it is, or as an encoder left it. Encoders leave ASCII letters
 * and digits alone, so only the other characters have several forms; each may stand in its own, since a text can
 * have gone through several encoders (a JSON body quoted in a JSON message, in a URL, in HTML).
 */

/** Shorter values are too common to be found by what they say (design contract, section 1). */
export const SHORTEST_SECRET = 4;
/** A line of a longer secret that is this long is a secret itself; shorter ones are `}` or `-----`. */
const SHORTEST_LINE = 8;

/** No form of one character is longer than a line break with gutters on both sides. */
export const LONGEST_CHARACTER = 150;

/** Regular expressions, as source text, for all forms of all secrets; those of longer secrets come first. */
export function secretForms(secrets: readonly string[]): readonly string[] {
  const texts = [...new Set(secrets.flatMap(variants))].filter((text) => text.length >= SHORTEST_SECRET);
  texts.sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  return [...new Set(texts.flatMap((text) => [written(text), ...base64(text)]))];
}

/** Services trim what they are given, and logs show one line at a time. */
function variants(secret: string): readonly string[] {
  const lines = secret.split(/\r\n|\r|\n/).map((line) => line.trim());
  return [
    secret,
    secret.trim(),
    ...(lines.length > 1 ? lines.filter((line) => line.length >= SHORTEST_LINE) : []),
  ];
}

/**
 * Runs of white space and of backslashes are taken together: where neighbours may both be drawn out, a text that is
 * almost the secret could be cut up in so many ways that the search would not come to an end.
 */
const RUNS = /[ \t\r\n\f\v]+|\\+|[A-Za-z0-9]+|\P{ASCII}|[^A-Za-z0-9\s\\]/gu;

function written(secret: string): string {
  return (secret.match(RUNS) ?? []).map(writtenRun).join("");
}

function writtenRun(run: string): string {
  if (/^[A-Za-z0-9]/.test(run)) return run;
  if (run.startsWith("\\")) return backslashes(run.length);
  return /^[ \t\r\n\f\v]/.test(run) ? whiteSpace(run) : sign(run);
}

/** In front of an escaped character: one backslash, or as many as escaping it again (and again) makes of it. */
const ESCAPE = String.raw`\\{1,7}`;
/** HTML may have been escaped again as well. */
const AMPERSAND = "&(?:amp;){0,2}";

const HEX_SPACE = "(?:20|0[9a-dA-D])";
const SPACE_ENTITY = `${AMPERSAND}#0{0,4}(?:32|9|1[0-3]|[xX]0{0,4}(?:20|[9a-dA-D]));`;
const ONE_SPACE = `(?:\\s|${ESCAPE}(?:[tnrfv]|u00${HEX_SPACE})|%(?:25){0,2}${HEX_SPACE}|${SPACE_ENTITY})`;
const BLANKS = String.raw`[^\S\n]{0,20}`;

/** White space may have been set in lines anew, with the signs that a diff or a quotation puts before each line. */
function whiteSpace(run: string): string {
  const lines = Math.max(1, run.split("\n").length - 1);
  const wrapped = `${BLANKS}(?:\\n${BLANKS}(?:[|│>+~-]${BLANKS}){0,3}){1,${lines}}`;
  return `(?:${wrapped}|${ONE_SPACE}{1,${run.length + 20}}|\\+{${run.length}})`;
}

function backslashes(count: number): string {
  return `(?:\\\\{${count},${count * 8}}|(?:${numeric("\\")}){${count},${count * 8}})`;
}

/** Signs and letters beyond ASCII; Markdown, shells and JSON may put backslashes before them. */
function sign(character: string): string {
  const named = NAMES[character];
  const entity = named === undefined ? "" : `|${AMPERSAND}${named};`;
  return `(?:${quoted(character)}|${ESCAPE}${quoted(character)}|${numeric(character)}${entity})`;
}

const NAMES: Readonly<Record<string, string>> = {
  "&": "amp",
  "<": "lt",
  ">": "gt",
  '"': "quot",
  "'": "apos",
  "/": "sol",
  "+": "plus",
  "\u00a0": "nbsp",
};

/** A character by its number: `%2F`, `\u002f`, `&#47;`, `&#x2f;`. */
function numeric(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const percent = [...Buffer.from(character)].map((byte) => `%(?:25){0,2}${hex(byte, 2)}`).join("");
  const units = [...Array(character.length).keys()].map(
    (at) => `${ESCAPE}u${hex(character.charCodeAt(at), 4)}`,
  );
  return `(?:${percent}|${units.join("")}|${AMPERSAND}#(?:0{0,4}${code}|[xX]0{0,4}${hex(code, 1)});)`;
}

/** Digits of a number in either case. */
function hex(code: number, digits: number): string {
  const text = code.toString(16).padStart(digits, "0");
  return text.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

function quoted(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

/**
 * Base64 writes three bytes as four characters, so inside a longer text a secret has three forms, by where it
 * starts. Only the characters that the secret alone decides are looked for; a few bits more stand in their neighbours.
 */
function base64(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  return [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor(((offset + bytes.length) * 8) / 6);
    const core = encoded.slice(first, last);
    return `${core.replace(/[+/]/g, (character) => BASE64_SIGNS[character] ?? character)}${BASE64_END}`;
  });
}

const BASE64_SIGNS: Readonly<Record<string, string>> = {
  "+": String.raw`(?:[+\-]|%2[bB]|&#43;|\\{1,7}u002[bB])`,
  "/": String.raw`(?:_|(?:\\{1,7})?\/|%2[fF]|&#47;)`,
};
const BASE64_CHARACTER = "[A-Za-z0-9+/_-]";
const BASE64_END = `${BASE64_CHARACTER}?(?:=|%3[dD]){0,2}`;
