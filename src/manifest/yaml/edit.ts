import { diffArrays } from "diff";
import {
  type Json,
  type JsonArray,
  type JsonObject,
  type Path,
  isArray,
  isObject,
  sameJson,
} from "../../model/json.ts";
import { parseTree } from "./parse.ts";
import { readSlow } from "./read-slow.ts";
import { readFast } from "./fast.ts";
import {
  type CollectionStyle,
  canBeBlock,
  canBePlain,
  canBeSingleQuoted,
  doubleQuoted,
  flowPair,
  flowText,
  foldedLines,
  isPlainText,
  literalOf,
  scalarText,
  singleQuoted,
} from "./scalar-text.ts";
import {
  Bindings,
  type ListEntry,
  type EntryChange,
  type Inserted,
  type ListNode,
  MAX_KEY_LENGTH,
  type MapNode,
  type Node,
  type Pair,
  type ScalarNode,
  type Splice,
  type Tree,
  TreeIndex,
  entryOfItem,
  entryOfPair,
  inDocument,
  nodesOf,
  setOwn,
  spliced,
  splitDocuments,
} from "./tree.ts";

export type Edited =
  | {
      readonly ok: true;
      readonly text: string;
      /** The replacements that made it of the old text, in its order. */
      readonly splices: readonly Splice[];
    }
  | { readonly ok: false; readonly reason: string };

export type EditOptions = {
  /**
   * Whether a map or list that a deletion leaves empty goes as well, and so on upwards. Else `{}` or `[]`
   * stays.
   */
  readonly prune?: boolean;
};

const BOM = "\ufeff";

/**
 * Makes edits in a YAML text and leaves the rest of it as it is, to the byte: comments, order, quotes,
 * blocks, line ends, the last line with or without its end, a byte order mark.
 *
 * In a file of several documents a number at the start of a path chooses one; without it, the first is meant.
 *
 * Each edit refers to what those before it left. `set` makes missing maps on its way and may append to a
 * list; a map or list that is set onto another one changes only where the two differ. `delete` of what is not
 * there does nothing. What aliases elsewhere stand for does not change, see `reconcile`. The result is read
 * again, and refused unless it means exactly what the edits say.
 *
 * Loads `yaml`: import this module lazily.
 *
 * @returns the new text, or why there is none; then nothing is to be written.
 */
export function editYaml(text: string, edits: readonly YamlEdit[], options: EditOptions = {}): Edited {
  const bom = text.startsWith(BOM) ? BOM.length : 0;
  try {
    const splices = splicesOf(text.slice(bom), edits, options.prune ?? false);
    const moved = splices.map(({ start, end, ...rest }) => ({ start: start + bom, end: end + bom, ...rest }));
    return { ok: true, text: spliced(text, moved), splices: moved };
  } catch (error) {
    if (error instanceof EditRefusal) return { ok: false, reason: error.message };
    throw error;
  }
}

/** Each document is edited by itself; the text between them, and those that no edit is of, stay. */
function splicesOf(text: string, edits: readonly YamlEdit[], prune: boolean): readonly Splice[] {
  const documents = splitDocuments(text);
  const own = documents.map((): YamlEdit[] => []);
  for (const edit of edits) {
    const { number, inner } = inDocument(documents, edit.path);
    const list = own[number];
    if (list === undefined) throw new EditRefusal(`there is no document ${number + 1} in the file`);
    list.push({ ...edit, path: inner });
  }
  return documents.flatMap(({ start, end }, at) => {
    const list = own[at] ?? [];
    if (list.length === 0) return [];
    const splices = documentSplices(text.slice(start, end), list, prune);
    return splices.map((one) => ({ ...one, start: one.start + start, end: one.end + start }));
  });
}

function documentSplices(text: string, edits: readonly YamlEdit[], prune: boolean): readonly Splice[] {
  const value = editValue(read(text), edits, prune);
  const splices = inOrder(text, reconcile(parseTree(text), value));
  if (splices === undefined || !means(spliced(text, splices), value))
    throw new EditRefusal("this cannot be changed without changing more than that; edit the file by hand");
  return splices;
}

function read(text: string): Json {
  const value = readFast(text);
  if (value !== undefined) return value;
  const reading = readSlow(text);
  if (reading.ok) return reading.value;
  const [problem] = reading.problems;
  throw new EditRefusal(`line ${problem?.line ?? 1}: ${problem?.message ?? "the text cannot be read"}`);
}

function means(text: string, value: Json): boolean {
  const fast = readFast(text);
  if (fast !== undefined) return sameJson(fast, value);
  const reading = readSlow(text);
  return reading.ok && sameJson(reading.value, value);
}

