import { type Host } from "../app/session.ts";
import { type Diagnostic } from "../model/diagnostic.ts";
import { type Console } from "./console.ts";

/** The outside world, handed to commands from the top, so that nothing below reaches for it. */
export interface ProcessContext {
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
  /** Every secret met so far: what is printed holds none of them. */
  readonly secrets: Set<string>;
  /** Every diagnostic said so far, for commands that end without a result and were asked for JSON. */
  readonly said: Diagnostic[];
  /** What kept standard output from being written. */
  readonly unwritten: Error[];
  /** How many documents for programs were printed: a command that was asked for one and printed none says why in it. */
  readonly printed: { documents: number };
}

/** What a command works with, next to its options. */
export interface Context {
  readonly world: ProcessContext;
  /** What the application sees of the world. */
  readonly host: Host;
  readonly console: Console;
}
