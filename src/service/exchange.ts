import { TascError } from "../model/error.ts";
import { type Json, type JsonArray, type JsonObject, isArray, isObject } from "../model/json.ts";
import type { LiveTestCase } from "../model/live.ts";
import { SENSITIVE, type Secret } from "../model/value.ts";
import { JsonSplitter, isDeeper, parseJson, parseJsonText, withoutBom } from "./json-stream.ts";
import {
  type Fault,
  MAX_ANSWER_BYTES,
  MAX_LIST_BYTES,
  MAX_DEPTH,
  MAX_ERROR_BYTES,
  MAX_WORDS,
  type Method,
  type AnswerProblem,
  type Result,
  STREAM_WINDOW_BYTES,
  type TimedOut,
  type Unreachable,
  type Unreadable,
  bad,
  good,
} from "./request.ts";

export interface ExchangeOptions<T> {
  readonly request: WireRequest;
  /** Of a 2xx answer. */
  readonly reader: AnswerReader<T>;
  readonly origin: string;
  readonly host: string;
  readonly isProxied: boolean;
  /** Milliseconds from handing the request over to the last byte of the answer. */
  readonly limit: number;
  /** Ends the exchange at once. */
  readonly signal: AbortSignal;
  readonly redact: Redact;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Asked once a connection stands, before a byte is written; see `BeforeSend`. */
  readonly mayWrite: () => void | Promise<void>;
}

export interface Exchanged<T> {
  readonly result: Result<T, Fault>;
  readonly status: number | undefined;
  /** The answer's `Date`, as it stands there. */
  readonly date: string | undefined;
  /** Whether any byte of the request can have left. */
  readonly began: boolean;
  /** Nothing was sent, since the permission to send has to be looked up first: what looks it up. */
  readonly unsure: Promise<void> | undefined;
}

/** The fault of a send that its permission refused. @throws what is not a refusal */
export function withheld(error: unknown): Fault {
  if (error instanceof TascError) return { kind: "withheld", cause: error };
  throw error;
}

/**
 * Sends one request once and reads its answer.
 *
 * The time limit runs on the real clock, not on a clock that is handed in: it guards against a peer in the real
 * world. It covers connecting, headers and body, so a server that hangs or trickles at any point is given up on.
 * @throws what the reader throws
 */
export function exchange<T>(transport: Transport, options: ExchangeOptions<T>): Promise<Exchanged<T>> {
  return new Promise((resolve, reject) => {
    const receiver = new Exchange(options, resolve, reject);
    if (!receiver.isOver) transport.send(options.request, receiver);
  });
}

class Exchange<T> implements Receiver {
  readonly #options: ExchangeOptions<T>;
  readonly #resolve: (exchanged: Exchanged<T>) => void;
  readonly #reject: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #interrupt = (): void => this.#settle(bad({ kind: "interrupted" }));
  #abort: (() => void) | undefined;
  #status: number | undefined;
  #date: string | undefined;
  #body: AnswerReader<T> | undefined;
  #unsure: Promise<void> | undefined;
  #untilNextWindow = Infinity;
  /** The answer has come to its own end. */
  #isWhole = false;
  isOver = false;

