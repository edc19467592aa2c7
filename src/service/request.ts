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

/**
 * An id that is valid in a path: not empty, no `.` or `..` (which proxies would resolve), no space
 * or control character.
 */
// oxlint-disable-next-line no-control-regex -- what it must not have
const SEGMENT = /^(?!\.{1,2}$)[^\s\0-\x1f\x7f-\x9f\ud800-\udfff]+$/u;

export function isSegment(value: unknown): value is string {
  return typeof value === "string" && SEGMENT.test(value);
}

/**
 * Returns the path of a request, each segment percent-encoded.
 * @throws RangeError for a segment that is not valid
 */
export function pathOf(segments: readonly string[]): string {
  const wrong = segments.find((segment) => !isSegment(segment));
  if (wrong !== undefined)
    throw new RangeError(`${JSON.stringify(wrong)} cannot be a part of a path`);
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join("");
}

/** A checked base address; only `checkBaseUrl` returns one. */
export interface BaseUrl {
  /** Scheme, host and port. The API key is sent nowhere else. */
  readonly origin: string;
  readonly host: string;
  /** The part before `/apiKey`, without a slash at its end; usually empty. */
  readonly path: string;
}

type BaseUrlProblem = Pick<Diagnostic, "code" | "summary" | "detail">;

export type Result<T, F> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: F };

/** Checks the service's base address: the part before `/apiKey` (service-api.md, first section). */
export function checkBaseUrl(
  text: string,
  { insecure = false } = {},
): Result<BaseUrl, BaseUrlProblem> {
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
  // An empty query or fragment (`https://host/?`) is visible only in the text.
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
  /** Resolves after `ms` milliseconds. If the signal is aborted, it resolves or rejects early. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  random(): number;
}

/** Sleeps. @returns false if the signal ended it */
export async function slept(world: Pick<ClientRuntime, "sleep">, ms: number, signal: AbortSignal) {
  try {
    await world.sleep(ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return !signal.aborted;
}

/*
 * Limits on answers. service-api.md ("Limits") states none, so these are far above anything that a service would send,
 * and only prevent a broken or hostile service from filling the memory.
 */

/** Maximum bytes of an answer that is kept whole: every answer except the list of test cases. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** Maximum bytes of a streamed list of test cases; a list of 100,000 takes a third of it. */
export const MAX_LIST_BYTES = 1024 * 1024 * 1024;
export const MAX_ITEM_BYTES = 16 * 1024 * 1024;
export const MAX_ITEMS = 1_000_000;
export const MAX_PAGES = 1000;
export const MAX_REPORTS = 100_000;
export const MAX_DEPTH = 100;
/** Maximum bytes of an error answer that are read for the service's message. */
export const MAX_ERROR_BYTES = 64 * 1024;
export const MAX_WORDS = 500;
/**
 * Bytes of a streamed list after which the time limit restarts: a server cannot trickle for days,
 * and long lists pass.
 */
export const STREAM_WINDOW_BYTES = 256 * 1024;
