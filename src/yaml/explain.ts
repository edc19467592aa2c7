import { EXPLANATIONS } from "./explanations.ts";
import type { YamlProblemCode } from "./problem.ts";
import type { SyntaxFault, Tree } from "./tree.ts";

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

/**
 * The parser's complaints in words for the person who wrote the file, one for each line: what it says next
 * about the same line only follows from the first. Tokens that it meets after the end of everything follow,
 * too.
 */
export function explainFaults(tree: Tree): Finding[] {
  const anythingElse = tree.faults.some((fault) => fault.code !== "STRAY_TOKEN");
  const faults = anythingElse
    ? tree.faults.filter((fault) => fault.code !== "STRAY_TOKEN")
    : tree.faults.slice(0, 1);
  const findings = new Map<number, Finding>();
  for (const fault of faults.toSorted((a, b) => a.offset - b.offset)) {
    const scene = sceneOf(fault, tree);
    if (!findings.has(scene.lineStart)) findings.set(scene.lineStart, explainFault(scene));
  }
  return [...findings.values()];
}

function explainFault(scene: Scene): Finding {
  for (const explanation of EXPLANATIONS) {
    const finding = explanation(scene);
    if (finding !== undefined) return finding;
  }
  return { offset: scene.offset, code: "syntax", message: `this is not YAML: ${scene.words}` };
}

function sceneOf(fault: SyntaxFault, { text, unclosed, flows }: Tree): Scene {
  const { offset } = fault;
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  const line = /^.*/.exec(text.slice(lineStart))?.[0] ?? "";
  return {
    ...fault,
    text,
    lineStart,
    line,
    rest: line.slice(offset - lineStart),
    opener: unclosed.find((span) => span.end === offset)?.start,
    inFlow: flows.some((span) => span.start < offset && offset <= span.end),
  };
}
