import type { YamlProblemCode } from "./problem.ts";
import type { SyntaxFault } from "./tree.ts";

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
