import type { Json } from "../model/json.ts";
import { ALIAS_BUDGET, MAX_DEPTH } from "./bounds.ts";
import { isIntegerText } from "./core-schema.ts";
import type { Finding } from "./finding.ts";
import { setOwn } from "./own.ts";
import {
  duplicate,
  structuredKey,
  missingKey,
  mergeKey,
  unfitTag,
  notFinite,
  inexactInteger,
  unknownAlias,
  cyclicAlias,
  overBudget,
  tooDeep,
} from "./refusals.ts";
import { fitsTag } from "./tags.ts";
import type { AliasNode, ListNode, MapNode, Node, Pair, ScalarNode } from "./tree.ts";

/**
 * The value of a tree, as far as it has one, and what keeps it from being plain data. Aliased parts are
 * shared.
 */
export function evaluate(
  root: Node,
  lineOf: (offset: number) => number,
): { readonly value: Json; readonly findings: readonly Finding[] } {
  const evaluation = new Evaluation(lineOf);
  const value = evaluation.value(root, 0);
  return { value, findings: evaluation.findings };
}

/** An anchored value; undefined while it is still being evaluated, when an alias to it would be a cycle. */
type Anchored = { done: { readonly value: Json; readonly size: number } | undefined };

class Evaluation {
  readonly findings: Finding[] = [];
  readonly #lineOf: (offset: number) => number;
  readonly #anchors = new Map<string, Anchored>();
  /** How many characters the aliases so far stand for. */
  #aliased = 0;

  constructor(lineOf: (offset: number) => number) {
    this.#lineOf = lineOf;
  }

  value(node: Node, depth: number): Json {
    if (node.anchor === undefined) return this.#content(node, depth);
    // Kept apart from the name, which an anchor inside of this one may take over.
    const anchored: Anchored = { done: undefined };
    this.#anchors.set(node.anchor, anchored);
    const aliasedBefore = this.#aliased;
    const value = this.#content(node, depth);
    const size = Math.max(1, node.end - node.start) + this.#aliased - aliasedBefore;
    anchored.done = { value, size };
    return value;
  }

  #content(node: Node, depth: number): Json {
    if (node.tag !== undefined && !fitsTag(node, node.tag)) return this.#found(unfitTag(node, node.tag));
    if (node.kind === "scalar") return this.#scalar(node);
    if (node.kind === "alias") return this.#alias(node);
    if (depth >= MAX_DEPTH) return this.#found(tooDeep(node));
    return node.kind === "list" ? this.#list(node, depth) : this.#map(node, depth);
  }

  #found(finding: Finding): null {
    this.findings.push(finding);
    return null;
  }

  #scalar(node: ScalarNode): Json {
    const { value } = node;
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    if (typeof value !== "number" || !Number.isFinite(value)) return this.#found(notFinite(node));
    const inexact = isIntegerText(node.text) && !Number.isSafeInteger(value);
    return inexact ? this.#found(inexactInteger(node)) : value;
  }

  #list(node: ListNode, depth: number): Json {
    return node.items.map((item) => this.value(item.value, depth + 1));
  }

  #map(node: MapNode, depth: number): Json {
    const map: Record<string, Json> = {};
    const seen = new Map<string, number>();
    for (const pair of node.pairs) {
      const key = this.#key(pair);
      const value = this.value(pair.value, depth + 1);
      if (key === undefined) continue;
      const first = seen.get(key);
      if (first === undefined) seen.set(key, pair.key.start);
      else this.#found(duplicate(pair, key, this.#lineOf(first)));
      setOwn(map, key, value);
    }
    return map;
  }

  /** Undefined, and a finding, if the key is none. */
  #key({ key, colon, start }: Pair): string | undefined {
    if (key.kind !== "scalar") {
      this.#found(structuredKey(key));
      return undefined;
    }
    // Only for the anchor and the tag: an anchored key can be referred to, and a key is text whatever it
    // looks like.
    this.value({ ...key, value: key.text }, 0);
    if (key.style !== "plain") return key.text;
    if (key.text === "") this.#found(missingKey(colon ?? start));
    else if (key.text === "<<") this.#found(mergeKey(key));
    else return key.text;
    return undefined;
  }

  #alias(node: AliasNode): Json {
    const anchored = this.#anchors.get(node.name);
    if (anchored === undefined) return this.#found(unknownAlias(node));
    if (anchored.done === undefined) return this.#found(cyclicAlias(node));
    const before = this.#aliased;
    this.#aliased += anchored.done.size;
    if (before <= ALIAS_BUDGET && this.#aliased > ALIAS_BUDGET) this.#found(overBudget(node));
    return anchored.done.value;
  }
}