/** The replacements in the order of the text, or nothing if two of them overlap; the last line ends as it did. */
function inOrder(text: string, splices: readonly Splice[]): readonly Splice[] | undefined {
  const sorted = splices.toSorted((a, b) => a.start - b.start || a.end - b.end);
  if (sorted.some(({ end }, at) => end > (sorted[at + 1]?.start ?? text.length))) return undefined;
  const after = spliced(text, sorted);
  const wasEnded = text.endsWith("\n");
  if (sorted.length === 0 || wasEnded === after.endsWith("\n")) return sorted;
  const end = text.length;
  if (wasEnded) return [...sorted, { start: end, end, text: text.endsWith("\r\n") ? "\r\n" : "\n" }];
  // Lines that go at the end take the line end before them along.
  const rest = after.replace(/(?:\r?\n)+$/, "");
  let moved = 0;
  for (const [at, { start, end: oldEnd, text: own }] of sorted.entries()) {
    const begin = start + moved;
    if (begin + own.length > rest.length) {
      const back = Math.max(0, begin - rest.length);
      return [...sorted.slice(0, at), { start: start - back, end, text: rest.slice(begin - back) }];
    }
    moved += own.length - (oldEnd - start);
  }
  return sorted;
}

export type YamlEdit =
  | { readonly kind: "set"; readonly path: Path; readonly value: Json }
  | { readonly kind: "delete"; readonly path: Path };

/** An edit that cannot be made; its message is for the person at the terminal. */
export class EditRefusal extends Error {}

/**
 * What edits mean for a value, whatever its text looks like; each refers to what those before it left.
 * The value is copied once and not for each edit: an import or a pull may make thousands in one large map.
 *
 * @param prune whether a map or a list that a deletion leaves empty goes as well, and so on upwards; never
 * the root.
 * @throws EditRefusal
 */
export function editValue(value: Json, edits: readonly YamlEdit[], prune: boolean): Json {
  // The root is made an item of a list, so that setting it is not a special case.
  const holder: JsonDraft[] = [draftOf(value)];
  for (const edit of edits) apply(holder, edit, prune);
  return holder[0] ?? null;
}

type JsonDraft = null | boolean | number | string | JsonDraft[] | DraftMap;
type DraftMap = { [key: string]: JsonDraft };
type PathStep = string | number;

/** Aliased parts, which values share, become separate here. */
function draftOf(value: Json): JsonDraft {
  if (isArray(value)) return value.map(draftOf);
  if (!isObject(value)) return value;
  const map: DraftMap = {};
  for (const key of Object.keys(value)) setOwn(map, key, draftOf(value[key] ?? null));
  return map;
}

function apply(holder: JsonDraft[], edit: YamlEdit, prune: boolean): void {
  if (edit.kind === "set") set(holder, [0, ...edit.path], edit.value);
  else if (edit.path.length === 0) throw new EditRefusal("the whole document cannot be deleted");
  else remove(holder, [0, ...edit.path], prune);
}

/** What is missing on the way, or null, becomes a map. */
function set(holder: JsonDraft[], path: Path, value: Json): void {
  const last = path.at(-1) ?? 0;
  let container: JsonDraft = holder;
  for (const step of path.slice(0, -1)) {
    const inner: JsonDraft = stepInto(container, step) ?? {};
    put(container, step, inner);
    container = inner;
  }
  put(container, last, draftOf(value));
}

function put(container: JsonDraft, step: PathStep, value: JsonDraft): void {
  if (isList(container) && typeof step === "number" && step <= container.length) container[step] = value;
  else if (isMap(container)) setOwn(container, String(step), value);
  else throw new EditRefusal(`\`${step}\` cannot be set: what it would be part of is not a map`);
}

function remove(holder: JsonDraft[], path: Path, prune: boolean): void {
  const last = path.at(-1) ?? 0;
  const container = at(holder, path.slice(0, -1));
  if (container === undefined || stepInto(container, last) === undefined) return;
  if (isList(container) && typeof last === "number") container.splice(last, 1);
  else if (isMap(container)) delete container[last];
  const isLeftEmpty =
    typeof container === "object" && container !== null && Object.keys(container).length === 0;
  if (prune && isLeftEmpty && path.length > 2) remove(holder, path.slice(0, -1), prune);
}

function at(holder: JsonDraft[], path: Path): JsonDraft | undefined {
  let inner: JsonDraft | undefined = holder;
  for (const step of path) inner = inner === undefined ? undefined : stepInto(inner, step);
  return inner;
}

function stepInto(container: JsonDraft, step: PathStep): JsonDraft | undefined {
  if (isList(container)) return typeof step === "number" ? container[step] : undefined;
  return isMap(container) && Object.hasOwn(container, step) ? container[step] : undefined;
}

function isList(draft: JsonDraft): draft is JsonDraft[] {
  return Array.isArray(draft);
}

