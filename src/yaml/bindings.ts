import { type Json, sameJson } from "../model/json.ts";
import type { TreeIndex } from "./tree-index.ts";
import { type AliasNode, type Node, nodesOf } from "./tree.ts";

/** What a name stands for from some point of the new text on, and how many aliases rely on that. */
type Binding = { readonly value: Json; readonly anchored: Node | undefined; aliases: number };

/**
 * What every anchor of a text will stand for once the text is changed, as far as it has been walked through:
 * nodes are to be told of in its order.
 */
export class Bindings {
  readonly #index: TreeIndex;
  /** The aliases of every node that has some, in the order of the text. */
  readonly #aliases: ReadonlyMap<Node, readonly AliasNode[]>;
  readonly #current = new Map<string, Binding>();
  readonly #anchored: Binding[] = [];

  constructor(root: Node, index: TreeIndex) {
    this.#index = index;
    this.#aliases = aliasesIn(root, index);
  }

  /** A node that stays, with the value that it will have. */
  bind(node: Node, value: Json): void {
    if (node.anchor === undefined) return;
    const binding = { value, anchored: node, aliases: 0 };
    this.#current.set(node.anchor, binding);
    this.#anchored.push(binding);
  }

  /** Whether an alias will stand for this value; then it stays. */
  rely({ name }: AliasNode, value: Json): boolean {
    const binding = this.#current.get(name);
    if (binding === undefined || !sameJson(binding.value, value)) return false;
    binding.aliases++;
    return true;
  }

  /**
   * The name for a value that is written in the place of an alias, if other aliases may follow it: those
   * further down, where the old value is kept. Where a new one is wanted, they do not want that.
   */
  takeOver(alias: AliasNode, value: Json): string | undefined {
    const original = this.#index.target(alias);
    const isLast = original === undefined || this.#aliases.get(original)?.at(-1) === alias;
    if (isLast || !sameJson(this.#index.plain(alias), value)) return undefined;
    this.#current.set(alias.name, { value, anchored: undefined, aliases: 0 });
    return alias.name;
  }

  /** Nodes that had aliases and have none any more. */
  unused(): Node[] {
    return this.#anchored.flatMap(({ anchored: node, aliases }) => {
      if (node === undefined || aliases > 0 || !this.#aliases.has(node)) return [];
      // With its tag, which is no longer right, the anchor has been written anew.
      return node.tag === undefined ? [node] : [];
    });
  }
}

function aliasesIn(root: Node, index: TreeIndex): ReadonlyMap<Node, readonly AliasNode[]> {
  const aliases = new Map<Node, AliasNode[]>();
  for (const node of nodesOf(root)) {
    const target = node.kind === "alias" ? index.target(node) : undefined;
    if (node.kind !== "alias" || target === undefined) continue;
    const known = aliases.get(target);
    if (known === undefined) aliases.set(target, [node]);
    else known.push(node);
  }
  return aliases;
}
