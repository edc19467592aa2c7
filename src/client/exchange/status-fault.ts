import type { Fault } from "../failure.ts";
import { retryAfter } from "./retry-after.ts";
import type { Headers } from "./wire.ts";
import { headerText } from "./wire.ts";

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
export function statusFault({ status, headers, words }: RefusingAnswer, origin: string, now: number): Fault {
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
