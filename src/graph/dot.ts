import { safeLine } from "../output/safe.ts";
import type { Graph, Node, TargetGraph } from "./graph.ts";

/** The graph in Graphviz' language. */
export function renderDot({ stage, targets }: Graph): string {
  const lines = [
    `digraph ${dotText(stage)} {`,
    "  rankdir=LR;",
    "  node [shape=box];",
    ...targets.flatMap(cluster),
    ...targets.flatMap(({ edges }) =>
      edges.map(
        ({ from, to, why }) =>
          `  ${dotText(from)} -> ${dotText(to)}${why === "prerequisite" ? "" : " [style=dashed]"};`,
      ),
    ),
    "}",
  ];
  return lines.map((line) => `${line}\n`).join("");
}

function cluster({ key, nodes }: TargetGraph, at: number): readonly string[] {
  return [
    `  subgraph cluster_${at} {`,
    `    label=${dotText(key)};`,
    ...nodes.map((node) => `    ${dotText(node.id)} [${attributes(node).join(", ")}];`),
    "  }",
  ];
}

const SHAPES: Readonly<Record<Node["kind"], string>> = {
  testCase: "box",
  batchGeneration: "ellipse",
  environment: "cylinder",
  unmanaged: "box",
};

function attributes({ kind, label, status, off }: Node): readonly string[] {
  const text = status === undefined ? escaped(label) : `${escaped(label)}\\n${escaped(status)}`;
  const style = kind === "unmanaged" ? ["style=dashed"] : off ? ["style=filled", 'fillcolor="#eeeeee"'] : [];
  return [`label="${text}"`, `shape=${SHAPES[kind]}`, ...style];
}

/** A quoted string, in which only quotes and backslashes mean something. */
export function dotText(text: string): string {
  return `"${escaped(text)}"`;
}

function escaped(text: string): string {
  return safeLine(text).replace(/["\\]/g, String.raw`\$&`);
}