function isMap(draft: JsonDraft): draft is DraftMap {
  return typeof draft === "object" && draft !== null && !Array.isArray(draft);
}

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
function reconcile(tree: Tree, target: Json): Splice[] {
  return new Reconciliation(tree).splices(target);
}

class Reconciliation {
  readonly #tree: Tree;
  readonly #index: TreeIndex;
  readonly #canvas: Canvas;
  readonly #bindings: Bindings;
  readonly #splices: Splice[] = [];

  constructor(tree: Tree) {
    const source = new LineText(tree.text);
    this.#tree = tree;
    this.#index = new TreeIndex(tree.root);
    this.#canvas = { source, layout: layoutOf(tree.root, source) };
    this.#bindings = new Bindings(tree.root, this.#index);
  }

  splices(target: Json): Splice[] {
    this.#value(this.#tree.root, target, { kind: "root", flow: false, column: 0, head: 0, lead: " " });
    const { text } = this.#canvas.source;
    return [...this.#splices, ...this.#bindings.unused().map((node) => withoutAnchor(text, node))];
  }

  #value(node: Node, target: Json, place: EditPlace): void {
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

  #replace(node: Node, target: Json, place: EditPlace, rebound?: string): void {
    this.#splices.push(...replaceValue(this.#canvas, node, place, target, rebound));
  }

  #map(node: MapNode, target: JsonObject, place: EditPlace): void {
    const keys = node.pairs.map((pair) => (pair.key.kind === "scalar" ? pair.key.text : ""));
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

  #pair(pair: Pair, key: string, target: Json, flow: boolean): void {
    this.#bindings.bind(pair.key, key);
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

