import type { TascError } from "../model/error.ts";
import type { Path } from "../model/json.ts";
import type { Method } from "./request.ts";

/** Whether the service can have done what it was asked to do. */
export type Acted = "no" | "maybe";

/**
 * Why a call did not end well. `acted` and `attempts` cover all its sends: a PATCH that timed out once and was
 * refused a connection afterwards may have been carried out.
 */
export type Failure = Fault & {
  readonly method: Method;
  /** From `/apiKey/v3` on, without the query. */
  readonly path: string;
  readonly attempts: number;
  readonly acted: Acted;
};

/** What can go wrong with one send. */
export type Fault =
  | Unsendable
  | Unreachable
  | { readonly kind: "interrupted" }
  | Withheld
  | TimedOut
  | { readonly kind: "broken"; readonly code: string }
  | KeyRefused
  | Redirected
  | BadStatus
  | Unreadable
  | ({ readonly kind: "misshapen" } & Misfit)
  | TooBig;

/** The API key cannot be put into a header. */
export interface Unsendable {
  readonly kind: "unsendable";
}

/** `beforeSend` refused the send; later sends of the run would be refused as well. */
export interface Withheld {
  readonly kind: "withheld";
  readonly cause: TascError;
}

/** No connection came about, so nothing was sent. */
export interface Unreachable {
  readonly kind: "unreachable";
  readonly cause: "name" | "refused" | "certificate" | "encryption" | "network";
  /** Host and port. */
  readonly host: string;
  /** The system's code, such as ECONNREFUSED. */
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
export interface Misfit {
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
export function actedOn(method: Method, fault: Fault, began: boolean): Acted {
  if (method === "GET" || !began || fault.kind === "key-refused") return "no";
  if (fault.kind !== "status") return "maybe";
  return fault.status >= 400 && fault.status < 500 && fault.status !== 408 ? "no" : "maybe";
}