  constructor(
    options: ExchangeOptions<T>,
    resolve: (exchanged: Exchanged<T>) => void,
    reject: (error: unknown) => void,
  ) {
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timer = setTimeout(() => this.#giveUp(this.#timedOut()), options.limit);
    options.signal.addEventListener("abort", this.#interrupt);
    if (options.signal.aborted) this.#interrupt();
  }

  began(abort: () => void): void {
    // Given up while the connection was being made: dropped before a byte is written.
    if (this.isOver) return abort();
    this.#guard(() => this.#askAgain());
    if (this.isOver) abort();
    else this.#abort = abort;
  }

  #askAgain(): void {
    try {
      this.#unsure = this.#options.mayWrite() ?? undefined;
    } catch (error) {
      return this.#settle(bad(withheld(error)));
    }
    // Handled by whoever gets it; until then a rejection must not count as unhandled.
    this.#unsure?.catch(() => undefined);
    if (this.#unsure !== undefined) this.#settle(bad(this.#timedOut()));
  }

  head(status: number, headers: Headers): void {
    if (this.isOver) return;
    this.#status = status;
    this.#date = headerText(headers, "date");
    this.#body = status < 300 ? this.#success(headers) : this.#refusal(status, headers);
    this.#untilNextWindow = this.#body.window ?? Infinity;
  }

  piece(bytes: Uint8Array): void {
    if (this.isOver) return;
    this.#guard(() => {
      if (this.#body?.take(bytes) === false) this.#finish();
      else this.#progress(bytes.length);
    });
  }

  ended(): void {
    if (this.isOver) return;
    this.#isWhole = true;
    this.#guard(() => this.#finish());
  }

  broke(error: Error): void {
    if (this.isOver) return;
    const { host, limit, isProxied } = this.#options;
    this.#giveUp(connectionFault(error, this.#abort !== undefined, host, limit, isProxied));
  }

  /** Once a status refuses the request, that is the answer, whether or not its words come through. */
  #giveUp(fault: Fault): void {
    const isRefused = this.#status !== undefined && this.#status >= 300;
    if (isRefused) this.#guard(() => this.#finish());
    else this.#settle(bad(fault));
  }

  #success(headers: Headers): AnswerReader<T> {
    const encoding = headerText(headers, "content-encoding") ?? "identity";
    const { reader } = this.#options;
    return encoding === "identity" || encoding === "" ? reader : compressed(reader);
  }

  #refusal(status: number, headers: Headers): AnswerReader<T> {
    const { origin, now, redact } = this.#options;
    return errorAnswer((body) =>
      statusFault({ status, headers, words: wordsOf(body, redact) }, origin, now()),
    );
  }

  #finish(): void {
    if (this.#body !== undefined) this.#settle(this.#body.end());
  }

  #progress(bytes: number): void {
    this.#untilNextWindow -= bytes;
    if (this.#untilNextWindow > 0) return;
    this.#untilNextWindow = this.#body?.window ?? Infinity;
    this.#timer.refresh();
  }

  #timedOut(): TimedOut {
    const during =
      this.#abort === undefined ? "connecting" : this.#status === undefined ? "waiting" : "reading";
    return { kind: "timeout", limit: this.#options.limit, during };
  }

  /** An error in what the reader hands items to is a mistake of ours and not the connection's. */
  #guard(read: () => void): void {
    try {
      read();
    } catch (error) {
      this.#cleanUp();
      this.#reject(error);
    }
  }

  #settle(result: Result<T, Fault>): void {
    if (this.isOver) return;
    this.#cleanUp();
    const began = this.#abort !== undefined;
    this.#resolve({ result, status: this.#status, date: this.#date, began, unsure: this.#unsure });
  }

  #cleanUp(): void {
    this.isOver = true;
    clearTimeout(this.#timer);
    this.#options.signal.removeEventListener("abort", this.#interrupt);
    if (!this.#isWhole) this.#abort?.();
  }
}

/** Compression was not asked for, so there is nothing here to undo it. */
function compressed<T>(reader: AnswerReader<T>): AnswerReader<T> {
  return {
    take: () => false,
    end: () => reader.fail({ kind: "unreadable", why: "compressed", offset: undefined }),
    fail: (fault) => reader.fail(fault),
  };
}

/** Keeps the beginning of a body for the service's words. */
function errorAnswer(fault: (body: Uint8Array) => Fault): AnswerReader<never> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  return {
    take(piece) {
      pieces.push(piece);
      size += piece.length;
      return size < MAX_ERROR_BYTES;
    },
    end: () => bad(fault(Buffer.concat(pieces).subarray(0, MAX_ERROR_BYTES))),
    fail: bad,
  };
}

/** Takes in the body of one answer, piece by piece. */
export interface AnswerReader<T> {
  /** @returns whether it wants the next piece; if not, the rest of the answer cannot change the result */
  take(piece: Uint8Array): boolean;
  /** Called once, after the last piece that there was or that it wanted. */
  end(): Result<T, Fault>;
  /** Called in place of `end` for an answer that came and cannot be read. */
  fail(fault: Unreadable): Result<T, Fault>;
  /** The call's time limit starts again after so many bytes; without it, it holds for the whole answer. */
  readonly window?: number;
}

