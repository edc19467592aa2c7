import { type Kind, addressOf } from "../model/address.ts";
import type { DesiredResource, DesiredTarget } from "../model/desired.ts";
import { type Json, isObject } from "../model/json.ts";
import { type Value, isSensitive, isUnknown, reveal } from "../model/value.ts";
import { safeLine } from "../render/escape.ts";
import type { Markup, View } from "../render/view.ts";

/** What runs before what, as the manifests declare it. Nodes and edges are in the order of addresses. */
interface Graph {
  readonly stage: string;
  readonly targets: readonly TargetGraph[];
}

interface TargetGraph {
  readonly key: string;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly Edge[];
}

interface GraphNode {
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

function targetGraph({ key, environments, testCases, batchGenerations }: DesiredTarget): TargetGraph {
  const edges: Edge[] = [];
  // A test case which no manifest declares is known by its name alone.
  const unmanaged = new Map<string, GraphNode>();
  const idOf = (description: string): string => {
    const id = unmanaged.get(description)?.id ?? `unmanaged.${key}.${unmanaged.size + 1}`;
    unmanaged.set(description, {
      id,
      kind: "unmanaged",
      label: description,
      status: "not managed",
      off: false,
    });
    return id;
  };
  const link = (resources: readonly DesiredResource[], field: string, why: Edge["why"]): void => {
    for (const { address: to, fields } of resources) {
      const value = plain(fields[field]);
      const kind = why === "environment" ? "environment" : "testCase";
      const description = isObject(value) ? value["description"] : undefined;
      if (typeof value === "string") edges.push({ from: addressOf(kind, key, value), to, why });
      else if (typeof description === "string") edges.push({ from: idOf(description), to, why });
    }
  };
  link(testCases, "discovery.prerequisite", "prerequisite");
  link(batchGenerations, "prerequisite", "prerequisite");
  link(batchGenerations, "environment", "environment");
  const named = new Set(edges.map(({ from }) => from));
  return {
    key,
    nodes: [
      // An environment is of interest only where something runs in it.
      ...environments.filter(({ address }) => named.has(address)).map(nodeOf),
      ...testCases.map(nodeOf),
      ...batchGenerations.map(nodeOf),
      ...unmanaged.values(),
    ],
    edges,
  };
}

function nodeOf({ kind, address, key, fields }: DesiredResource<Exclude<Kind, "target">>): GraphNode {
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

export function graphView(graph: Graph): View {
  const { stage, targets } = graph;
  return {
    json: {
      formatVersion: "1.0",
      stage,
      targets: targets.map(({ key, nodes, edges }) => ({
        target: key,
        nodes: nodes.map((node) => ({ ...node })),
        edges: edges.map((edge) => ({ ...edge })),
      })),
    },
    text: [],
    documents: { mermaid: mermaid(graph), dot: dot(graph) },
  };
}

/** The graph in Graphviz' language. */
function dot({ stage, targets }: Graph): Markup {
  const quoted = (text: string): Markup => ['"', { text, escape: dotText }, '"'];
  return [
    "digraph ",
    ...quoted(stage),
    " {\n  rankdir=LR;\n  node [shape=box];\n",
    ...targets.flatMap(({ key, nodes }, at) => [
      `  subgraph cluster_${at} {\n    label=`,
      ...quoted(key),
      ";\n",
      ...nodes.flatMap((node) => ["    ", ...quoted(node.id), " [", ...dotAttributes(node), "];\n"]),
      "  }\n",
    ]),
    ...targets.flatMap(({ edges }) =>
      edges.flatMap(({ from, to, why }) => [
        "  ",
        ...quoted(from),
        " -> ",
        ...quoted(to),
        why === "prerequisite" ? ";\n" : " [style=dashed];\n",
      ]),
    ),
    "}\n",
  ];
}

const SHAPES: Readonly<Record<GraphNode["kind"], string>> = {
  testCase: "box",
  batchGeneration: "ellipse",
  environment: "cylinder",
  unmanaged: "box",
};

function dotAttributes({ kind, label, status, off }: GraphNode): Markup {
  const style = kind === "unmanaged" ? ", style=dashed" : off ? ', style=filled, fillcolor="#eeeeee"' : "";
  return [
    'label="',
    { text: label, escape: dotText },
    ...(status === undefined ? [] : ["\\n", { text: status, escape: dotText }]),
    `", shape=${SHAPES[kind]}${style}`,
  ];
}

/** Inside a quoted string, in which only quotes and backslashes mean something. */
export function dotText(text: string): string {
  return safeLine(text).replace(/["\\]/g, String.raw`\$&`);
}

/** The graph as Mermaid, which Markdown on GitHub and GitLab draws. */
function mermaid({ targets }: Graph): Markup {
  const ids = new Map(
    targets.flatMap(({ nodes }) => nodes).map(({ id }, at): [string, string] => [id, `n${at}`]),
  );
  const idOf = (id: string): string => ids.get(id) ?? "n";
  return [
    "flowchart LR\n",
    ...targets.flatMap(({ key, nodes }, at) => [
      `  subgraph t${at}["`,
      { text: key, escape: mermaidText },
      '"]\n',
      ...nodes.flatMap((node) => [`    ${idOf(node.id)}`, ...mermaidNode(node), "\n"]),
      "  end\n",
    ]),
    ...targets.flatMap(({ edges }) =>
      edges.map(
        ({ from, to, why }) => `  ${idOf(from)} ${why === "prerequisite" ? "-->" : "-.->"} ${idOf(to)}\n`,
      ),
    ),
    "  classDef off fill:#eee,stroke:#999,color:#666\n  classDef unmanaged stroke-dasharray:4\n",
  ];
}

/** Test cases are boxes, batch generations rounded, environments cylinders. */
const BRACKETS: Readonly<Record<GraphNode["kind"], readonly [string, string]>> = {
  testCase: ["[", "]"],
  unmanaged: ["[", "]"],
  batchGeneration: ["([", "])"],
  environment: ["[(", ")]"],
};

function mermaidNode({ kind, label, status, off }: GraphNode): Markup {
  const [open, close] = BRACKETS[kind];
  return [
    `${open}"`,
    { text: label, escape: mermaidText },
    ...(status === undefined ? [] : ["<br/>", { text: status, escape: mermaidText }]),
    `"${close}${kind === "unmanaged" ? ":::unmanaged" : off ? ":::off" : ""}`,
  ];
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
