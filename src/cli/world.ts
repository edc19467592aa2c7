import type { Diagnostic } from "../model/diagnostic.ts";

/** The outside world, handed to commands from the top, so that nothing below reaches for it. */
export interface World {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Working directory of the process, absolute. */
  readonly cwd: string;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** From 0 to 1, for the jitter of retries. */
  readonly random: () => number;
  readonly version: string;
  /** Every secret met so far, for the words about an error that nobody expected. */
  readonly secrets: Set<string>;
  /** Every diagnostic said so far, for commands that end without a result and were asked for JSON. */
  readonly said: Diagnostic[];
  /** What kept standard output from being written. */
  readonly unwritten: Error[];
  /** How many documents for programs were printed: a command that was asked for one and printed none says why in it. */
  readonly printed: { documents: number };
}

declare const __TASC_VERSION__: string;

export function realWorld(): World {
  return {
    env: process.env,
    cwd: process.cwd(),
    // Node opens a stream when it is first asked for, which takes as long as all of `--help`.
    get stdin() {
      return process.stdin;
    },
    get stdout() {
      return process.stdout;
    },
    get stderr() {
      return process.stderr;
    },
    now: () => Date.now(),
    random: () => Math.random(),
    version: __TASC_VERSION__,
    secrets: new Set(),
    said: [],
    unwritten: [],
    printed: { documents: 0 },
  };
}
