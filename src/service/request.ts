import type { TascError } from "../model/error.ts";
import type { Json, Path } from "../model/json.ts";

export type Method = "GET" | "POST" | "PATCH";

/** Path segments that all operations begin with (service-api.md, "Endpoints"). */
export const ROOT: readonly string[] = ["apiKey", "v3"];

/** A call that changes something. */
export interface WriteCall {
  readonly method: "POST" | "PATCH";
  /** Segments from `apiKey`, `v3` on, not yet encoded. */
  readonly path: readonly string[];
  /** Plain data: secrets are revealed, ids are known. */
  readonly body: Json;
}

/** An id that can stand in a path: not empty, no `.` or `..`, which others on the way would resolve. */
const SEGMENT = /^(?!\.{1,2}$)[^\p{Cc}\p{Cs}]+$/u;

export function isSegment(text: string): boolean {
  return SEGMENT.test(text);
}

/**
 * The path of a request, each segment percent-encoded.
 * @throws RangeError for a segment that no path can carry; ids are checked where they are read.
 */
export function pathOf(segments: readonly string[]): string {
  const wrong = segments.find((segment) => !isSegment(segment));
  if (wrong !== undefined) throw new RangeError(`${JSON.stringify(wrong)} cannot be a part of a path`);
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join("");
}

/** A base address that was checked; only `checkBaseUrl` makes one. */
export interface BaseUrl {
  /** Scheme, host and port. The API key is sent nowhere else. */
  readonly origin: string;
  /** Host and port. */
  readonly host: string;
  /** What comes before `/apiKey`, without a slash at its end; mostly empty. */
  readonly path: string;
}

export interface BaseUrlProblem {
  readonly code: string;
  readonly summary: string;
  readonly detail: string;
}

export interface BaseUrlOptions {
  /** Allows plain http to other machines. */
  readonly insecure?: boolean;
}

type BaseUrlRule = (url: URL, options: BaseUrlOptions) => BaseUrlProblem | undefined;

const RULES: readonly BaseUrlRule[] = [
  mustBeHttp,
  mustNotCarryCredentials,
  mustNotCarryQueryOrFragment,
  mustEndBeforeApiKey,
  mustBeEncrypted,
];

/**
 * Checks the service's base address: the part before `/apiKey` (service-api.md, first section).
 * Credentials in the address are not repeated in the problem.
 */
export function checkBaseUrl(text: string, options: BaseUrlOptions = {}): Result<BaseUrl, BaseUrlProblem> {
  const url = parsed(text);
  if (url === undefined) return bad(NOT_ABSOLUTE);
  for (const rule of RULES) {
    const problem = rule(url, options);
    if (problem !== undefined) return bad(problem);
  }
  return good({ origin: url.origin, host: url.host, path: url.pathname.replace(/\/+$/, "") });
}

const EXAMPLE = "It looks like `https://service.example.com` or `https://example.com/service`.";

const NOT_ABSOLUTE: BaseUrlProblem = {
  code: "base-url",
  summary: "The base address is not an absolute URL",
  detail: EXAMPLE,
};