/** What becomes of the items of a streamed list. Made again for each try, so a broken one leaves nothing behind. */
export interface Collector<I, T> {
  add(item: I): void;
  /** Called once, after the last item. */
  result(): T;
}

/** Collects test cases in a plain list. */
export function inAList(): Collector<LiveTestCase, readonly LiveTestCase[]> {
  const items: LiveTestCase[] = [];
  return { add: (item) => void items.push(item), result: () => items };
}

/** Holds the answer whole and parses it; an empty one is undefined. */
export function wholeAnswer(): AnswerReader<Json | undefined> {
  let pieces: Uint8Array[] = [];
  let size = 0;
  return {
    take(piece) {
      pieces.push(piece);
      size += piece.length;
      if (size > MAX_ANSWER_BYTES) pieces = [];
      return size <= MAX_ANSWER_BYTES;
    },
    end() {
      if (size > MAX_ANSWER_BYTES) return bad({ kind: "too-big", what: "answer", limit: MAX_ANSWER_BYTES });
      return size === 0 ? good(undefined) : parsed(withoutBom(Buffer.concat(pieces)));
    },
    fail: bad,
  };
}

function parsed(bytes: Uint8Array): Result<Json, Fault> {
  if (isDeeper(bytes, MAX_DEPTH)) return bad({ kind: "too-big", what: "depth", limit: MAX_DEPTH });
  const json = parseJson(bytes);
  return json.ok ? good(json.value) : bad({ kind: "unreadable", why: json.why, offset: undefined });
}

/** An answer that must be there and have a certain shape. */
export function shapedAnswer<T>(read: (answer: Json) => Result<T, AnswerProblem>): AnswerReader<T> {
  return ending(wholeAnswer(), (answer) => {
    if (!answer.ok) return answer;
    if (answer.value === undefined) return bad({ kind: "unreadable", why: "empty", offset: undefined });
    const shaped = read(answer.value);
    return shaped.ok ? shaped : bad(misshapen(shaped.failure));
  });
}

/** The answer of an update, of which the status says it all: a body that cannot be read is as good as none. */
export function optionalAnswer(): AnswerReader<Json | undefined> {
  return ending(wholeAnswer(), (answer) => (answer.ok ? answer : good(undefined)));
}

function ending<A, B>(
  reader: AnswerReader<A>,
  end: (a: Result<A, Fault>) => Result<B, Fault>,
): AnswerReader<B> {
  return {
    take: (piece) => reader.take(piece),
    end: () => end(reader.end()),
    fail: (fault) => end(reader.fail(fault)),
  };
}

/** A list of which only one item is held at a time. */
export function streamedList<I, T>(
  read: (item: Json) => Result<I, AnswerProblem>,
  collector: Collector<I, T>,
  limit = MAX_LIST_BYTES,
): AnswerReader<T> {
  const splitter = new JsonSplitter((json, index) => {
    const item = read(json);
    if (!item.ok) return misshapen({ ...item.failure, at: [index, ...item.failure.at] });
    collector.add(item.value);
    return undefined;
  });
  let fault: Fault | undefined;
  let size = 0;
  return {
    window: STREAM_WINDOW_BYTES,
    take(piece) {
      size += piece.length;
      fault = size > limit ? { kind: "too-big", what: "answer", limit } : splitter.push(piece);
      return fault === undefined;
    },
    end() {
      fault ??= splitter.end();
      return fault === undefined ? good(collector.result()) : bad(fault);
    },
    fail: bad,
  };
}

function misshapen(misfit: AnswerProblem): Fault {
  return { kind: "misshapen", ...misfit };
}

/**
 * What a connection's error means.
 * @param began whether a connection stood and the request was being written
 * @param limit of the call's time, in milliseconds, in case connecting took longer
 */