  #list(node: ListNode, target: JsonArray, place: EditPlace): void {
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

/** Where a value stands in its document. */
type EditPlace = {
  readonly kind: "root" | "pair" | "item";
  /** Inside of braces or brackets. */
  readonly flow: boolean;
  /** The column of the key or the dash, from 0. */
  readonly column: number;
  /** Past the colon or the dash: where a value is written that was not there. */
  readonly head: number;
  /** What must stand between: a space, or for a key without a colon also that. */
  readonly lead: " " | ": ";
};

/** The text that is edited, and how it indents. */
type Canvas = { readonly source: LineText; readonly layout: Layout };

/**
 * Writes a value whole in the place of another one: in flow style inside of braces and brackets, else in
 * block style. Comments beside and around the old value stay.
 *
 * @param rebound an anchor for the new value, where the old one is an alias of that name.
 */
function replaceValue(canvas: Canvas, node: Node, place: EditPlace, value: Json, rebound?: string): Splice[] {
  const old = extentOf(canvas.source, node, place, rebound);
  if (place.flow) return [{ start: old.start, end: old.end, text: old.lead + restyledFlow(value, node) }];
  return isFilled(value) ? writeLines(canvas, old, value) : writeInline(canvas, old, value);
}

/** What is taken out of the text for a new value, and what has to come before that. */
type Extent = {
  readonly node: Node;
  readonly place: EditPlace;
  readonly start: number;
  readonly end: number;
  /** A space for a value where none was, an anchor for one that was an alias. */
  readonly lead: string;
  /** Past the colon, the dash, or the anchor of the value. */
  readonly head: number;
  /** The anchor that is to be written before the value, with the space before it. */
  readonly anchor: string;
  /** Whether an anchor, written or there, stands before the value. */
  readonly isAnchored: boolean;
};

function extentOf(source: LineText, node: Node, place: EditPlace, rebound: string | undefined): Extent {
  const isEmpty = node.kind === "scalar" && node.start === node.end;
  if (isEmpty && node.tag !== undefined) throw new EditRefusal("a tag without a value cannot be edited");
  // A tag would be wrong for another value, and goes; an anchor beside it is written again.
  const name = rebound ?? (node.tag === undefined ? undefined : node.anchor);
  const head =
    node.anchor === undefined || name !== undefined ? place.head : anchorEnd(source, node, node.anchor);
  const start = node.tag === undefined ? node.start : node.from;
  const spaced = isEmpty ? (node.anchor === undefined ? place.lead : " ") : "";
  return {
    node,
    place,
    start: isEmpty ? head : start,
    end: isEmpty ? head : node.end,
    lead: name === undefined ? spaced : `${spaced}&${name} `,
    head,
    anchor: name === undefined ? "" : ` &${name}`,
    isAnchored: name !== undefined || node.anchor !== undefined,
  };
}

function anchorEnd(source: LineText, node: Node, name: string): number {
  return source.text.indexOf(`&${name}`, node.from) + name.length + 1;
}

/** A map or list whose lines begin below its key or dash. */
function isBelow({ node, place }: Extent, source: LineText): boolean {
  const isBlock = (node.kind === "map" || node.kind === "list") && !node.flow;
  return isBlock && place.kind !== "root" && source.isFirstOnLine(node.start);
}

/** A value that begins behind its colon or dash. */
function writeInline({ source, layout }: Canvas, old: Extent, value: Json): Splice[] {
  const indent = old.place.kind === "item" ? old.place.column + 2 : old.place.column + layout.step;
  const [first, ...rest] = restyled(value, old.node, source.text, indent);
  if (!isBelow(old, source)) return source.replace(old.start, old.end, old.lead + first, rest);
  const written = { start: old.head, end: old.head, text: `${old.anchor} ${first}` };
  // Comments above the old lines stay, unless they would become part of a text.
  const from = rest.length === 0 ? source.lineStart(old.node.start) : source.afterLine(old.head);
  const text = rest.map((line) => line + source.eol).join("");
  return [written, { start: from, end: source.afterLine(old.node.end), text }];
}

/** A value that needs lines of its own. */
function writeLines({ source, layout }: Canvas, old: Extent, value: Json): Splice[] {
  const { node, place } = old;
  const isBehindDash = place.kind !== "pair" && !old.isAnchored && !isBelow(old, source);
  const isNew = old.start === old.end;
  const indent = isNew || !isBehindDash ? place.column + 2 : source.column(old.start);
  const site: Site = { indent: place.column, layout, path: [], commentAt: () => undefined };
  const lines = blockLines(value, place.kind === "pair" ? underKey(value, site) : { ...site, indent });
  if (isBelow(old, source)) return [rewrittenLines(source, node, lines)];
  const [first = "", ...rest] = lines;
  if (isBehindDash)
    return source.replace(
      old.start,
      old.end,
      old.lead + breakAfterMarker(source, old) + first.slice(indent),
      rest,
    );
  const isOnOwnLine = source.lineStart(node.from) > old.head && !isNew;
  if (isOnOwnLine) return source.replace(source.lineStart(node.from), node.end, first, rest);
  return source.replace(old.head, old.end, old.anchor, lines);
}

function rewrittenLines(source: LineText, node: Node, lines: readonly string[]): Splice {
  const end = source.afterLine(node.end);
  const isEnded = source.isAfterLine(end);
  return {
    start: source.lineStart(node.start),
    end,
    text: lines.join(source.eol) + (isEnded ? source.eol : ""),
  };
}

/** A map cannot begin on the line of a `---`. */
function breakAfterMarker(source: LineText, { place, start }: Extent): string {
  return place.kind === "root" && !source.isFirstOnLine(start) ? source.eol : "";
}

/** How one list becomes another, in the order of both. */
type ListStep =
  | { readonly kind: "keep"; readonly from: number; readonly to: number }
  | { readonly kind: "replace"; readonly from: number; readonly to: number }
  | { readonly kind: "delete"; readonly from: number }
  | { readonly kind: "insert"; readonly to: number };

/** Beyond this number of differences, items are compared place by place. */
const MOST_CHANGES = 2000;

/** The fewest deletions and insertions; where both meet, they are replacements. Of equal items the outermost stay. */
export function diffLists(before: readonly Json[], after: readonly Json[]): ListStep[] {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && sameJson(before[head], after[head])) head++;
  let tail = 0;
  while (tail < shorter - head && sameJson(before.at(-1 - tail), after.at(-1 - tail))) tail++;
  const [middle = [], wanted = []] = [before, after].map((list) => list.slice(head, list.length - tail));
  const options = { comparator: sameJson, maxEditLength: MOST_CHANGES };
  const kept = Array.from({ length: head }, (_, at): Match => [at, at]);
  let [from, to] = [head, head];
  for (const { added, removed, count } of diffArrays(middle, wanted, options) ?? [])
    if (removed) from += count;
    else if (added) to += count;
    else for (let left = count; left > 0; left--) kept.push([from++, to++]);
  for (let left = tail; left > 0; left--) kept.push([before.length - left, after.length - left]);
  return stepsBetween(kept, before.length, after.length);
}

type Match = readonly [from: number, to: number];

function stepsBetween(kept: readonly Match[], before: number, after: number): ListStep[] {
  const steps: ListStep[] = [];
  let from = 0;
  let to = 0;
  for (const [nextFrom, nextTo] of [...kept, [before, after] as const]) {
    while (from < nextFrom && to < nextTo) steps.push({ kind: "replace", from: from++, to: to++ });
    while (from < nextFrom) steps.push({ kind: "delete", from: from++ });
    while (to < nextTo) steps.push({ kind: "insert", to: to++ });
    if (from < before && to < after) steps.push({ kind: "keep", from: from++, to: to++ });
  }
  return steps;
}

/**
 * Takes entries out of a map or list in block style and puts others in, by whole lines. Comments on lines of
 * their own stay, also those above an entry that goes: whether they still mean something is for the reader of
 * the diff.
 */
