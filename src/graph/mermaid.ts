import { safeLine } from "../output/safe.ts";
import type { Graph, Node, TargetGraph } from "./graph.ts";

/** The graph as Mermaid, which Markdown on GitHub and GitLab draws. */
export function renderMermaid({ targets }: Graph): string {
  const ids = new Map(
    targets.flatMap(({ nodes }) => nodes).map(({ id }, at): [string, string] => [id, `n${at}`]),
  );
  const idOf = (id: string): string => ids.get(id) ?? "n";
  const lines = [
    "flowchart LR",
    ...targets.flatMap((target, at) => subgraph(target, at, idOf)),
    ...targets.flatMap(({ edges }) =>
      edges.map(
        ({ from, to, why }) => `  ${idOf(from)} ${why === "prerequisite" ? "-->" : "-.->"} ${idOf(to)}`,
      ),
    ),
    "  classDef off fill:#eee,stroke:#999,color:#666",
    "  classDef unmanaged stroke-dasharray:4",
  ];
  return lines.map((line) => `${line}\n`).join("");
}

function subgraph({ key, nodes }: TargetGraph, at: number, idOf: (id: string) => string): readonly string[] {
  return [
    `  subgraph t${at}[${label(key)}]`,
    ...nodes.map((node) => `    ${idOf(node.id)}${shape(node)}${classOf(node)}`),
    "  end",
  ];
}

/** Test cases are boxes, batch generations rounded, environments cylinders. */
function shape(node: Node): string {
  const text = label(node.label, node.status);
  switch (node.kind) {
    case "testCase":
    case "unmanaged":
      return `[${text}]`;
    case "batchGeneration":
      return `([${text}])`;
    case "environment":
      return `[(${text})]`;
  }
}

function classOf({ kind, off }: Node): string {
  if (kind === "unmanaged") return ":::unmanaged";
  return off ? ":::off" : "";
}

function label(...parts: readonly (string | undefined)[]): string {
  return `"${parts.flatMap((part) => (part === undefined ? [] : [mermaidText(part)])).join("<br/>")}"`;
}

/**
 * A name inside a quoted label. Mermaid reads quotes, tags, Markdown, directives (`%%{`) and its own entities there,
 * so every sign that is not plain in a name becomes an entity, and what would begin a list.
 */
export function mermaidText(text: string): string {
  return safeLine(text)
    .replace(/[!-+/:-@[-^`{-~]/g, entity)
    .replace(/^(?:\d+(?=\.))?[-.]/, (start) => start.slice(0, -1) + entity(start.slice(-1)));
}

function entity(sign: string): string {
  return `#${sign.charCodeAt(0)};`;
}
