import type { Address } from "./address.ts";
import type { Path } from "./json.ts";

export type Severity = "error" | "warning";

/** A place in a manifest; line and column count from 1, columns in UTF-16 units. */
export interface Place {
  /** Relative to the project folder, with forward slashes. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A place in a manifest by its path; lines and columns are looked up only for what is shown. */
export interface Origin {
  readonly file: string;
  readonly path: Path;
}

/** An error or a warning for the user. `code` is for programs; `detail` says why it matters and what to do next. */
export interface Diagnostic {
  readonly severity: Severity;
  readonly code: string;
  readonly summary: string;
  readonly detail: string;
  readonly address?: Address;
  readonly origin?: Origin;
  readonly place?: Place;
}

/** A text of others on one line: what stands on a line of its own in a detail, and reads like a command of tasc, is one to run. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]+/g, " ");
}

/** A word of others in a command that people paste: one that a shell takes for more than a word is theirs to write. */
export const wordOf = (text: string, otherwise: string) => (/^\w[\w-]*$/.test(text) ? text : otherwise);

/** Commands in advice: on a line of its own, after what it is for, or in backticks. Looking behind takes square time. */
const COMMAND =
  /(?:^ *|^[\w ]+: +|`|\| )tasc (?:apply|doctor|drift|import|plan|pull|snapshot|state)\b[^`\n]*/gm;

/** Advice whose commands name the stage, if there is one to name. */
export function inStage(advice: string, stage: string | undefined): string {
  const named = (command: string) => (command.includes("--stage") ? command : `${command} --stage ${stage}`);
  return stage === undefined ? advice : advice.replaceAll(COMMAND, named);
}

/** An error that has no place in a manifest. @param code stays the same across wordings */
export function fault(code: string, summary: string, detail = ""): Diagnostic {
  return { severity: "error", code, summary, detail };
}

/** A warning likewise. */
export function warning(code: string, summary: string, detail = ""): Diagnostic {
  return { severity: "warning", code, summary, detail };
}