function changeBlock(source: LineText, { entries, deleted, inserted }: EntryChange): Splice[] {
  const additions = inserted.map(({ after, content }) =>
    insertion(source, entries[after], entries[0], content.lines),
  );
  return [...deletions(source, entries, deleted), ...additions];
}

type Entries = EntryChange["entries"];

function deletions(source: LineText, entries: Entries, deleted: ReadonlySet<number>): Splice[] {
  const [first] = entries;
  const isInline = first !== undefined && !source.isFirstOnLine(first.start);
  const firstKept = entries.findIndex((_, at) => !deleted.has(at));
  const lead = isInline ? firstKept : 0;
  const wholeLines = entries.flatMap(({ start, end }, at): Splice[] => {
    if (!deleted.has(at) || at < lead) return [];
    return [{ start: source.lineStart(start), end: source.afterLine(end), text: "" }];
  });
  const last = entries[lead - 1];
  if (first === undefined || last === undefined) return wholeLines;
  return [cutLead(source, first.start, last.end), ...wholeLines];
}

/**
 * The first entries of what begins behind a dash, as in `- a: 1`: what follows, a comment or an entry, moves
 * up to the dash, so that it stays in its column.
 */
function cutLead(source: LineText, start: number, end: number): Splice {
  const below = source.afterLine(end);
  const next = below + source.text.slice(below).search(/[^ \r\n]|$/);
  return { start, end: next, text: "" };
}

function insertion(
  source: LineText,
  before: EntryChange["entries"][number] | undefined,
  first: EntryChange["entries"][number] | undefined,
  lines: readonly string[],
): Splice {
  if (before !== undefined) return source.below(before.end, lines);
  const at = first?.start ?? 0;
  const indent = " ".repeat(source.column(at));
  // Works for `- - a`, too, where the first entry does not begin its line.
  const text = `${lines.join(source.eol).slice(indent.length)}${source.eol}${indent}`;
  return { start: at, end: at, text };
}

/** How far what is in a map, and a list under a key, stand further right: in spaces. */
type Layout = { readonly step: number; readonly listStep: number };

/** Where and how a value is written in block style. */
type Site = {
  /** The column of its keys or dashes, from 0. */
  readonly indent: number;
  readonly layout: Layout;
  readonly path: Path;
  readonly commentAt: (path: Path) => string | undefined;
};

/** The lines of a value that begins on a line of its own. */
function blockLines(value: Json, site: Site): string[] {
  if (isArray(value) && value.length > 0) return listLines(value, site);
  if (isObject(value) && Object.keys(value).length > 0) return mapLines(value, site);
  // At the very top, too, the lines of a text are indented: there they could be taken for a `---`.
  const [first, ...rest] = inlineLines(value, Math.max(site.indent, site.layout.step));
  return [pad(site.indent) + first, ...rest];
}

function mapLines(map: JsonObject, site: Site): string[] {
  return Object.entries(map).flatMap(([key, value]) => {
    const inner = { ...site, path: [...site.path, key] };
    return [...commentLines(inner), ...pairLines(key, value, inner)];
  });
}

/** A key and its value; the site is that of the key. */
function pairLines(key: string, value: Json, site: Site): string[] {
  const keyText = scalarText(key, "block");
  // A longer key is none to YAML unless it is announced.
  const announced = keyText.length < MAX_KEY_LENGTH ? [] : [`${pad(site.indent)}? ${keyText}`];
  const head = pad(site.indent) + (announced.length === 0 ? `${keyText}:` : ":");
  if (isFilled(value)) return [...announced, head, ...blockLines(value, underKey(value, site))];
  const [first, ...rest] = inlineLines(value, site.indent + site.layout.step);
  return [...announced, `${head} ${first}`, ...rest];
}

/** The site of a value that stands on the lines below its key. */
function underKey(value: Json, site: Site): Site {
  const { step, listStep } = site.layout;
  return { ...site, indent: site.indent + (isArray(value) ? listStep : step) };
}

function listLines(list: JsonArray, site: Site): string[] {
  return list.flatMap((value, index) => {
    const inner = { ...site, path: [...site.path, index] };
    return [...commentLines(inner), ...itemLines(value, inner)];
  });
}

/** A dash and its value; the site is that of the dash. */
function itemLines(value: Json, site: Site): string[] {
  const indent = site.indent + DASH;
  const [first = "", ...rest] = blockLines(value, { ...site, indent });
  return [`${pad(site.indent)}- ${first.slice(indent)}`, ...rest];
}

const DASH = 2;