function parsed(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

function mustBeHttp(url: URL): BaseUrlProblem | undefined {
  if (url.protocol === "https:" || url.protocol === "http:") return undefined;
  return { code: "base-url", summary: "The base address is not an https or http URL", detail: EXAMPLE };
}

function mustNotCarryCredentials(url: URL): BaseUrlProblem | undefined {
  if (url.username === "" && url.password === "") return undefined;
  return {
    code: "base-url-credentials",
    summary: "The base address contains credentials",
    detail: "The service accepts only the API key. Remove the user name and password from the address.",
  };
}

function mustNotCarryQueryOrFragment(url: URL): BaseUrlProblem | undefined {
  // An empty query or fragment (`https://host/?`) shows only in the text.
  if (!/[?#]/.test(url.href)) return undefined;
  return {
    code: "base-url",
    summary: "The base address contains a query or a fragment",
    detail: `tasc appends to its path, so nothing may follow the path. ${EXAMPLE}`,
  };
}

function mustEndBeforeApiKey(url: URL): BaseUrlProblem | undefined {
  if (!/\/apiKey(\/v\d+)?\/*$/i.test(url.pathname)) return undefined;
  return {
    code: "base-url",
    summary: "`service.baseUrl` must not include /apiKey",
    detail: `It is the part before \`/apiKey\`; tasc adds \`/apiKey/v3\` itself. ${EXAMPLE}`,
  };
}

function mustBeEncrypted(url: URL, options: BaseUrlOptions): BaseUrlProblem | undefined {
  if (url.protocol === "https:" || options.insecure === true || isLoopback(url.hostname)) return undefined;
  return {
    code: "base-url-insecure",
    summary: "The base address uses plain HTTP to another machine",
    detail: `Anyone between you and ${url.host} could read the API key and every password that is sent. Use https, or allow it with \`--insecure\`.`,
  };
}

/** The URL parser has brought all spellings of an address (`127.1`, `0x7f.0.0.1`) into one form. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** What the client needs of the world beside the network; handed in, so that tests can do without waiting. */
export interface ClientRuntime {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after so many milliseconds, or ends early, in either way, when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** In [0, 1). */
  random(): number;
}

/** Sleeps. @returns false when the signal ended it */
export async function slept(
  world: Pick<ClientRuntime, "sleep">,
  ms: number,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await world.sleep(ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return !signal.aborted;
}

/** What went right, or the one thing that went wrong. Nothing here is thrown for what a service or network can do. */
export type Result<T, F = Failure> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: F };

export function good<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

export function bad<F>(failure: F): { readonly ok: false; readonly failure: F } {
  return { ok: false, failure };
}

/** Whether the service can have done what it was asked to do. */
export type MayHaveActed = "no" | "maybe";

/**
 * Why a call did not end well. `acted` and `attempts` cover all its sends: a PATCH that timed out once and was
 * refused a connection afterwards may have been carried out.
 */
export type Failure = Fault & {
  readonly method: Method;
  /** From `/apiKey/v3` on, without the query. */
  readonly path: string;
  readonly attempts: number;
  readonly acted: MayHaveActed;
};

/** What can go wrong with one send. */
export type Fault =
  | Unsendable
  | Unreachable
  | { readonly kind: "interrupted" }
  | HiddenValue
  | TimedOut
  | { readonly kind: "broken"; readonly code: string }
  | KeyRefused
  | Redirected
  | BadStatus
  | Unreadable
  | ({ readonly kind: "misshapen" } & AnswerProblem)
  | TooBig;

/** The API key cannot be put into a header. */
export interface Unsendable {
  readonly kind: "unsendable";
}

/** `beforeSend` refused the send; later sends of the run would be refused as well. */
export interface HiddenValue {
  readonly kind: "withheld";
  readonly cause: TascError;
}

/** No connection came about, so nothing was sent. */
export interface Unreachable {
  readonly kind: "unreachable";
  readonly cause: "name" | "refused" | "certificate" | "encryption" | "network" | "proxy";
  /** Host and port. */
  readonly host: string;
  /** The system's code, e.g. ECONNREFUSED. */
  readonly code: string;
}

export interface TimedOut {
  readonly kind: "timeout";
  /** Milliseconds. */
  readonly limit: number;
  readonly during: "connecting" | "waiting" | "reading";
}

/** 401 or 403. */
export interface KeyRefused {
  readonly kind: "key-refused";
  readonly status: 401 | 403;
  readonly words: string | undefined;
}

/** Any 3xx: never followed. */
export interface Redirected {
  readonly kind: "redirect";
  readonly status: number;
  /** Host and port of `Location`, where one was given. */
  readonly host: string | undefined;
}

/** Any other status outside 2xx. */
export interface BadStatus {
  readonly kind: "status";
  readonly status: number;
  /** What the service says about it: one line, bounded, without control characters. */
  readonly words: string | undefined;
  /** Milliseconds, from `Retry-After`. */
  readonly retryAfter: number | undefined;
}

/** A 2xx answer that is not JSON. */
export interface Unreadable {
  readonly kind: "unreadable";
  readonly why: "empty" | "not-json" | "not-utf-8" | "not-a-list" | "compressed";
  /** Position of the first byte that does not fit, or of the list item that holds it. */
  readonly offset: number | undefined;
}

/** Where an answer departs from service-api.md; types are named, values are not. */
export interface AnswerProblem {
  /** Inside the answer. */
  readonly at: Path;
  readonly expected: string;
  readonly found: string;
}

export interface TooBig {
  readonly kind: "too-big";
  readonly what: "answer" | "item" | "items" | "depth";
  readonly limit: number;
}

/** Whether the service cannot be reached or does not accept the key: exit code 6 of the design contract. */
export function isOutOfReach(fault: Fault): boolean {
  switch (fault.kind) {
    case "unsendable":
    case "unreachable":
    case "key-refused":
      return true;
    case "timeout":
      return fault.during === "connecting";
    case "interrupted":
    case "withheld":
    case "broken":
    case "redirect":
    case "status":
    case "unreadable":
    case "misshapen":
    case "too-big":
      return false;
  }
}

/**
 * Whether the service can have acted on a send that ended with the fault. A 4xx says that it did not, except
 * 408, which says that it gave up waiting; all other answers and breaks leave it open (service-api.md, "Errors":
 * not shown).
 * @param began whether any byte of the request can have left
 */
export function mayHaveActed(method: Method, fault: Fault, began: boolean): MayHaveActed {
  if (method === "GET" || !began || fault.kind === "key-refused") return "no";
  if (fault.kind !== "status") return "maybe";
  return fault.status >= 400 && fault.status < 500 && fault.status !== 408 ? "no" : "maybe";
}

/**
 * What an answer may measure. service-api.md ("Limits") states no bounds, so these are far above anything
 * that a service would send and only keep a broken or hostile one from filling the memory.
 */

/** Bytes of an answer that is held whole: everything but the list of test cases. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** Bytes of a streamed list of test cases: one of 100,000 has a third of it. */
export const MAX_LIST_BYTES = 1024 * 1024 * 1024;
/** Bytes of one test case of that list. */
export const MAX_ITEM_BYTES = 16 * 1024 * 1024;
/** Test cases of one list. */
export const MAX_ITEMS = 1_000_000;
/** Pages of one list of reports, and reports in all of them. */
export const MAX_PAGES = 1000;
export const MAX_REPORTS = 100_000;
/** Lists and objects inside each other. */
export const MAX_DEPTH = 100;
/** Bytes of an answer with an error status that are read for the service's words. */
export const MAX_ERROR_BYTES = 64 * 1024;
/** Characters of the service's own words that are kept. */
export const MAX_WORDS = 500;
/**
 * Bytes of a streamed list that each get a time limit of their own. A limit on silence alone would let a
 * server that trickles single bytes hold tasc for days; a limit on the whole would cut off a long honest list.
 */
export const STREAM_WINDOW_BYTES = 256 * 1024;
