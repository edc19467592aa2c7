import type { JsonObject } from "../model/json.ts";
import type { Settings } from "./settings.ts";

export type ServerOptions = {
  /** 0 or absent: any free port. */
  readonly port?: number;
  /** The service has no business beyond this machine. */
  readonly host?: "127.0.0.1" | "localhost" | "::1";
  /** Where the data is kept; made when it is not there. */
  readonly dataDir: string;
  /** What `X-API-Key` must carry. */
  readonly apiKey: string;
  /** A path before `/apiKey`, as "/tenant/a". */
  readonly basePath?: string;
  /** Milliseconds a discovery or batch generation takes; short for `settings.discoveryTime`. */
  readonly discoveryTime?: number;
  /** Behaviour to start with, where it is not the default. */
  readonly settings?: Partial<Settings>;
  /** What an empty data directory is filled with: a document as `GET /control/data` gives, gaps allowed. */
  readonly seed?: JsonObject;
  /** Milliseconds since the epoch; the service makes its timestamps strictly increasing by itself. */
  readonly clock?: () => number;
  /** Makes UUIDs; the default ones are random. */
  readonly ids?: () => string;
};

export type RunningServer = {
  /** The base address, which precedes `/apiKey`. */
  readonly url: string;
  /** The address of the control interface, `/control` included. */
  readonly controlUrl: string;
  /** Breaks off what is under way and gives the data directory free. */
  readonly close: () => Promise<void>;
};

/** A base path is empty, or begins with a slash and does not end with one. */
export function checkedBasePath(basePath: string): string {
  const whole = /^(\/[\w.~-]+)*$/.test(basePath);
  if (!whole || basePath === "/control" || basePath.startsWith("/control/"))
    throw new RangeError(`basePath must be like /tenant/a, and not within /control: ${basePath}`);
  return basePath;
}

/** Loopback only, also for callers whose types are not checked. */
export function checkedHost(host: string): string {
  if (!["127.0.0.1", "localhost", "::1"].includes(host))
    throw new RangeError(`host must be a loopback address: ${host}`);
  return host;
}