/** A value that can begin behind a colon or a dash. Further lines, those of a text, are indented as told. */
function inlineLines(value: Json, indent: number): [string, ...string[]] {
  if (isArray(value)) return ["[]"];
  if (isObject(value)) return ["{}"];
  const literal = typeof value === "string" ? literalOf(value) : undefined;
  if (literal === undefined) return [scalarText(value, "block")];
  return [literal.mark, ...literal.lines.map((line) => (line === "" ? "" : pad(indent) + line))];
}

/** Whether a value is a map or a list with something in it, which needs lines of its own in block style. */
function isFilled(value: Json): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

/** The comment of a site's path, above which and at whose column it stands. */
function commentLines({ commentAt, path, indent }: Site): string[] {
  const comment = commentAt(path);
  if (comment === undefined) return [];
  return comment
    .split(/\r\n?|[\n\u0085\u2028\u2029]/)
    .map((line) => `${pad(indent)}# ${printable(line)}`.trimEnd());
}

/** A comment may quote names from elsewhere; what no YAML file may hold is shown as unreadable. */
function printable(line: string): string {
  return line.replaceAll(/[^\P{Cc}\t]|\p{Cs}|[\ufeff\ufffe\uffff]/gu, "\ufffd");
}

function pad(indent: number): string {
  return " ".repeat(indent);
}

/**
 * Takes entries out of a map or list in braces or brackets and puts others in, together with the commas.
 * Where entries have lines of their own, the new ones get such, too, and comments stay beside their entries.
 *
 * @param end of the map or list, past its closing mark.
 */
function changeFlow(source: LineText, end: number, change: EntryChange): Splice[] {
  const lastKept = change.entries.findLastIndex((_, at) => !change.deleted.has(at));
  const flow: Flow = { ...change, source, end, lastKept };
  const cuts = runsOf(change.deleted, lastKept).map(([first, last]) => cutInside(flow, first, last));
  const insertions = change.inserted.flatMap(({ after, content }) =>
    after < lastKept ? [insertInside(flow, after + 1, content.flow)] : [],
  );
  const appended = change.inserted
    .filter(({ after }) => after >= lastKept)
    .map(({ content }) => content.flow);
  return [...cuts, ...insertions, ...changeTail(flow, appended)];
}

type Flow = EntryChange & { readonly source: LineText; readonly end: number; readonly lastKept: number };

/** The text between two entries, or between the last one and the closing mark. */
function gapAfter({ source, entries, end }: Flow, at: number): string {
  return source.text.slice(entries[at]?.end, entries[at + 1]?.start ?? end - 1);
}

/** Entries side by side that go, with one behind them that stays: first and last of each such row. */
function runsOf(deleted: ReadonlySet<number>, before: number): [number, number][] {
  const runs: [number, number][] = [];
  for (let at = 0; at < before; at++) {
    const run = runs.at(-1);
    if (!deleted.has(at)) continue;
    if (run?.[1] === at - 1) run[1] = at;
    else runs.push([at, at]);
  }
  return runs;
}

/**
 * They go with their commas and, if they have lines to themselves, with those lines and what else is on them.
 */
function cutInside(flow: Flow, first: number, last: number): Splice {
  const { source, entries } = flow;
  const { start } = entries[first] ?? NOWHERE;
  const { end } = entries[last] ?? NOWHERE;
  const comma = end + commaIn(gapAfter(flow, last));
  const next = entries[last + 1]?.start ?? end;
  const haveOwnLines = source.isFirstOnLine(start) && source.afterLine(comma) <= next;
  if (haveOwnLines) return { start: source.lineStart(start), end: source.afterLine(comma), text: "" };
  return { start, end: next, text: "" };
}

/** Before the entry at this place, which stays. */
function insertInside(flow: Flow, at: number, content: string): Splice {
  const { source, entries } = flow;
  const { start } = entries[at] ?? NOWHERE;
  const text = source.isFirstOnLine(start) ? `${content},${newLine(flow, at)}` : `${content}, `;
  return { start, end: start, text };
}

/** What is behind the last entry that stays: entries that go, and new ones. */
function changeTail(flow: Flow, appended: readonly string[]): Splice[] {
  const { source, entries, lastKept } = flow;
  const isCut = lastKept < entries.length - 1;
  const { end: keptEnd } = entries[lastKept] ?? NOWHERE;
  const { start: nextStart } = entries[lastKept + 1] ?? NOWHERE;
  const isMultiline = isCut
    ? source.isFirstOnLine(nextStart)
    : source.isFirstOnLine(entries.at(-1)?.start ?? 0);
  if (!isMultiline) {
    const cut = isCut ? [{ start: keptEnd, end: entries.at(-1)?.end ?? keptEnd, text: "" }] : [];
    return [...appended.map((content) => insertionAt(keptEnd, `, ${content}`)), ...cut];
  }
  return isCut ? cutLines(flow, appended) : appendLines(flow, appended);
}

