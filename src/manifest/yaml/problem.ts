import type { SyntaxFault } from "./tree.ts";

/**
 * What can be wrong with a YAML text. `code` is for programs, `message` and `hint` are for the person who has
 * to repair the file: what was found and why it is refused, then what to write instead.
 */
export type YamlProblem = {
  /** 1-based. */
  readonly line: number;
  /** 1-based, in UTF-16 units: what editors, SARIF and GitHub annotations count in. */
  readonly column: number;
  readonly code: YamlProblemCode;
  readonly message: string;
  readonly hint?: string;
};

type YamlProblemCode =
  | "encoding"
  | "control-character"
  | "line-break"
  | "empty"
  | "syntax"
  | "tab"
  | "directive"
  | "multiple-documents"
  | "duplicate-key"
  | "key"
  | "merge-key"
  | "tag"
  | "number"
  | "unknown-alias"
  | "cyclic-alias"
  | "alias-budget"
  | "too-deep";

/** A problem that still counts in offsets. */
export type Finding = {
  readonly offset: number;
  readonly code: YamlProblemCode;
  readonly message: string;
  readonly hint?: string;
};

/** What an explanation may look at: the parser's complaint, and the text around it. */
export type Scene = SyntaxFault & {
  readonly text: string;
  readonly lineStart: number;
  /** The line of the fault, without its end. */
  readonly line: string;
  /** That line from the fault on. */
  readonly rest: string;
  /** Where the bracket, brace or quote stands that the parser looked in vain for the end of. */
  readonly opener: number | undefined;
  /** Whether the fault is inside brackets or braces. */
  readonly inFlow: boolean;
};
