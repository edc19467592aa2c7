import { type Json, type JsonObject, isArray, isObject, jsonIn } from "../model/json.ts";
import type { Fault } from "./failure.ts";
import { isDeeper, withoutBom } from "./json-stream.ts";
import { MAX_DEPTH, MAX_ERROR_BYTES, MAX_WORDS } from "./request.ts";

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Returns the value of a header; the first one if it was sent several times. */
export function headerText(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "object" ? value[0] : value;
}

/**
 * Returns the fault of a status outside 2xx, by RFC 9110 (not in service-api.md, "Errors").
 * @param origin of the request
 */
export function statusFault(
  status: number,
  headers: Headers,
  words: string | undefined,
  origin: string,
  now: number,
): Fault {
  if (status === 401 || status === 403) return { kind: "key-refused", status, words };
  if (status >= 300 && status < 400) {
    const location = headerText(headers, "location");
    const isReadable = location !== undefined && URL.canParse(location, origin);
    // Only the host, because the rest of a `Location` may contain tokens.
    return {
      kind: "redirect",
      status,
      host: (isReadable && new URL(location, origin).host) || undefined,
    };
  }
  return { kind: "status", status, words, retryAfter: retryAfter(headers, now) };
}

/**
 * The three forms that RFC 9110, section 5.6.7, makes recipients accept. All are in UTC, even if
 * they do not say so.
 */
const DATES: readonly RegExp[] = [
  /^\w{3}, \d{2} \w{3} \d{4} [\d:]{8} GMT$/,
  /^\w{6,9}, \d{2}-\w{3}-\d{2} [\d:]{8} GMT$/,
  /^\w{3} \w{3} [ \d]\d [\d:]{8} \d{4}$/,
];

/**
 * Parses a date of an HTTP header. Returns milliseconds since 1970, or undefined if it is not a
 * date.
 */
export function parseHttpDate(text: string): number | undefined {
  if (!DATES.some((form) => form.test(text))) return undefined;
  const at = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(at) ? undefined : at;
}

/** Maximum wait in milliseconds (five minutes), even if the service asks for more. */
export const MAX_RETRY_AFTER = 5 * 60_000;

/**
 * Returns the milliseconds that an answer asks to wait by `Retry-After`, which is in seconds or an
 * HTTP date. The date is compared with the answer's own `Date`, so that wrong clocks do not matter.
 * Undefined if it is missing or unreadable.
 */
export function retryAfter(headers: Headers, now: number): number | undefined {
  const value = headerText(headers, "retry-after")?.trim();
  if (value === undefined) return undefined;
  const date = parseHttpDate(value);
  const sent = parseHttpDate(headerText(headers, "date")?.trim() ?? "") ?? now;
  const wait = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1000 : date && date - sent;
  return wait === undefined ? undefined : Math.min(Math.max(Math.ceil(wait), 0), MAX_RETRY_AFTER);
}

/**
 * Removes secrets from a text. Must run before the text is cut, which could leave half a secret.
 */
export type Redact = (text: string) => string;

/**
 * Returns the service's message in the body of an error, in one clean line. service-api.md does not
 * show its shape, so this accepts the usual ones: JSON with the message under one of many names,
 * HTML, plain text, nothing.
 */
export function wordsOf(body: Uint8Array, redact: Redact): string | undefined {
  const bytes = withoutBom(body);
  // Bytes that are not UTF-8 are read as Latin-1, which older servers write. If they were lost, a
  // secret could be missed.
  const latin1 = Buffer.from(bytes).toString("latin1");
  const decoded = latin1.replace(UTF_8, (letters) => Buffer.from(letters, "latin1").toString());
  // If the body was cut, its end may be the beginning of a secret.
  const text = body.length < MAX_ERROR_BYTES ? decoded : redact(decoded).slice(0, -LONGEST_SECRET);
  const json = isDeeper(bytes, MAX_DEPTH) ? undefined : jsonIn(text);
  // Redact before removing tags: a secret may contain text that looks like a tag.
  const words = json === undefined ? textOfHtml(redact(text)) : wordsOfJson(json).join("; ");
  // Redact again, because the characters that were just removed may have hidden a secret.
  const line = redact(redact(words).replace(UNWANTED, "").replace(/\s+/g, " ").trim());
  const characters = Array.from(line);
  if (characters.length > MAX_WORDS) return `${characters.slice(0, MAX_WORDS - 1).join("")}…`;
  return line === "" ? undefined : line;
}

