import type { Address } from "./address.ts";
import type { Path } from "./json.ts";

export type Severity = "error" | "warning";

/** A place in a manifest. Lines and columns count from 1, columns in UTF-16 units. */
export interface Place {
  /** Relative to the project folder, with forward slashes. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/**
 * A place in a manifest, by path. Lines and columns are looked up only for diagnostics that are
 * shown.
 */
export interface Origin {
  readonly file: string;
  readonly path: Path;
}

/**
 * An error or a warning for the user. `code` is for programs; `detail` says why it matters and what
 * to do next.
 */
export interface Diagnostic {
  readonly severity: Severity;
  readonly code: string;
  readonly summary: string;
  readonly detail: string;
  readonly address?: Address;
  readonly origin?: Origin;
  readonly place?: Place;
}

/**
 * Puts foreign text on one line: a line of a detail that looks like a tasc command is taken as one
 * to run.
 */
export function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]+/g, " ");
}

/**
 * Returns a text for a command that people paste, or the fallback if a shell might read the text as
 * more than a word.
 */
export const wordOf = (text: string, fallback: string) =>
  /^\w[\w-]*$/.test(text) ? text : fallback;

/**
 * Commands in advice: on their own line, after a label, or in backticks. A lookbehind would take
 * quadratic time.
 */
const COMMAND =
  /(?:^ *|^[\w ]+: +|`|\| )tasc (?:apply|doctor|drift|import|plan|pull|snapshot|state)\b[^`\n]*/gm;

/** Adds `--stage` to the commands in a piece of advice, if there is a stage to name. */
export function inStage(advice: string, stage: string | undefined): string {
  const named = (command: string) =>
    command.includes("--stage") ? command : `${command} --stage ${stage}`;
  return stage === undefined ? advice : advice.replaceAll(COMMAND, named);
}

/**
 * Makes an error that has no place in a manifest.
 * @param code stays the same when the wording changes
 */
export function fault(code: string, summary: string, detail = ""): Diagnostic {
  return { severity: "error", code, summary, detail };
}

/** Makes a warning that has no place in a manifest. */
export function warning(code: string, summary: string, detail = ""): Diagnostic {
  return { severity: "warning", code, summary, detail };
}