/** The comma before the lines that go stays where it is: YAML allows it, and its line remains untouched. */
function cutLines(flow: Flow, appended: readonly string[]): Splice[] {
  const { source, entries, lastKept } = flow;
  const { start } = entries[lastKept + 1] ?? NOWHERE;
  const { end } = entries.at(-1) ?? NOWHERE;
  const tail = gapAfter(flow, entries.length - 1);
  const from = source.lineEnd(source.lineStart(start) - 1);
  const to = tail.includes("\n") ? source.lineEnd(end + Math.max(0, commaIn(tail))) : end;
  const text = appended.map((content) => newLine(flow, lastKept + 1) + content).join(",");
  return [{ start: from, end: to, text }];
}

function appendLines(flow: Flow, appended: readonly string[]): Splice[] {
  const { source, entries } = flow;
  if (appended.length === 0) return [];
  const last = entries.length - 1;
  const { end } = entries[last] ?? NOWHERE;
  const tail = gapAfter(flow, last);
  const comma = commaIn(tail);
  const lines = appended.map((content) => newLine(flow, last) + content);
  if (comma >= 0) return [insertionAt(source.lineEnd(end + comma), lines.map((line) => `${line},`).join(""))];
  if (!tail.includes("\n")) return [insertionAt(end, `,${lines.join(",")}`)];
  return [insertionAt(end, ","), insertionAt(source.lineEnd(end), lines.join(","))];
}

/** A line's end and the indentation of the line that an entry stands on. */
function newLine({ source, entries }: Flow, like: number): string {
  return source.eol + " ".repeat(source.column(entries[like]?.start ?? 0));
}