export function connectionFault(
  error: Error,
  began: boolean,
  host: string,
  limit: number,
  isProxied = false,
): Fault {
  const code = codeOf(error);
  if (began) return { kind: "broken", code };
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT") {
    return { kind: "timeout", limit, during: "connecting" };
  }
  const cause = causeOf(code);
  const isOfService = !isProxied || cause === "certificate" || cause === "encryption";
  return { kind: "unreachable", cause: isOfService ? cause : "proxy", host, code };
}

function causeOf(code: string): Unreachable["cause"] {
  if (code === "ECONNREFUSED") return "refused";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "name";
  if (CERTIFICATE.test(code)) return "certificate";
  return ENCRYPTION.test(code) ? "encryption" : "network";
}

/** Codes of certificate checks, OpenSSL's and Node's own: DEPTH_ZERO_SELF_SIGNED_CERT, ERR_TLS_CERT_ALTNAME_INVALID. */
const CERTIFICATE = /CERT|^UNABLE_TO_/;
/** Codes of a handshake that failed otherwise, as it does with a server that speaks plain http. */
const ENCRYPTION = /^ERR_TLS_|^ERR_SSL_|^EPROTO$/;

/** The system's code, of the first that has one: where a name has several addresses, errors come in a bundle. */
function codeOf(error: Error): string {
  if ("code" in error && typeof error.code === "string" && error.code !== "") return error.code;
  const inner: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  const first = inner.find((part) => part instanceof Error);
  return first === undefined ? error.name : codeOf(first);
}

/** Characters of a page that are looked at; an error page says what it has to say at its beginning. */
const MAX_HTML = 16 * 1024;

/** Parts of a page that nobody reads. */
const UNREAD = /<(script|style|svg)\b[^]*?<\/\1>|<!--[^]*?-->/gi;
const TAG = /<[^<>]*>/g;

const ENTITIES: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  amp: "&",
};

