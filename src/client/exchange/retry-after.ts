import { parseHttpDate } from "./http-date.ts";
import type { Headers } from "./wire.ts";
import { headerText } from "./wire.ts";

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
