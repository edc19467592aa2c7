import { TascError } from "../model/error.ts";
import type { Path } from "../model/json.ts";
import type { Method } from "./request.ts";

type Kind = keyof typeof WORDS;
/** A fault of one send. */
export type Fault<K extends Kind = Kind> = {
  [P in K]: { readonly kind: P } & ((typeof WORDS)[P] extends (of: infer A) => unknown
    ? Readonly<A>
    : never);
}[K];

/** The error of the readers of answers, caught where the call is made. */
export class FaultError extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(`a call failed: ${fault.kind}`);
    this.fault = fault;
  }
}

export type MayHaveActed = "no" | "maybe";

/** The reason why a call failed. `acted` and `attempts` cover all its sends. */
export type Failure<K extends Kind = Kind> = Fault<K> & {
  readonly method: Method;
  /** The path from `/apiKey/v3` on, without the query. */
  readonly path: string;
  readonly attempts: number;
  readonly acted: MayHaveActed;
};

export class ServiceError extends TascError {
  readonly failure: Failure;

  constructor(failure: Failure) {
    const reason =
      failure.kind === "interrupted"
        ? "interrupted"
        : isOutOfReach(failure)
          ? "unreachable"
          : "failed";
    super(reason, [{ severity: "error", ...describeFailure(failure) }]);
    this.failure = failure;
  }
}

/** Whether the service cannot be reached or rejects the key: exit code 6 of the design contract. */
export function isOutOfReach(fault: Fault): boolean {
  if (fault.kind === "timeout") return fault.during === "connecting";
  return (
    fault.kind === "unsendable" || fault.kind === "unreachable" || fault.kind === "key-refused"
  );
}

/**
 * Whether the service may have acted on a send that ended with this fault. After a 4xx it has not,
 * except after a 408 (it stopped waiting); other faults of a write leave it open. @param began
 * whether any byte of the request may have been sent
 */
export function mayHaveActed(method: Method, fault: Fault, began: boolean): MayHaveActed {
  if (method === "GET" || !began || fault.kind === "key-refused") return "no";
  if (fault.kind !== "status") return "maybe";
  return fault.status >= 400 && fault.status < 500 && fault.status !== REQUEST_TIMEOUT
    ? "no"
    : "maybe";
}

const REQUEST_TIMEOUT = 408;
const TOO_MANY_REQUESTS = 429;

export function isTooMany(fault: Fault): boolean {
  return fault.kind === "status" && fault.status === TOO_MANY_REQUESTS;
}

/** Whether a call may be sent again: a POST only if the service cannot have acted on this send. */
export function mayRetry(method: Method, fault: Fault, acted: MayHaveActed): boolean {
  if (method === "POST" && acted === "maybe") return false;
  // A wrong certificate will still be wrong in a second.
  if (fault.kind === "unreachable")
    return fault.cause !== "certificate" && fault.cause !== "encryption";
  if (fault.kind === "status")
    return (
      isTooMany(fault) ||
      fault.status === REQUEST_TIMEOUT ||
      (fault.status >= 500 && fault.status < 600)
    );
  return fault.kind === "timeout" || fault.kind === "broken";
}

/**
 * Describes a failure without secrets: no header, no body, no query; the service's own words are
 * redacted.
 */
export function describeFailure<K extends Kind>(failure: Failure<K>) {
  const { method, path, attempts, acted } = failure;
  const [code, summary, detail, next] = DESCRIBED[failure.kind](failure);
  const call = `${method} ${path}${attempts > 1 ? `, sent ${attempts} times` : ""}`;
  const open =
    method === "POST" && acted === "maybe" ? "The service may still have carried it out. " : "";
  return {
    code,
    summary,
    detail: `${call}${detail === "" ? "" : `: ${detail}`}. ${open}${next}`.trimEnd(),
  };
}

type Told = { readonly words: string | undefined };
/** The text of a failure. `detail` has no full stop; `next` says what to do. */
type Description = readonly [code: string, summary: string, detail: string, next: string];

const CHECK_BASE_URL =
  "Check that `service.baseUrl` is the service's own address, and that its version is the one tasc is for.";