/** The readable text of an HTML page, for a message: not a parser, and not fit to make HTML safe. */
function textOfHtml(html: string): string {
  const text = html.slice(0, MAX_HTML).replace(UNREAD, " ").replace(TAG, " ");
  return text.replace(/&(?:(\w{2,5})|#(\d{1,7})|#x([\da-f]{1,6}));/gi, entity);
}

function entity(
  whole: string,
  name: string | undefined,
  decimal: string | undefined,
  hex: string | undefined,
): string {
  if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
  const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
  return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** The three forms that RFC 9110, section 5.6.7, has recipients accept. All are in UTC, said or not. */
const FORMS: readonly RegExp[] = [
  // Sun, 06 Nov 1994 08:49:37 GMT
  /^\w{3}, (?<day>\d{2}) (?<month>\w{3}) (?<year>\d{4}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  // Sunday, 06-Nov-94 08:49:37 GMT
  /^\w{6,9}, (?<day>\d{2})-(?<month>\w{3})-(?<year>\d{2}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  // Sun Nov  6 08:49:37 1994
  /^\w{3} (?<month>\w{3}) (?<day>[ \d]\d) (?<time>\d{2}:\d{2}:\d{2}) (?<year>\d{4})$/,
];

/**
 * A date of an HTTP header. Not `Date.parse`: it takes the third form for local time, and much else for a date.
 * @param now for the century of two-digit years: those that seem more than 50 years ahead are past
 * @returns milliseconds since 1970, or undefined when it is none
 */
export function parseHttpDate(text: string, now: number): number | undefined {
  const groups = FORMS.map((form) => form.exec(text)?.groups).find((found) => found !== undefined);
  if (groups === undefined) return undefined;
  const month = MONTHS.indexOf(groups["month"] ?? "") + 1;
  const year = fullYear(groups["year"] ?? "", now);
  return month === 0 ? undefined : instant(year, month, Number(groups["day"]), groups["time"] ?? "");
}

/** Built as the one form that every engine reads alike, so that the 31st of June is not a date. */
function instant(year: number, month: number, day: number, time: string): number | undefined {
  const date = `${String(year).padStart(4, "0")}-${twoDigits(month)}-${twoDigits(day)}`;
  const at = Date.parse(`${date}T${time}Z`);
  // Engines let the 31st roll over into the next month.
  return Number.isNaN(at) || new Date(at).getUTCDate() !== day ? undefined : at;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}

function fullYear(text: string, now: number): number {
  if (text.length === 4) return Number(text);
  const thisYear = new Date(now).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + Number(text);
  return year > thisYear + 50 ? year - 100 : year;
}

/** However long a service asks to wait, a run does not stand still longer than this: five minutes. */
export const MAX_RETRY_AFTER = 5 * 60_000;

/**
 * How long an answer asks to wait, from `Retry-After`: seconds or an HTTP date (RFC 9110, section 10.2.3).
 * A date is taken against the answer's own `Date`, so that a clock that is off on either side does no harm.
 * @param now milliseconds since 1970
 * @returns milliseconds, 0 to MAX_RETRY_AFTER; undefined when the answer does not say, or not readably
 */
export function retryAfter(headers: Headers, now: number): number | undefined {
  const value = headerText(headers, "retry-after")?.trim();
  if (value === undefined) return undefined;
  const wait = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1000 : untilDate(value, headers, now);
  return wait === undefined ? undefined : Math.min(Math.max(Math.ceil(wait), 0), MAX_RETRY_AFTER);
}

function untilDate(value: string, headers: Headers, now: number): number | undefined {
  const date = parseHttpDate(value, now);
  if (date === undefined) return undefined;
  const sent = parseHttpDate(headerText(headers, "date")?.trim() ?? "", now);
  return date - (sent ?? now);
}

/** What is known of an answer whose status is not 2xx. */
export interface RefusingAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly words: string | undefined;
}

/**
 * What a status outside 2xx means (service-api.md, "Errors": not shown, so by RFC 9110).
 * @param origin of the request, which a relative `Location` is relative to
 * @param now milliseconds since 1970
 */
function statusFault({ status, headers, words }: RefusingAnswer, origin: string, now: number): Fault {
  if (status === 401 || status === 403) return { kind: "key-refused", status, words };
  if (status >= 300 && status < 400) return { kind: "redirect", status, host: hostOf(headers, origin) };
  return { kind: "status", status, words, retryAfter: retryAfter(headers, now) };
}

/** Only the host: the rest of a `Location` may carry tokens. */
function hostOf(headers: Headers, origin: string): string | undefined {
  const location = headerText(headers, "location");
  if (location === undefined || !URL.canParse(location, origin)) return undefined;
  const { host } = new URL(location, origin);
  return host === "" ? undefined : host;
}

/** One HTTP request as it goes out. */
export interface WireRequest {
  readonly method: Method;
  /** With the base address's path and the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The events of one request, in this order; after `ended` or `broke` nothing more. */
export interface Receiver {
  /** A connection stands and the request is about to be written to it. `abort` drops the connection. */
  began(abort: () => void): void;
  head(status: number, headers: Headers): void;
  /** A piece of the body, which does not change afterwards. */
  piece(bytes: Uint8Array): void;
  ended(): void;
  broke(error: Error): void;
}

/** Connections to one origin. Nothing is retried, redirected or queued in here. */
export interface Transport {
  /** Whether a proxy may stand between here and the service. */
  readonly isProxied: boolean;
  send(request: WireRequest, receiver: Receiver): void;
  /** Drops all connections. */
  close(): Promise<void>;
}

/** A header's value, the first where it was sent several times. */
function headerText(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "object" ? value[0] : value;
}

/** Removes what must not show from a text. Asked before the text is cut, which could leave half a secret. */
export type Redact = (text: string) => string;

/**
 * What the service says in the body of an error. service-api.md, "Errors": shape not shown, so this takes the
 * shapes that services have: JSON with its message under one of many names, HTML, plain text, nothing.
 * @returns one line without control characters, of at most MAX_WORDS characters; undefined if nothing is said
 */
export function wordsOf(body: Uint8Array, redact: Redact): string | undefined {
  const bytes = withoutBom(body);
  const decoded = new TextDecoder().decode(bytes);
  // The end of a body that was cut may be the beginning of a secret.
  const text = body.length < MAX_ERROR_BYTES ? decoded : redact(decoded).slice(0, -LONGEST_SECRET);
  const json = isDeeper(bytes, MAX_DEPTH) ? undefined : parseJsonText(text);
  // A secret with what looks like a tag is not the same without it.
  const said = json?.ok === true ? wordsOfJson(json.value).join("; ") : wordsOfText(redact(text));
  // Once more on the line, in case a secret was hidden by characters that are gone now.
  const line = redact(oneLine(redact(said)));
  return line === "" ? undefined : cut(line);
}

/** In whatever form, in characters. */
const LONGEST_SECRET = MAX_ERROR_BYTES / 4;

function wordsOfText(text: string): string {
  return /^\s*<[!a-z]/i.test(text) ? textOfHtml(text) : text;
}

/** Names under which services say what is wrong, the most telling first; only the first that says something counts. */
const MAIN_KEYS = [
  "message",
  "error_description",
  "detail",
  "error",
  "title",
  "description",
  "reason",
  "msg",
];
/** Names under which they list particulars, which are added to it. */
const LIST_KEYS = ["errors", "details", "issues", "violations", "constraints"];
/** Names under which an item of such a list says what it is about. */
const SUBJECT_KEYS = ["field", "property", "param", "path", "pointer", "loc"];

function wordsOfJson(json: Json): readonly string[] {
  if (typeof json === "string") return json.trim() === "" ? [] : [json.trim()];
  if (isArray(json)) return json.flatMap(wordsOfJson);
  return isObject(json) ? wordsOfObject(json) : [];
}

function wordsOfObject(object: JsonObject): readonly string[] {
  const main =
    MAIN_KEYS.map((key) => wordsOfJson(object[key] ?? null)).find((words) => words.length > 0) ?? [];
  const listed = LIST_KEYS.flatMap((key) => wordsOfJson(object[key] ?? null));
  const words = [...new Set([...main, ...listed])];
  return words.length > 0 ? about(subjectOf(object), words) : wordsUnderAnyName(object);
}

function wordsUnderAnyName(object: JsonObject): readonly string[] {
  return Object.entries(object).flatMap(([key, value]) => about(key, wordsOfJson(value)));
}

function about(subject: string | undefined, words: readonly string[]): readonly string[] {
  return subject === undefined ? words : words.map((word) => `${subject}: ${word}`);
}

function subjectOf(object: JsonObject): string | undefined {
  return SUBJECT_KEYS.map((key) => subjectText(object[key])).find((text) => text !== undefined);
}

function subjectText(value: Json | undefined): string | undefined {
  if (typeof value === "string") return value === "" ? undefined : value;
  return isArray(value) && value.length > 0 ? pathText(value) : undefined;
}

function pathText(path: JsonArray): string | undefined {
  const parts = path.filter((part) => typeof part === "string" || typeof part === "number");
  return parts.length === 0 ? undefined : parts.join(".");
}

/** Terminal sequences as a whole, then all that controls or hides: control and format characters, lone surrogates. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const UNWANTED = /\u001b\[[0-9;?]*[ -/]*[@-~]|(?!\s)\p{Cc}|[\p{Cf}\p{Cs}]/gu;

function oneLine(text: string): string {
  return text.replace(UNWANTED, "").replace(/\s+/g, " ").trim();
}

function cut(text: string): string {
  const characters = Array.from(text);
  return characters.length <= MAX_WORDS ? text : `${characters.slice(0, MAX_WORDS - 1).join("")}…`;
}

/** Header values that arrive as they were sent: ASCII, without blanks at the ends or line breaks. */
const HEADER_VALUE = /^[!-~]([\t -~]*[!-~])?$/;

/** Shorter texts occur by themselves; removing them would spoil messages and protect nothing. */
const MIN_REDACTED = 4;

/** Whether the key can be put into the header `X-API-Key`. A line break from a CI variable is the usual reason. */
export function isSendable(key: Secret): boolean {
  return HEADER_VALUE.test(key.reveal());
}

/** Adds the key to what is removed from the service's words. */
export function redactingKey(key: Secret, redact: Redact): Redact {
  const text = key.reveal();
  return text.length < MIN_REDACTED ? redact : (words) => redact(words).replaceAll(text, SENSITIVE);
}
