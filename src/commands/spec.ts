import type { OptionSpec } from "./options.ts";

/** What a command is for, in the order of the help. */
export const GROUPS = ["Start", "Write", "Review", "Apply", "Stages", "Service", "State"] as const;
export type Group = (typeof GROUPS)[number];

/** What the parser, the help, the completion and the reference know of a command: plain data. */
export interface CommandSpec {
  /** All words that call it after `tasc`, e.g. `state list`: its name in the table. */
  readonly path: string;
  /** The last of these words. */
  readonly name: string;
  readonly summary: string;
  /** Command lines, each with what it does. */
  readonly examples: Readonly<Record<string, string>>;
  /** Of a word that only stands before the names of other commands, such as `state`: theirs. */
  readonly group: Group;
  readonly args?: readonly OptionSpec[];
  readonly options?: readonly OptionSpec[];
  /** Commands whose names follow this one. */
  readonly commands?: readonly CommandSpec[];
}
