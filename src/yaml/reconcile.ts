import { isArray, isObject, type Json, type JsonArray, type JsonObject } from "../model/json.ts";
import { itemLines, pairLines, type Site } from "./block-lines.ts";
import { Bindings } from "./bindings.ts";
import { changeBlock } from "./block-change.ts";
import { type EntryChange, entryOfItem, entryOfPair, type Inserted } from "./entry.ts";
import { changeFlow } from "./flow-change.ts";
import { flowPair, flowText } from "./flow-text.ts";
import { layoutOf } from "./layout.ts";
import { LineText } from "./line-text.ts";
import { diffLists, type ListStep } from "./list-diff.ts";
import { type Canvas, type Place, replaceValue } from "./replace.ts";
import { restyledKey } from "./restyle.ts";
import type { Splice } from "./splice.ts";
import type { ListNode, MapNode, Node, Pair, Tree } from "./tree.ts";
import { TreeIndex } from "./tree-index.ts";

/** A key that is to be renamed and not taken for one that goes and another that comes. */
export type Renaming = { readonly pair: Pair; readonly key: string };

/**
 * The replacements that make a text mean another value, touching as little of it as possible.
 *
 * The tree is walked in the order of the text, next to the value that it is to have. On the way it is known
 * what every anchor will stand for once the replacements are made. So an alias can stay exactly where it will
 * then mean what is wanted; else it is written out. When an anchored value changes, the first alias that
 * wants the old one takes the anchor's name over, and the others follow it: what they stand for neither
 * changes nor is multiplied. Rejected: to refuse such edits, since whoever shares a list of tags between test
 * cases would then never see one pulled; and to inline every alias, which hides the one change among many.
 */
export function reconcile(tree: Tree, target: Json, renaming?: Renaming): Splice[] {
  return new Reconciliation(tree, renaming).splices(target);
}

class Reconciliation {
  readonly #tree: Tree;
  readonly #index: TreeIndex;
  readonly #canvas: Canvas;
  readonly #renaming: Renaming | undefined;
  readonly #bindings: Bindings;
  readonly #splices: Splice[] = [];

  constructor(tree: Tree, renaming: Renaming | undefined) {
    const source = new LineText(tree.text);
    this.#tree = tree;
    this.#index = new TreeIndex(tree.root);
    this.#canvas = { source, layout: layoutOf(tree.root, source) };
    this.#renaming = renaming;
    this.#bindings = new Bindings(tree.root, this.#index);
  }

  splices(target: Json): Splice[] {
    this.#value(this.#tree.root, target, { kind: "root", flow: false, column: 0, head: 0, lead: " " });
    const { text } = this.#canvas.source;
    return [...this.#splices, ...this.#bindings.unused().map((node) => withoutAnchor(text, node))];
  }

  #value(node: Node, target: Json, place: Place): void {
    if (node.kind === "alias") {
      const keeps = this.#bindings.rely(node, target);
      if (!keeps) this.#replace(node, target, place, this.#bindings.takeOver(node, target));
      return;
    }
    this.#bindings.bind(node, target);
    if (node.kind === "map" && isObject(target)) this.#map(node, target, place);
    else if (node.kind === "list" && isArray(target)) this.#list(node, target, place);
    else if (node.kind !== "scalar" || !Object.is(node.value, target)) this.#replace(node, target, place);
  }

