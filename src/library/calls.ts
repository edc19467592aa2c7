import type { Given } from "../cli/options.ts";

/** How calls to the service are made; what is left out is as the project says. */
export interface CallOptions {
  /** Time limit of each call, such as `30s`. */
  readonly requestTimeout?: string;
  /** Sends of a call after the first, at most. */
  readonly retries?: number;
  /** Calls in flight, of any kind. */
  readonly concurrency?: number;
  /** Allows plain http to an address that is not this machine's. */
  readonly insecure?: boolean;
}

export const CALL_KINDS = {
  requestTimeout: "text",
  retries: "number",
  concurrency: "number",
  insecure: "flag",
} as const;

/** As the commands take them from the command line. */
export function callsGiven({
  requestTimeout,
  retries,
  concurrency,
  insecure,
}: CallOptions): Given["options"] {
  return {
    ...(requestTimeout === undefined ? {} : { requestTimeout }),
    ...(retries === undefined ? {} : { retries: String(retries) }),
    ...(concurrency === undefined ? {} : { concurrency: String(concurrency) }),
    ...(insecure === undefined ? {} : { insecure }),
  };
}
