import type { Path } from "../model/json.ts";
import { TascError } from "../model/error.ts";
import { type Failure, type TooBig, type Unreachable, type Unreadable, isOutOfReach } from "./request.ts";

/** A call that the service did not answer as it should. */
export class ServiceError extends TascError {
  readonly failure: Failure;

  constructor(failure: Failure) {
    const reason =
      failure.kind === "interrupted" ? "interrupted" : isOutOfReach(failure) ? "unreachable" : "failed";
    super(reason, [{ severity: "error", ...describeFailure(failure) }]);
    this.failure = failure;
  }
}

/** A failure in words, in the parts that a diagnostic has. */
export interface FailureText {
  /** For programs; stays the same across wordings. */
  readonly code: string;
  readonly summary: string;
  /** What exactly happened, and what to do next. */
  readonly detail: string;
}

/** Puts a failure into words. They hold nothing secret: no header, no body, no query; the service's words are redacted. */
export function describeFailure(failure: Failure): FailureText {
  const { code, summary, detail, next } = describe(failure);
  const call = `${failure.method} ${failure.path}${sends(failure)}`;
  const what = detail === "" ? `${call}.` : `${call}: ${detail}.`;
  return { code, summary, detail: [what, ...open(failure), next].join(" ").trimEnd() };
}

interface Description {
  readonly code: string;
  readonly summary: string;
  /** Without the full stop. */
  readonly detail: string;
  readonly next: string;
}

function describe(failure: Failure): Description {
  switch (failure.kind) {
    case "unsendable":
      return {
        code: "key-unsendable",
        summary: "The API key cannot be sent",
        detail:
          "the key is empty, or holds a line break, a blank at an end or a character that no HTTP header can carry",
        next: "Check how the key gets into its environment variable.",
      };
    case "unreachable":
      return unreachable(failure);
    case "interrupted":
      return {
        code: "interrupted",
        summary: "Interrupted",
        detail: "cancelled before the service answered",
        next: "Run the command again.",
      };
    case "withheld": {
      const why = failure.cause.diagnostics.find(({ severity }) => severity === "error");
      return {
        code: why?.code ?? "withheld",
        summary: failure.cause.message,
        detail: "not sent",
        next: why?.detail ?? "",
      };
    }
    case "timeout":
      return {
        code: "timeout",
        summary:
          failure.during === "connecting"
            ? "No connection to the service in time"
            : "No answer from the service in time",
        detail: `${DURING[failure.during]} within ${seconds(failure.limit)}`,
        next: "If the service is known to be slow, raise `service.requestTimeout` (`--request-timeout`).",
      };
    case "broken":
      return {
        code: "connection-broken",
        summary: "The connection to the service broke",
        detail: `the connection ended before the answer did (${failure.code})`,
        next: "Run the command again; if it stays so, see what stands between here and the service.",
      };
    case "key-refused":
      return {
        code: "key-refused",
        summary: `The service refused the API key (${failure.status})`,
        detail: says(failure.words),
        next: "Check that `service.apiKey` is the key of this service and may do this.",
      };
    case "redirect":
      return {
        code: "redirect",
        summary: `The service redirects (${failure.status})`,
        detail: `${redirectTo(failure.host)}; redirects are never followed, because the API key would be sent along`,
        next: "If that is where the service is, make it the base address (`service.baseUrl`).",
      };
    case "status":
      return {
        code: `http-${failure.status}`,
        summary: `The service answered ${failure.status}`,
        detail: says(failure.words),
        next: afterStatus(failure.status),
      };
    case "unreadable":
      return {
        code: "answer-unreadable",
        summary: "The service's answer cannot be read",
        detail: unreadable(failure),
        next: CHECK_BASE_URL,
      };
    case "misshapen":
      return {
        code: "answer-misshapen",
        summary: "The service's answer does not match its API description",
        detail: `${placeOf(failure.at)}expected ${failure.expected}, found ${failure.found}`,
        next: CHECK_BASE_URL,
      };
    case "too-big":
      return {
        code: "answer-too-big",
        summary: "The service's answer is too big",
        detail: tooBig(failure),
        next: CHECK_BASE_URL,
      };
  }
}

const CHECK_BASE_URL =
  "Check that `service.baseUrl` is the service's own address, and that its version is the one tasc is for.";

const DURING = {
  connecting: "no connection",
  waiting: "no answer",
  reading: "the answer was not complete",
} as const;

const UNREACHABLE: Readonly<Record<Unreachable["cause"], { readonly why: string; readonly next: string }>> = {
  name: { why: "its name cannot be resolved", next: "Check the host in `service.baseUrl`." },
  refused: {
    why: "nothing accepts connections there",
    next: "Check host and port in `service.baseUrl`, and that the service runs.",
  },
  certificate: {
    why: "its certificate is not accepted",
    next: "For a certificate of your own authority, set NODE_EXTRA_CA_CERTS to its file.",
  },
  encryption: {
    why: "an encrypted connection cannot be set up",
    next: "Check that the service speaks https on this port.",
  },
  proxy: {
    why: "neither the host nor a proxy accepts the connection",
    next: "Check host and port in `service.baseUrl`, and HTTPS_PROXY, HTTP_PROXY and NO_PROXY.",
  },
  network: { why: "the network cannot reach it", next: "Check network, VPN and firewall." },
};

function unreachable(failure: Unreachable): Description {
  const { why, next } = UNREACHABLE[failure.cause];
  return {
    code: "unreachable",
    summary: "The service cannot be reached",
    detail: `no connection to ${failure.host}: ${why} (${failure.code})`,
    next,
  };
}

const UNREADABLE: Readonly<Record<Unreadable["why"], string>> = {
  empty: "the answer is empty",
  "not-json": "the answer is not JSON",
  "not-utf-8": "the answer is not UTF-8",
  "not-a-list": "the answer is not a JSON list",
  compressed: "the answer is compressed, which was not asked for",
};

function unreadable({ why, offset }: Unreadable): string {
  return `${UNREADABLE[why]}${offset === undefined ? "" : ` (at byte ${offset})`}`;
}

function tooBig({ what, limit }: TooBig): string {
  switch (what) {
    case "answer":
      return `the answer is longer than ${limit} bytes`;
    case "item":
      return `one test case is longer than ${limit} bytes`;
    case "items":
      return `there are more than ${limit} test cases`;
    case "depth":
      return `values are nested more than ${limit} deep`;
  }
}

function redirectTo(host: string | undefined): string {
  return host === undefined ? "the answer names no other place" : `the answer points to ${host}`;
}

function afterStatus(status: number): string {
  if (status === 404)
    return "What the call is about is gone, or `service.baseUrl` is not the service's address.";
  if (status === 429) return "Lower `service.concurrency`, or run the command again later.";
  if (status >= 500 || status === 408) return "Run the command again later.";
  return "Correct what the service refuses, and run the command again.";
}

function says(words: string | undefined): string {
  return words === undefined ? "" : `the service says: ${words.replace(/[.\s]+$/, "")}`;
}

function sends({ attempts }: Failure): string {
  return attempts > 1 ? `, sent ${attempts} times` : "";
}

/** What a caller must know of a creation that ended so. */
function open({ method, acted }: Failure): readonly string[] {
  return method === "POST" && acted === "maybe" ? ["The service may still have carried it out."] : [];
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}

function placeOf(path: Path): string {
  if (path.length === 0) return "";
  const parts = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`));
  return `${parts.join("").replace(/^\./, "")}: `;
}