  #replace(node: Node, target: Json, place: Place, rebound?: string): void {
    this.#splices.push(...replaceValue(this.#canvas, node, place, target, rebound));
  }

  #map(node: MapNode, target: JsonObject, place: Place): void {
    const keys = node.pairs.map((pair) => this.#keyOf(pair));
    const deleted = indicesOf(keys, (key) => !Object.hasOwn(target, key));
    const present = new Set(keys);
    const added = Object.keys(target).filter((key) => !present.has(key));
    if (!this.#canBeChanged(node, node.pairs.length - deleted.size, deleted.size + added.length)) {
      this.#replace(node, target, place);
      return;
    }
    for (const [at, pair] of node.pairs.entries()) {
      const value = target[keys[at] ?? ""];
      if (!deleted.has(at) && value !== undefined) this.#pair(pair, keys[at] ?? "", value, node.flow);
    }
    const site = this.#siteIn(node.pairs[0]?.start ?? 0);
    const inserted = added.map((key) => pairToInsert(key, target[key] ?? null, site, node.flow));
    const after = node.pairs.length - 1;
    this.#change(node, {
      entries: node.pairs.map(entryOfPair),
      deleted,
      inserted: inserted.map((content) => ({ after: lastKept(after, deleted), content })),
    });
  }

  #keyOf(pair: Pair): string {
    if (this.#renaming?.pair === pair) return this.#renaming.key;
    return pair.key.kind === "scalar" ? pair.key.text : "";
  }

  #pair(pair: Pair, key: string, target: Json, flow: boolean): void {
    this.#bindings.bind(pair.key, key);
    if (this.#renaming?.pair === pair && pair.key.kind === "scalar") {
      const text = restyledKey(key, pair.key, flow ? "flow" : "block");
      this.#splices.push({ start: pair.key.start, end: pair.key.end, text });
    }
    const head = pair.colon === undefined ? pair.key.end : pair.colon + 1;
    const column = this.#canvas.source.column(pair.start);
    this.#value(pair.value, target, {
      kind: "pair",
      flow,
      column,
      head,
      lead: pair.colon === undefined ? ": " : " ",
    });
  }

  #list(node: ListNode, target: JsonArray, place: Place): void {
    const steps = diffLists(
      node.items.map(({ value }) => this.#index.plain(value)),
      target,
    );
    const deleted = new Set(steps.flatMap((step) => (step.kind === "delete" ? [step.from] : [])));
    const changes = steps.filter(({ kind }) => kind === "delete" || kind === "insert").length;
    if (!this.#canBeChanged(node, node.items.length - deleted.size, changes)) {
      this.#replace(node, target, place);
      return;
    }
    for (const step of steps)
      if (step.kind === "keep" || step.kind === "replace")
        this.#item(node, step.from, target[step.to] ?? null);
    const site = this.#siteIn(node.items[0]?.start ?? 0);
    const entries = node.items.map((item) => entryOfItem(item, node.flow));
    this.#change(node, { entries, deleted, inserted: itemsToInsert(steps, target, site, node.flow) });
  }

  #item(list: ListNode, at: number, target: Json): void {
    const item = list.items[at];
    if (item === undefined) return;
    const column = this.#canvas.source.column(item.start);
    this.#value(item.value, target, {
      kind: "item",
      flow: list.flow,
      column,
      head: item.start + 1,
      lead: " ",
    });
  }

  /** Not if nothing would stay, nor for `[a: b]`, a map without braces that has no room for a second key. */
  #canBeChanged(node: MapNode | ListNode, staying: number, changes: number): boolean {
    if (changes === 0) return true;
    return staying > 0 && !(node.flow && !/[[{]/.test(this.#canvas.source.text.charAt(node.start)));
  }

  #change(node: MapNode | ListNode, change: EntryChange): void {
    const { source } = this.#canvas;
    if (change.deleted.size === 0 && change.inserted.length === 0) return;
    this.#splices.push(...(node.flow ? changeFlow(source, node.end, change) : changeBlock(source, change)));
  }

  #siteIn(entry: number): Site {
    const { source, layout } = this.#canvas;
    return { indent: source.column(entry), layout, path: [], commentAt: () => undefined };
  }
}

function withoutAnchor(text: string, { from, anchor = "" }: Node): Splice {
  const start = text.indexOf(`&${anchor}`, from);
  const end = start + anchor.length + 1;
  const isSpaced = text[start - 1] === " ";
  return { start: isSpaced ? start - 1 : start, end: isSpaced ? end : end + 1, text: "" };
}

function indicesOf<T>(values: readonly T[], test: (value: T) => boolean): Set<number> {
  return new Set(values.flatMap((value, at) => (test(value) ? [at] : [])));
}

function lastKept(last: number, deleted: ReadonlySet<number>): number {
  let at = last;
  while (deleted.has(at)) at--;
  return at;
}

function pairToInsert(key: string, value: Json, site: Site, flow: boolean): Inserted {
  return flow ? { lines: [], flow: flowPair(key, value) } : { lines: pairLines(key, value, site), flow: "" };
}

function itemsToInsert(
  steps: readonly ListStep[],
  target: JsonArray,
  site: Site,
  flow: boolean,
): EntryChange["inserted"] {
  let after = -1;
  return steps.flatMap((step) => {
    if (step.kind === "insert") {
      const value = target[step.to] ?? null;
      const content = flow
        ? { lines: [], flow: flowText(value) }
        : { lines: itemLines(value, site), flow: "" };
      return [{ after, content }];
    }
    if (step.kind !== "delete") after = step.from;
    return [];
  });
}