/** -1 if there is none. A comma in a comment is none. */
function commaIn(gap: string): number {
  return gap.replaceAll(/#.*/g, (comment) => " ".repeat(comment.length)).indexOf(",");
}

function insertionAt(offset: number, text: string): Splice {
  return { start: offset, end: offset, text };
}

/** For an entry that is not there, which does not happen to the indices above. */
const NOWHERE: ListEntry = { start: 0, end: 0 };

/** A text seen as lines, each with its end: LF, or CRLF where the text has more of those. */
class LineText {
  readonly text: string;
  /** What new lines end in. */
  readonly eol: "\n" | "\r\n";

  constructor(text: string) {
    this.text = text;
    const all = text.split("\n").length - 1;
    this.eol = text.split("\r\n").length - 1 > all / 2 ? "\r\n" : "\n";
  }

  lineStart(offset: number): number {
    return this.text.lastIndexOf("\n", offset - 1) + 1;
  }

  /** Before the line's end. */
  lineEnd(offset: number): number {
    const end = this.text.indexOf("\n", offset);
    if (end === -1) return this.text.length;
    return this.text[end - 1] === "\r" ? end - 1 : end;
  }

  /** Counted from 0, as indentation is. */
  column(offset: number): number {
    return offset - this.lineStart(offset);
  }

  isFirstOnLine(offset: number): boolean {
    return /^ *$/.test(this.text.slice(this.lineStart(offset), offset));
  }

  /** Whether an end is past a line's end, as it is for blocks of text and nothing else. */
  isAfterLine(end: number): boolean {
    return end > 0 && this.text[end - 1] === "\n";
  }

  /** Where the line begins that follows some content. */
  afterLine(end: number): number {
    if (this.isAfterLine(end)) return end;
    const newline = this.text.indexOf("\n", end);
    return newline === -1 ? this.text.length : newline + 1;
  }

  /** New lines below the line on which some content ends. */
  below(end: number, lines: readonly string[]): Splice {
    const at = this.afterLine(end);
    const isUnended = at === this.text.length && !this.isAfterLine(at) && at > 0;
    const joined = lines.join(this.eol);
    return { start: at, end: at, text: isUnended ? this.eol + joined : joined + this.eol };
  }

  /**
   * Replaces content by what may need several lines. What else is on its last line, a comment, stays behind
   * the first of them: behind the last it might end up in a block of text.
   */
  replace(start: number, end: number, first: string, rest: readonly string[]): Splice[] {
    const below = rest.map((line) => this.eol + line).join("");
    if (this.isAfterLine(end)) return [{ start, end, text: first + below + this.eol }];
    const lineEnd = this.lineEnd(end);
    if (rest.length === 0) return [{ start, end, text: first }];
    return [
      { start, end, text: first },
      { start: lineEnd, end: lineEnd, text: below },
    ];
  }
}

/**
 * A value that can begin behind a colon or a dash: its first line, and the lines below, which are indented
 * already.
 */
export type Inline = readonly [first: string, ...rest: string[]];

/**
 * A value in the style of the one that it replaces, as far as it can have it: plain stays plain, quotes stay
 * what they are, a block of text stays a block with its mark, its comment and its indentation.
 *
 * @param source the text that the replaced node stands in.
 * @param indent of the lines of a block that was none before.
 */
function restyled(value: Json, node: Node, source: string, indent: number): Inline {
  if (node.kind === "scalar" && (node.style === "literal" || node.style === "folded"))
    return blockLike(value, node, source, indent) ?? besideComment(value, node, source, indent);
  if (typeof value !== "string" || node.kind !== "scalar") return inlineLines(value, indent);
  return sameQuotes(value, node, "block") ?? inlineLines(value, indent);
}

/** The same inside of braces and brackets, where everything stays on one line. */
function restyledFlow(value: Json, node: Node): string {
  if (typeof value !== "string" || node.kind !== "scalar") return flowText(value);
  return sameQuotes(value, node, "flow")?.[0] ?? scalarText(value, "flow");
}

function sameQuotes(text: string, node: ScalarNode, surroundings: CollectionStyle): Inline | undefined {
  if (node.style === "double") return [doubleQuoted(text)];
  if (node.style === "single") return canBeSingleQuoted(text) ? [singleQuoted(text)] : [doubleQuoted(text)];
  // Whoever writes `ON` without quotes means YAML 1.2 and wants to see `OFF`.
  const isOwnStyle = node.value === node.text && !canBePlain(node.text, surroundings);
  return isOwnStyle && isPlainText(text, surroundings) ? [text] : undefined;
}

/** No block any more: the comment in the header of the old one stays on its line. */
function besideComment(value: Json, node: ScalarNode, source: string, indent: number): Inline {
  const [header = ""] = source.slice(node.start, node.end).split(/\r?\n/, 1);
  const comment = /\s+#.*$/.exec(header)?.[0] ?? "";
  const [first, ...rest]: Inline =
    typeof value === "string" ? [doubleQuoted(value)] : inlineLines(value, indent);
  return [first + comment, ...rest];
}

/** As a block with the header of the old one, or undefined if no block can hold it. */
function blockLike(value: Json, node: ScalarNode, source: string, indent: number): Inline | undefined {
  if (typeof value !== "string") return undefined;
  const [header = "", ...body] = source.slice(node.start, node.end).split(/\r?\n/);
  const [, marks = "", note = ""] = /^[|>]([-+0-9]*)(.*)$/.exec(header) ?? [];
  const keepsAll = marks.includes("+");
  const content = value.replace(keepsAll ? /\n+$/ : /\n$/, "");
  // Only `|+` keeps empty lines at the end.
  if (!canBeBlock(content) || content.endsWith("\n") || (keepsAll && content === value)) return undefined;
  const chomping = value === content ? "-" : keepsAll ? "+" : "";
  const folded = node.style === "folded" ? foldedLines(content, body) : undefined;
  const lines = (folded ?? content.split("\n")).concat(emptyLines(value.length - content.length - 1));
  const margin = pad(/^ *(?=[^ ])/.exec(body.find((line) => line.trim() !== "") ?? "")?.[0].length ?? indent);
  return [
    `${folded ? ">" : "|"}${chomping}${note}`,
    ...lines.map((line) => (line === "" ? "" : margin + line)),
  ];
}

function emptyLines(count: number): string[] {
  return Array.from({ length: Math.max(0, count) }, () => "");
}

export type WriteOptions = {
  /**
   * A comment to stand on lines of its own above the key or the item at a path, or for `[]` above everything.
   * Without `#`; it may have several lines, and hold anything: it cannot end early and become YAML.
   */
  readonly commentAt?: (path: Path) => string | undefined;
};

/**
 * Writes plain data as YAML in block style: the same value always as the same text, texts of several lines as
 * `|` blocks, quotes only where a reader of YAML 1.1 or 1.2 would else take a text for something different.
 * Reading the text gives the value again, if it is not nested deeper than reading allows.
 */
export function writeYaml(value: Json, options: WriteOptions = {}): string {
  const site = {
    indent: 0,
    layout: { step: 2, listStep: 2 },
    path: [],
    commentAt: options.commentAt ?? (() => undefined),
  };
  return `${[...commentLines(site), ...blockLines(value, site)].join("\n")}\n`;
}

/** How a text indents: as its first map in a map does, and its first list under a key. */
function layoutOf(root: Node, source: LineText): Layout {
  let step: number | undefined;
  let listStep: number | undefined;
  for (const node of nodesOf(root)) {
    if (node.kind !== "map" || node.flow) continue;
    for (const { start, value } of node.pairs) {
      if (value.kind === "scalar" || value.kind === "alias" || value.flow) continue;
      const deeper = source.column(value.start) - source.column(start);
      if (value.kind === "map") step ??= deeper;
      else listStep ??= deeper;
    }
    if (step !== undefined && listStep !== undefined) break;
  }
  return { step: step ?? 2, listStep: listStep ?? step ?? 2 };
}
