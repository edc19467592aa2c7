import type { Diagnostic } from "../model/diagnostic.ts";
import type { Json } from "../model/json.ts";
import { isLoopback } from "../model/shape.ts";

export type Method = "GET" | "POST" | "PATCH";

/** Path segments that all operations begin with (service-api.md, "Endpoints"). */
export const ROOT: readonly string[] = ["apiKey", "v3"];

export interface WriteCall {
  readonly method: "POST" | "PATCH";
  /** Segments from `apiKey`, `v3` on, not yet encoded. */
  readonly path: readonly string[];
  /** Plain data: secrets are revealed, ids are known. */
  readonly body: Json;
}

/** An id that can stand in a path: not empty, no `.` or `..`, which others on the way would resolve; and no words. */
// oxlint-disable-next-line no-control-regex -- what it must not have
const SEGMENT = /^(?!\.{1,2}$)[^\s\0-\x1f\x7f-\x9f\ud800-\udfff]+$/u;

export function isSegment(value: unknown): value is string {
  return typeof value === "string" && SEGMENT.test(value);
}

/** The path of a request, each segment percent-encoded. @throws RangeError for a segment that no path can carry */
export function pathOf(segments: readonly string[]): string {
  const wrong = segments.find((segment) => !isSegment(segment));
  if (wrong !== undefined) throw new RangeError(`${JSON.stringify(wrong)} cannot be a part of a path`);
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join("");
}

/** A base address that was checked; only `checkBaseUrl` makes one. */
export interface BaseUrl {
  /** Scheme, host and port. The API key is sent nowhere else. */
  readonly origin: string;
  readonly host: string;
  /** What comes before `/apiKey`, without a slash at its end; mostly empty. */
  readonly path: string;
}

type BaseUrlProblem = Pick<Diagnostic, "code" | "summary" | "detail">;

export type Result<T, F> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: F };

/** Checks the service's base address: the part before `/apiKey` (service-api.md, first section). */
export function checkBaseUrl(text: string, { insecure = false } = {}): Result<BaseUrl, BaseUrlProblem> {
  if (!URL.canParse(text)) return notOne("base-url", "is not an absolute URL", EXAMPLE);
  const { protocol, username, password, href, origin, host, hostname, pathname } = new URL(text);
  if (protocol !== "https:" && protocol !== "http:")
    return notOne("base-url", "is not an https or http URL", EXAMPLE);
  if (username !== "" || password !== "")
    return notOne(
      "base-url-credentials",
      "contains credentials",
      "The service accepts only the API key. Remove the user name and password from the address.",
    );
  // An empty query or fragment (`https://host/?`) shows only in the text.
  if (/[?#]/.test(href))
    return notOne(
      "base-url",
      "contains a query or a fragment",
      `tasc appends to its path, so nothing may follow the path. ${EXAMPLE}`,
    );
  if (/\/apiKey(\/v\d+)?\/*$/i.test(pathname)) {
    const detail = `It is the part before \`/apiKey\`; tasc adds \`/apiKey/v3\` itself. ${EXAMPLE}`;
    const summary = "`service.baseUrl` must not include /apiKey";
    return { ok: false, failure: { code: "base-url", summary, detail } };
  }
  if (protocol === "http:" && !insecure && !isLoopback(hostname))
    return notOne(
      "base-url-insecure",
      "uses plain HTTP to another machine",
      `Anyone between you and ${host} could read the API key and every password that is sent. Use https, or allow it with \`--insecure\`.`,
    );
  return { ok: true, value: { origin, host, path: pathname.replace(/(?<!\/)\/+$/, "") } };
}

const EXAMPLE = "It looks like `https://service.example.com` or `https://example.com/service`.";

function notOne(code: string, what: string, detail: string): Result<never, BaseUrlProblem> {
  return { ok: false, failure: { code, summary: `The base address ${what}`, detail } };
}

export interface ClientRuntime {
  now(): number;
  /** Resolves after so many milliseconds, or ends early, in either way, when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  random(): number;
}

/** @returns false when the signal ended it */
export async function slept(world: Pick<ClientRuntime, "sleep">, ms: number, signal: AbortSignal) {
  try {
    await world.sleep(ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return !signal.aborted;
}

/*
 * What an answer may measure. service-api.md ("Limits") states no bounds, so these are far above anything
 * that a service would send and only keep a broken or hostile one from filling the memory.
 */

/** Bytes of an answer that is held whole: everything but the list of test cases. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** Bytes of a streamed list of test cases: one of 100,000 has a third of it. */
export const MAX_LIST_BYTES = 1024 * 1024 * 1024;
export const MAX_ITEM_BYTES = 16 * 1024 * 1024;
export const MAX_ITEMS = 1_000_000;
export const MAX_PAGES = 1000;
export const MAX_REPORTS = 100_000;
export const MAX_DEPTH = 100;
/** Bytes of an answer with an error status that are read for the service's words. */
export const MAX_ERROR_BYTES = 64 * 1024;
export const MAX_WORDS = 500;
/**
 * Bytes of a streamed list that each get a time limit of their own: a limit on silence alone would let a server trickle
 * for days; one on the whole would cut off a long honest list.
 */
export const STREAM_WINDOW_BYTES = 256 * 1024;
