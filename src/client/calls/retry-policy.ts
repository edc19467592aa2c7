import type { Acted, Fault } from "../failure.ts";
import type { Method } from "../request.ts";

/** How delays between sends grow: `base` doubles with each send up to `cap`, in milliseconds. */
interface Backoff {
  readonly base: number;
  readonly cap: number;
  /** The share that is left to chance, so that many clients do not come back together. */
  readonly jitter: number;
}

/** After breaks and 5xx: full jitter. All five retries together take about 4 s on average, 8 s at most. */
const AFTER_TROUBLE: Backoff = { base: 250, cap: 10_000, jitter: 1 };

/** After a 429 that does not say how long: the service wants peace, so half the delay is certain. */
const AFTER_TOO_MANY: Backoff = { base: 1000, cap: 30_000, jitter: 0.5 };

export const TOO_MANY_REQUESTS = 429;
const REQUEST_TIMEOUT = 408;

/**
 * Whether a call may be sent again by itself (design contract, section 5). What may pass by itself is worth
 * another send; a creation only if the service cannot have acted on this one.
 */
export function mayRetry(method: Method, fault: Fault, acted: Acted): boolean {
  return isPassing(fault) && (method !== "POST" || acted === "no");
}

function isPassing(fault: Fault): boolean {
  switch (fault.kind) {
    case "unreachable":
      // A certificate that is wrong now is wrong in a second, too.
      return fault.cause !== "certificate" && fault.cause !== "encryption";
    case "timeout":
    case "broken":
      return true;
    case "status":
      return (
        fault.status === REQUEST_TIMEOUT ||
        fault.status === TOO_MANY_REQUESTS ||
        (fault.status >= 500 && fault.status < 600)
      );
    case "unsendable":
    case "interrupted":
    case "withheld":
    case "key-refused":
    case "redirect":
    case "unreadable":
    case "misshapen":
    case "too-big":
      return false;
  }
}

/**
 * How long to wait before the next send. What the service asks for counts; 0 asks for nothing.
 * @param send how many sends there were, from 1
 * @param random in [0, 1)
 * @returns milliseconds
 */
export function retryDelay(fault: Fault, send: number, random: number): number {
  const asked = fault.kind === "status" ? fault.retryAfter : undefined;
  if (asked !== undefined && asked > 0) return asked;
  return backoff(isTooMany(fault) ? AFTER_TOO_MANY : AFTER_TROUBLE, send, random);
}

export function isTooMany(fault: Fault): boolean {
  return fault.kind === "status" && fault.status === TOO_MANY_REQUESTS;
}

function backoff({ base, cap, jitter }: Backoff, send: number, random: number): number {
  const full = Math.min(cap, base * 2 ** (send - 1));
  return Math.round(full * (1 - jitter + jitter * random));
}
