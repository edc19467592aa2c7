import { addressOf } from "../model/address.ts";
import type { Address, Kind } from "../model/address.ts";
import type { DesiredResource, DesiredTarget } from "../model/desired.ts";
import { isObject } from "../model/json.ts";
import type { Json } from "../model/json.ts";
import { isSensitive, isUnknown, reveal } from "../model/value.ts";
import type { Redactor } from "../output/redact.ts";
import type { Value } from "../model/value.ts";

/** What runs before what, as the manifests declare it. Nodes and edges are in the order of addresses. */
export interface Graph {
  readonly stage: string;
  readonly targets: readonly TargetGraph[];
}

export interface TargetGraph {
  readonly key: string;
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
}

export interface Node {
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
