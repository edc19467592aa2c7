import { type Json, type JsonObject, isArray, isObject, jsonIn } from "../model/json.ts";
import type { Fault } from "./failure.ts";
import { isDeeper, withoutBom } from "./json-stream.ts";
import { MAX_DEPTH, MAX_ERROR_BYTES, MAX_WORDS } from "./request.ts";

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The first where it was sent several times. */
export function headerText(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "object" ? value[0] : value;
}

/** What a status outside 2xx means (service-api.md, "Errors": not shown, so by RFC 9110). @param origin of the request */
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
    // Only the host: the rest of a `Location` may carry tokens.
    return { kind: "redirect", status, host: (isReadable && new URL(location, origin).host) || undefined };
  }
  return { kind: "status", status, words, retryAfter: retryAfter(headers, now) };
}

/** The three forms that RFC 9110, section 5.6.7, has recipients accept. All are in UTC, said or not. */
const DATES: readonly RegExp[] = [
  /^\w{3}, \d{2} \w{3} \d{4} [\d:]{8} GMT$/,
  /^\w{6,9}, \d{2}-\w{3}-\d{2} [\d:]{8} GMT$/,
  /^\w{3} \w{3} [ \d]\d [\d:]{8} \d{4}$/,
];

/** A date of an HTTP header, in milliseconds since 1970, or undefined when it is none. */
export function parseHttpDate(text: string): number | undefined {
  if (!DATES.some((form) => form.test(text))) return undefined;
  const at = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(at) ? undefined : at;
}

/** Five minutes, however long a service asks to wait. */
export const MAX_RETRY_AFTER = 5 * 60_000;

/**
 * Milliseconds that an answer asks to wait, from `Retry-After`: seconds or an HTTP date, which is taken against the
 * answer's own `Date`, so that a clock that is off on either side does no harm. Undefined: it does not say, or not readably.
 */
export function retryAfter(headers: Headers, now: number): number | undefined {
  const value = headerText(headers, "retry-after")?.trim();
  if (value === undefined) return undefined;
  const date = parseHttpDate(value);
  const sent = parseHttpDate(headerText(headers, "date")?.trim() ?? "") ?? now;
  const wait = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1000 : date && date - sent;
  return wait === undefined ? undefined : Math.min(Math.max(Math.ceil(wait), 0), MAX_RETRY_AFTER);
}

/** Removes what must not show from a text. Asked before the text is cut, which could leave half a secret. */
export type Redact = (text: string) => string;

/**
 * What the service says in the body of an error, in one clean line. service-api.md does not show its shape, so this takes
 * those that services have: JSON with its message under one of many names, HTML, plain text, nothing.
 */
export function wordsOf(body: Uint8Array, redact: Redact): string | undefined {
  const bytes = withoutBom(body);
  // What is not UTF-8 is Latin-1, as older servers write: with gaps for its letters, a secret would not be found.
  const latin1 = Buffer.from(bytes).toString("latin1");
  const decoded = latin1.replace(UTF_8, (letters) => Buffer.from(letters, "latin1").toString());
  // The end of a body that was cut may be the beginning of a secret.
  const text = body.length < MAX_ERROR_BYTES ? decoded : redact(decoded).slice(0, -LONGEST_SECRET);
  const json = isDeeper(bytes, MAX_DEPTH) ? undefined : jsonIn(text);
  // A secret with what looks like a tag is not the same without it.
  const said = json === undefined ? textOfHtml(redact(text)) : wordsOfJson(json).join("; ");
  // Once more on the line, in case a secret was hidden by characters that are gone now.
  const line = redact(redact(said).replace(UNWANTED, "").replace(/\s+/g, " ").trim());
  const characters = Array.from(line);
  if (characters.length > MAX_WORDS) return `${characters.slice(0, MAX_WORDS - 1).join("")}…`;
  return line === "" ? undefined : line;
}

const UTF_8 = /(?:[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3})+/g;

/** In whatever form, in characters. */
const LONGEST_SECRET = MAX_ERROR_BYTES / 4;

/** Names under which services say what is wrong, the most telling first; only the first that says something counts. */
const MAIN_KEYS = "message error_description detail error title description reason msg".split(" ");
/** Names under which they list particulars, which are added to it. */
const LIST_KEYS = ["errors", "details", "issues", "violations", "constraints"];
/** Names under which an item of such a list says what it is about. */
const SUBJECT_KEYS = ["field", "property", "param", "path", "pointer", "loc"];

/** No more than can show: with all that they are about, they may be thousands of times as long as the body. */
function wordsOfJson(json: Json): readonly string[] {
  if (typeof json === "string") return json.trim() === "" ? [] : [json.trim()];
  const words = isArray(json) ? json.flatMap(wordsOfJson) : isObject(json) ? wordsOfObject(json) : [];
  return words.slice(0, MAX_WORDS / 2);
}

function wordsOfObject(object: JsonObject): readonly string[] {
  // Each once: to ask some of them again, at every level, would double the time.
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
    const path = isArray(value) ? value.filter((part) => /string|number/.test(typeof part)).map(String) : [];
    if (path.length > 0) return path.join(".");
  }
  return undefined;
}

/** Terminal sequences as a whole, then all that controls or hides: control and format characters, lone surrogates. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const UNWANTED = /\u001b\[[0-9;?]*[ -/]*[@-~]|(?!\s)\p{Cc}|[\p{Cf}\p{Cs}]/gu;

/** Characters of a page that are looked at; an error page says what it has to say at its beginning. */
const MAX_HTML = 16 * 1024;

const UNREAD = /<(script|style|svg)\b[^]*?(?:<\/\1>|$)|<!--[^]*?(?:-->|$)/gi;
const TAG = /<[^<>]*>/g;

const NAMED = { lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " ", amp: "&" };
const ENTITIES: Readonly<Record<string, string>> = NAMED;

/** What is readable of a text that may be an HTML page, for a message: not a parser, and not fit to make HTML safe. */
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
