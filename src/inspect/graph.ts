import { type Address, type Kind, addressOf } from "../model/address.ts";
import type { DesiredResource, DesiredTarget } from "../model/desired.ts";
import { type Json, isObject } from "../model/json.ts";
import { type Value, isSensitive, isUnknown, reveal } from "../model/value.ts";
import { safeLine } from "../render/escape.ts";
import type { Redactor } from "../render/redact.ts";

/** What runs before what, as the manifests declare it. Nodes and edges are in the order of addresses. */
interface Graph {
  readonly stage: string;
  readonly targets: readonly TargetGraph[];
}

interface TargetGraph {
  readonly key: string;
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
}

interface Node {
  /** An address; for a test case that nothing here manages, a name that no address has. */
  readonly id: string;
  readonly kind: "testCase" | "batchGeneration" | "environment" | "unmanaged";
  readonly label: string;
  /** As declared: `DISABLED`, `ENABLED, ON`. Nothing where none is. */
  readonly status: string | undefined;
  /** Declared to be out of use. */
  readonly off: boolean;
}

/** `from` comes before `to`. */
export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly why: "prerequisite" | "environment";
}

export function graphOf(stage: string, targets: readonly DesiredTarget[]): Graph {
  return { stage, targets: targets.map(targetGraph) };
}

function targetGraph(target: DesiredTarget): TargetGraph {
  const references = [
    ...target.testCases.flatMap((one) => prerequisiteOf(target.key, one, "discovery.prerequisite")),
    ...target.batchGenerations.flatMap((one) => prerequisiteOf(target.key, one, "prerequisite")),
    ...target.batchGenerations.flatMap((one) => environmentOf(target.key, one)),
  ];
  const unmanaged = unmanagedNodes(target.key, references);
  const edges = references.map(({ from, to, why }) => ({
    from: typeof from === "string" ? from : (unmanaged.get(from.description)?.id ?? ""),
    to,
    why,
  }));
  const named = new Set(edges.map(({ from }) => from));
  return {
    key: target.key,
    nodes: [
      // An environment is of interest only where something runs in it.
      ...target.environments.filter(({ address }) => named.has(address)).map(nodeOf),
      ...target.testCases.map(nodeOf),
      ...target.batchGenerations.map(nodeOf),
      ...unmanaged.values(),
    ],
    edges,
  };
}

/** An edge that may begin at a test case which no manifest declares: it is known by its name alone. */
interface Reference extends Omit<Edge, "from"> {
  readonly from: Address | { readonly description: string };
}

function unmanagedNodes(target: string, references: readonly Reference[]): ReadonlyMap<string, Node> {
  const nodes = new Map<string, Node>();
  for (const { from } of references)
    if (typeof from !== "string" && !nodes.has(from.description))
      nodes.set(from.description, {
        id: `unmanaged.${target}.${nodes.size + 1}`,
        kind: "unmanaged",
        label: from.description,
        status: "not managed",
        off: false,
      });
  return nodes;
}

function prerequisiteOf(target: string, resource: DesiredResource, field: string): readonly Reference[] {
  const value = plain(resource.fields[field]);
  const { address: to } = resource;
  if (typeof value === "string")
    return [{ from: addressOf("testCase", target, value), to, why: "prerequisite" }];
  const description = isObject(value) ? value["description"] : undefined;
  return typeof description === "string" ? [{ from: { description }, to, why: "prerequisite" }] : [];
}

function environmentOf(target: string, resource: DesiredResource): readonly Reference[] {
  const key = plain(resource.fields["environment"]);
  if (typeof key !== "string") return [];
  return [{ from: addressOf("environment", target, key), to: resource.address, why: "environment" }];
}

function nodeOf({ kind, address, key, fields }: DesiredResource<Exclude<Kind, "target">>): Node {
  const states = [fields["status"], fields["runStatus"]].flatMap((value) => {
    const text = plain(value);
    return typeof text === "string" ? [text] : [];
  });
  return {
    id: address,
    kind,
    label: key,
    status: states.length === 0 ? undefined : states.join(", "),
    off: states.includes("DISABLED") || states.includes("OFF"),
  };
}

function plain(value: Value | undefined): Json | undefined {
  return value === undefined || isUnknown(value) || isSensitive(value) ? undefined : reveal(value);
}

/** Takes secrets out of names that come from the service, before a renderer escapes them. */
export function redactGraph(graph: Graph, redactor: Redactor): Graph {
  return {
    ...graph,
    targets: graph.targets.map((target) => ({
      ...target,
      nodes: target.nodes.map((node) => ({ ...node, label: redactor.text(node.label) })),
    })),
  };
}

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