const UTF_8 = /(?:[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3})+/g;

/** Maximum length of a secret in any form, in characters. */
const LONGEST_SECRET = MAX_ERROR_BYTES / 4;

/**
 * Names under which services put their message, the most informative first; only the first one with
 * text counts.
 */
const MAIN_KEYS = "message error_description detail error title description reason msg".split(" ");
/** Names of lists of details, which are added to the message. */
const LIST_KEYS = ["errors", "details", "issues", "violations", "constraints"];
/** Names under which an item of such a list says what it refers to. */
const SUBJECT_KEYS = ["field", "property", "param", "path", "pointer", "loc"];

/**
 * Returns as many words as can show: with all subjects, they may be thousands of times as long as
 * the body.
 */
function wordsOfJson(json: Json): readonly string[] {
  if (typeof json === "string") return json.trim() === "" ? [] : [json.trim()];
  const words = isArray(json)
    ? json.flatMap(wordsOfJson)
    : isObject(json)
      ? wordsOfObject(json)
      : [];
  return words.slice(0, MAX_WORDS / 2);
}

function wordsOfObject(object: JsonObject): readonly string[] {
  // Each value is read once: reading some of them twice, at every level, would double the time.
  const said = new Map(Object.entries(object).map(([key, value]) => [key, wordsOfJson(value)]));
  const main = MAIN_KEYS.map((key) => said.get(key) ?? []).find((words) => words.length > 0) ?? [];
  const listed = LIST_KEYS.flatMap((key) => said.get(key) ?? []);
  const words = [...new Set([...main, ...listed])];
  if (words.length > 0) return about(subjectOf(object), words);
  return [...said].flatMap(([key, own]) => about(key, own));
}

function about(subject: string | undefined, words: readonly string[]): readonly string[] {
  return subject === undefined ? words : words.map((word) => `${subject}: ${word}`);
}

function subjectOf(object: JsonObject): string | undefined {
  for (const value of SUBJECT_KEYS.map((key) => object[key])) {
    if (typeof value === "string" && value !== "") return value;
    const path = isArray(value)
      ? value.filter((part) => /string|number/.test(typeof part)).map(String)
      : [];
    if (path.length > 0) return path.join(".");
  }
  return undefined;
}

/** Terminal sequences as a whole, then all control and format characters and lone surrogates. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const UNWANTED = /\u001b\[[0-9;?]*[ -/]*[@-~]|(?!\s)\p{Cc}|[\p{Cf}\p{Cs}]/gu;

/**
 * Maximum number of characters to read of a page; an error page has its message at the beginning.
 */
const MAX_HTML = 16 * 1024;

const UNREAD = /<(script|style|svg)\b[^]*?(?:<\/\1>|$)|<!--[^]*?(?:-->|$)/gi;
const TAG = /<[^<>]*>/g;

const NAMED = { lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " ", amp: "&" };
const ENTITIES: Readonly<Record<string, string>> = NAMED;

/**
 * Returns the readable part of a text that may be HTML, for a message. Not a parser, and does not
 * make HTML safe.
 */
function textOfHtml(html: string): string {
  if (!/^\s*<[!a-z]/i.test(html)) return html;
  const text = html.slice(0, MAX_HTML).replace(UNREAD, " ").replace(TAG, " ");
  return text.replace(
    /&(?:(\w{2,5})|#(\d{1,7})|#x([\da-f]{1,6}));/gi,
    (whole: string, name?: string, decimal?: string, hex?: string) => {
      if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}
