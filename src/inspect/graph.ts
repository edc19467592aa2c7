import { type Kind, addressOf } from "../model/address.ts";
import type { DesiredResource, DesiredTarget } from "../model/desired.ts";
import { type Json, isObject } from "../model/json.ts";
import { type Value, isSensitive, isUnknown, reveal } from "../model/value.ts";
import { safeLine } from "../render/escape.ts";
import { type Markup, type View, markup } from "../render/view.ts";

/**
 * The order in which resources run, as the manifests declare it. Nodes and edges are sorted by
 * address.
 */
type Graph = ReturnType<typeof graphOf>;

type GraphNode = {
  /** The address; for a test case that is not managed, a name that no address can have. */
  readonly id: string;
  readonly kind: Exclude<Kind, "target"> | "unmanaged";
  readonly label: string;
  /** As declared: `DISABLED`, `ENABLED, ON`; `undefined` if none is declared. */
  readonly status: string | undefined;
  readonly off: boolean;
};

type Edge = {
  readonly from: string;
  readonly to: string;
  readonly why: "prerequisite" | "environment";
};

export function graphOf(stage: string, targets: readonly DesiredTarget[]) {
  return { stage, targets: targets.map(targetGraph) };
}

function targetGraph({ key, environments, testCases, batchGenerations }: DesiredTarget) {
  const edges: Edge[] = [];
  // A test case that no manifest declares is identified only by its name.
  const unmanaged = new Map<string, GraphNode>();
  const idOf = (label: string): string => {
    const id = unmanaged.get(label)?.id ?? `unmanaged.${key}.${unmanaged.size + 1}`;
    unmanaged.set(label, { id, kind: "unmanaged", label, status: "not managed", off: false });
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
  // An environment is only shown if something runs in it.
  const used = environments.filter(({ address }) => named.has(address));
  const declared = [...used, ...testCases, ...batchGenerations].map(nodeOf);
  return { target: key, nodes: [...declared, ...unmanaged.values()], edges };
}

function nodeOf({
  kind,
  address,
  key,
  fields,
}: DesiredResource<Exclude<Kind, "target">>): GraphNode {
  const states = [fields["status"], fields["runStatus"]]
    .map(plain)
    .filter((one) => typeof one === "string");
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
  return {
    json: { formatVersion: "1.0", ...graph },
    text: [],
    documents: { mermaid: mermaid(graph), dot: dot(graph) },
  };
}

/** How a language draws nodes and edges; their order is the same in all languages. */
interface Language {
  readonly group: (key: string, at: number) => Markup;
  readonly node: (node: GraphNode) => Markup;
  readonly groupEnd: string;
  readonly edge: (edge: Edge) => Markup;
}

function draw({ targets }: Graph, { group, node, groupEnd, edge }: Language): Markup {
  return [
    ...targets.flatMap(({ target, nodes }, at) => [
      ...group(target, at),
      ...nodes.flatMap(node),
      groupEnd,
    ]),
    ...targets.flatMap(({ edges }) => edges.flatMap(edge)),
  ];
}

const SHAPES = {
  testCase: { dot: "box", mermaid: ["[", "]"] },
  batchGeneration: { dot: "ellipse", mermaid: ["([", "])"] },
  environment: { dot: "cylinder", mermaid: ["[(", ")]"] },
  unmanaged: { dot: "box", mermaid: ["[", "]"] },
} as const satisfies Record<GraphNode["kind"], unknown>;

function dot(graph: Graph): Markup {
  const write = markup(dotText);
  const body = draw(graph, {
    group: (key, at) => write`  subgraph cluster_${at} {\n    label="${key}";\n`,
    node: ({ id, kind, label, status, off }) => {
      const look =
        kind === "unmanaged" ? ", style=dashed" : off ? ', style=filled, fillcolor="#eeeeee"' : "";
      const below = status === undefined ? [] : write`\\n${status}`;
      return write`    "${id}" [label="${label}${below}", shape=${[SHAPES[kind].dot + look]}];\n`;
    },
    groupEnd: "  }\n",
    edge: ({ from, to, why }) =>
      write`  "${from}" -> "${to}"${[why === "prerequisite" ? "" : " [style=dashed]"]};\n`,
  });
  return write`digraph "${graph.stage}" {\n  rankdir=LR;\n  node [shape=box];\n${body}}\n`;
}

/** Escapes a text for a quoted string, in which only quotes and backslashes have a meaning. */
export function dotText(text: string): string {
  return safeLine(text).replace(/["\\]/g, String.raw`\$&`);
}

/** Draws a graph in Mermaid, which GitHub and GitLab show in Markdown. */
function mermaid(graph: Graph): Markup {
  const write = markup(mermaidText);
  const nodes = graph.targets.flatMap((target) => target.nodes);
  const ids = new Map(nodes.map(({ id }, at) => [id, `n${at}`]));
  const idOf = (id: string): Markup => [ids.get(id) ?? "n"];
  const body = draw(graph, {
    group: (key, at) => write`  subgraph t${at}["${key}"]\n`,
    node: ({ id, kind, label, status, off }) => {
      const [open, close] = SHAPES[kind].mermaid;
      const below = status === undefined ? [] : write`<br/>${status}`;
      const look = kind === "unmanaged" ? ":::unmanaged" : off ? ":::off" : "";
      return write`    ${idOf(id)}${[open]}"${label}${below}"${[close + look]}\n`;
    },
    groupEnd: "  end\n",
    edge: ({ from, to, why }) =>
      write`  ${idOf(from)} ${[why === "prerequisite" ? "-->" : "-.->"]} ${idOf(to)}\n`,
  });
  const classes =
    "  classDef off fill:#eee,stroke:#999,color:#666\n  classDef unmanaged stroke-dasharray:4\n";
  return ["flowchart LR\n", ...body, classes];
}

/**
 * Escapes a name for a quoted label, where Mermaid interprets quotes, tags, Markdown, directives
 * and its own entities.
 */
export function mermaidText(text: string): string {
  return safeLine(text)
    .replace(/[!-+/:-@[-^`{-~]/g, entity)
    .replace(/^(?:\d+(?=\.))?[-.]/, (start) => start.slice(0, -1) + entity(start.slice(-1)));
}

function entity(sign: string): string {
  return `#${sign.charCodeAt(0)};`;
}
