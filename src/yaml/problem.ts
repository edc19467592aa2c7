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

export type YamlProblemCode =
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
