import type { Result } from "./result.ts";
import { bad, good } from "./result.ts";

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

type Rule = (url: URL, options: BaseUrlOptions) => BaseUrlProblem | undefined;

const RULES: readonly Rule[] = [
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
    summary: "The base address carries credentials",
    detail:
      "The service is authenticated to with the API key alone. Take the user name and password out of the address.",
  };
}

function mustNotCarryQueryOrFragment(url: URL): BaseUrlProblem | undefined {
  // An empty query or fragment (`https://host/?`) shows only in the text.
  if (!/[?#]/.test(url.href)) return undefined;
  return {
    code: "base-url",
    summary: "The base address carries a query or a fragment",
    detail: `Paths are added to its end, so nothing may follow the path. ${EXAMPLE}`,
  };
}

function mustEndBeforeApiKey(url: URL): BaseUrlProblem | undefined {
  if (!/\/apiKey(\/v\d+)?\/*$/i.test(url.pathname)) return undefined;
  return {
    code: "base-url",
    summary: "The base address goes too far",
    detail: `It is the part before \`/apiKey\`; tasc adds \`/apiKey/v3\` itself. ${EXAMPLE}`,
  };
}

function mustBeEncrypted(url: URL, options: BaseUrlOptions): BaseUrlProblem | undefined {
  if (url.protocol === "https:" || options.insecure === true || isLoopback(url.hostname)) return undefined;
  return {
    code: "base-url-insecure",
    summary: "The base address is plain http to another machine",
    detail: `Anyone on the way to ${url.host} could read the API key and every password that is sent. Use https, or allow it with \`--insecure\`.`,
  };
}

/** The URL parser has brought all spellings of an address (`127.1`, `0x7f.0.0.1`) into one form. */
function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