const WORDS = {
  /** The API key is not a valid header value. */
  unsendable: () => [
    "key-unsendable",
    "The API key cannot be sent",
    "the key is empty, or holds a line break, a blank at an end or a character that no HTTP header can carry",
    "Check how the key gets into its environment variable.",
  ],
  /** No connection was made, so nothing was sent. */
  unreachable: ({
    cause,
    host,
    code,
  }: {
    cause: keyof typeof UNREACHABLE;
    host: string;
    code: string;
  }) => {
    const [why, next] = UNREACHABLE[cause];
    const detail = `no connection to ${host}: ${why} (${code})`;
    return ["unreachable", "The service cannot be reached", detail, next];
  },
  interrupted: () => [
    "interrupted",
    "Interrupted",
    "cancelled before the service answered",
    "Run the command again.",
  ],
  /** `beforeSend` refused the send; it would refuse later sends of this run, too. */
  withheld: ({ cause }: { cause: TascError }) => {
    const why = cause.diagnostics.find(({ severity }) => severity === "error");
    return [why?.code ?? "withheld", cause.message, "not sent", why?.detail ?? ""];
  },
  timeout: ({ limit, during }: { limit: number; during: keyof typeof DURING }) => [
    "timeout",
    `No ${during === "connecting" ? "connection to" : "answer from"} the service in time`,
    `${DURING[during]} within ${limit / 1000} s`,
    "If the service is known to be slow, raise `service.requestTimeout` (`--request-timeout`).",
  ],
  broken: ({ code }: { code: string }) => [
    "connection-broken",
    "The connection to the service broke",
    `the connection ended before the answer did (${code})`,
    "Run the command again; if it happens again, check what is between here and the service.",
  ],
  /** `keyFrom` says where the key comes from, in a sentence without a full stop. */
  "key-refused": ({
    status,
    words,
    keyFrom,
  }: Told & { status: 401 | 403; keyFrom?: string | undefined }) => [
    "key-refused",
    `The service refused the API key (${status})`,
    says(words),
    keyFrom === undefined
      ? "Check that `service.apiKey` is the key of this service and may do this."
      : `${keyFrom}: check that this is the key of this service and may do this.`,
  ],
  /**
   * Any 3xx; redirects are never followed. `host` is host and port of `Location`, if it was given.
   */
  redirect: ({ status, host }: { status: number; host: string | undefined }) => [
    "redirect",
    `The service redirects (${status})`,
    `the answer ${host === undefined ? "names no other place" : `points to ${host}`}; redirects are never followed, because the API key would be sent along`,
    "If that is where the service is, make it the base address (`service.baseUrl`).",
  ],
  /**
   * Any other status outside 2xx. `words` is the service's message in one short line; `retryAfter`
   * is in milliseconds.
   */
  status: ({ status, words }: Told & { status: number; retryAfter: number | undefined }) => {
    const next =
      status === 404
        ? "What the call is about is gone, or `service.baseUrl` is not the service's address."
        : status === TOO_MANY_REQUESTS
          ? "Lower `service.concurrency`, or run the command again later."
          : status >= 500 || status === REQUEST_TIMEOUT
            ? "Run the command again later."
            : "Correct what the service refuses, and run the command again.";
    return [`http-${status}`, `The service answered ${status}`, says(words), next];
  },
  /**
   * A 2xx answer that is not JSON. `offset` is the first wrong byte, or the start of the list item
   * that contains it.
   */
  unreadable: ({ why, offset }: { why: keyof typeof UNREADABLE; offset: number | undefined }) => [
    "answer-unreadable",
    "The service's answer cannot be read",
    `${UNREADABLE[why]}${offset === undefined ? "" : ` (at byte ${offset})`}`,
    CHECK_BASE_URL,
  ],
  /** An answer that differs from service-api.md at this path; the text names types, not values. */
  misshapen: ({ at, expected, found }: { at: Path; expected: string; found: string }) => {
    const steps = at.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
    const place = at.length === 0 ? "" : `${steps.replace(/^\./, "")}: `;
    const summary = "The service's answer does not match its API description";
    return [
      "answer-misshapen",
      summary,
      `${place}expected ${expected}, found ${found}`,
      CHECK_BASE_URL,
    ];
  },
  "too-big": ({ what, limit }: { what: keyof typeof TOO_BIG; limit: number }) => [
    "answer-too-big",
    "The service's answer is too big",
    TOO_BIG[what](limit),
    CHECK_BASE_URL,
  ],
} satisfies Record<string, (fault: never) => Description>;
const DESCRIBED: { readonly [K in Kind]: (fault: Fault<K>) => Description } = WORDS;

const DURING = {
  connecting: "no connection",
  waiting: "no answer",
  reading: "the answer was not complete",
} as const;

const UNREACHABLE = {
  name: ["its name cannot be resolved", "Check the host in `service.baseUrl`."],
  refused: [
    "nothing accepts connections there",
    "Check host and port in `service.baseUrl`, and that the service runs.",
  ],
  certificate: [
    "its certificate is not accepted",
    "For a certificate of your own authority, set NODE_EXTRA_CA_CERTS to its file.",
  ],
  encryption: [
    "an encrypted connection cannot be set up",
    "Check that the service speaks https on this port.",
  ],
  proxy: [
    "neither the host nor a proxy accepts the connection",
    "Check host and port in `service.baseUrl`, and HTTPS_PROXY, HTTP_PROXY and NO_PROXY.",
  ],
  network: ["the network cannot reach it", "Check network, VPN and firewall."],
} as const;

export const UNREADABLE = {
  empty: "the answer is empty",
  "not-json": "the answer is not JSON",
  "not-utf-8": "the answer is not UTF-8",
  "not-a-list": "the answer is not a JSON list",
  compressed: "the answer is compressed, which was not asked for",
} as const;

export const TOO_BIG = {
  answer: (limit: number) => `the answer is longer than ${limit} bytes`,
  item: (limit: number) => `one test case is longer than ${limit} bytes`,
  items: (limit: number) => `there are more than ${limit} test cases`,
  depth: (limit: number) => `values are nested more than ${limit} deep`,
};

function says(words: string | undefined): string {
  return words === undefined ? "" : `the service says: ${words.replace(/[.\s]+$/, "")}`;
}
