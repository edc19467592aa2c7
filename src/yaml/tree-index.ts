import type { Json, Path } from "../model/json.ts";
import { setOwn } from "./own.ts";
import { type MapNode, type Node, nodesOf, type Pair } from "./tree.ts";

/**
 * One step down a tree: the root, a pair of a map, or an item of a list; `start` is that of the key or the
 * dash.
 */
export type Step = { readonly key: Node | undefined; readonly value: Node; readonly start: number };

/** Finds nodes by path. Maps and anchors are hashed when they are first asked for. */
export class TreeIndex {
  readonly #root: Node;
  readonly #pairs = new WeakMap<MapNode, ReadonlyMap<string, Pair>>();
  readonly #plain = new WeakMap<Node, Json>();
  #anchors: ReadonlyMap<string, readonly Node[]> | undefined;

  constructor(root: Node) {
    this.#root = root;
  }

  /**
   * The steps from the root along a path, for as far as the tree has it: the root itself comes first, so a
   * path that exists to its end has one step more than segments. Aliases on the way are followed; the last
   * value may be one.
   */
  steps(path: Path): Step[] {
    const steps: Step[] = [{ key: undefined, value: this.#root, start: this.#root.start }];
    let at: Node | undefined = this.#root;
    for (const segment of path) {
      const step: Step | undefined = at === undefined ? undefined : this.#step(this.target(at), segment);
      if (step === undefined) break;
      steps.push(step);
      at = step.value;
    }
    return steps;
  }

  #step(node: Node | undefined, segment: string | number): Step | undefined {
    if (node?.kind === "map") {
      const pair = this.pair(node, String(segment));
      return pair && { key: pair.key, value: pair.value, start: pair.key.start };
    }
    if (node?.kind !== "list" || typeof segment !== "number") return undefined;
    const item = node.items[segment];
    return item && { key: undefined, ...item };
  }

  /** The pair with this key; of several, which is an error, the last. */
  pair(map: MapNode, key: string): Pair | undefined {
    let pairs = this.#pairs.get(map);
    if (pairs === undefined) {
      pairs = new Map(
        map.pairs.flatMap((pair) => (pair.key.kind === "scalar" ? [[pair.key.text, pair]] : [])),
      );
      this.#pairs.set(map, pairs);
    }
    return pairs.get(key);
  }

  /** What a node stands for, in a tree without problems. */
  plain(node: Node): Json {
    const known = this.#plain.get(node);
    if (known !== undefined) return known;
    const value = this.#plainOf(node);
    this.#plain.set(node, value);
    return value;
  }

  #plainOf(node: Node): Json {
    if (node.kind === "scalar") return isScalarValue(node.value) ? node.value : null;
    if (node.kind === "list") return node.items.map((item) => this.plain(item.value));
    if (node.kind === "alias") {
      const target = this.target(node);
      return target === undefined ? null : this.plain(target);
    }
    const map: Record<string, Json> = {};
    for (const { key, value } of node.pairs)
      if (key.kind === "scalar") setOwn(map, key.text, this.plain(value));
    return map;
  }

  /**
   * What an alias refers to, or undefined if there is no such anchor; any other node is its own target.
   * The same name may be given again: an alias means the last anchor of that name before it.
   */
  target(node: Node): Node | undefined {
    if (node.kind !== "alias") return node;
    this.#anchors ??= anchorsIn(this.#root);
    return this.#anchors.get(node.name)?.findLast((anchored) => anchored.start < node.start);
  }
}

function isScalarValue(value: unknown): value is string | number | boolean | null {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

/** The nodes that bear each anchor, in the order of the text. */
function anchorsIn(root: Node): ReadonlyMap<string, readonly Node[]> {
  const anchors = new Map<string, Node[]>();
  for (const node of nodesOf(root)) {
    if (node.anchor === undefined) continue;
    const bearers = anchors.get(node.anchor);
    if (bearers === undefined) anchors.set(node.anchor, [node]);
    else bearers.push(node);
  }
  return anchors;
}
