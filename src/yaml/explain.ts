import { EXPLANATIONS } from "./explanations.ts";
import type { Finding, Scene } from "./finding.ts";
import type { SyntaxFault, Tree } from "./tree.ts";

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
