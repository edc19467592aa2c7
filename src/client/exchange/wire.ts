import type { Method } from "../request.ts";

/** One HTTP request as it goes out. */
export interface WireRequest {
  readonly method: Method;
  /** With the base address's path and the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** What is told of one request, in this order; after `ended` or `broke` nothing more. */
export interface Receiver {
  /** A connection stands and the request is about to be written to it. `abort` drops the connection. */
  began(abort: () => void): void;
  head(status: number, headers: Headers): void;
  /** A piece of the body, which does not change afterwards. */
  piece(bytes: Uint8Array): void;
  ended(): void;
  broke(error: Error): void;
}

/** Connections to one origin. Nothing is retried, redirected or queued in here. */
export interface Transport {
  send(request: WireRequest, receiver: Receiver): void;
  /** Drops all connections. */
  close(): Promise<void>;
}

/** A header's value, the first where it was sent several times. */
export function headerText(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "object" ? value[0] : value;
}
