import type { Processes } from "./processes.ts";

/** What the backends need of the world; handed in from the top, so that tests can hand in another. */
export interface StateWorld {
  /** Absolute; a relative `path` of the local backend starts here. */
  readonly projectFolder: string;
  readonly clock: Clock;
  /** A new UUID at each call. */
  readonly newId: () => string;
  readonly processes: Processes;
  /** Login name; with the host's it makes the holder's name in a lock. */
  readonly user: string;
  readonly workingFolder: string;
  /** Names the CI job, where there is one. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface Clock {
  now(): Date;
  /** Resolves after so many milliseconds, or as soon as the signal aborts; it never rejects. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}
