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
import { read } from "./read-slow.ts";
import { type Splice, inDocument, setOwn, spliced, splitDocuments } from "./text.ts";
import {
  type AliasNode,
  type ListEntry,
  type ListNode,
  type MapNode,
  type Node,
  type ScalarNode,
  entryOfPair,
  nodesOf,
  rootOf,
  targetOf,
} from "./tree.ts";
import {
  BlockWriter,
  type CollectionStyle,
  type Inline,
  type Layout,
  canBeBlock,
  canBePlain,
  canBeSingleQuoted,
  doubleQuoted,
  flowPair,
  flowText,
  inlineLines,
  isFilled,
  isPlainText,
  pad,
  scalarText,
  singleQuoted,
} from "./write.ts";

export type Edited =
  | {
      readonly ok: true;
      readonly text: string;
      /** The replacements that made it of the old text, in its order. */
      readonly splices: readonly Splice[];
    }
  | { readonly ok: false; readonly reason: string };

export type YamlEdit =
  | { readonly kind: "set"; readonly path: Path; readonly value: Json }
  | { readonly kind: "delete"; readonly path: Path };

export type EditOptions = {
  /** Whether a map or list that a deletion leaves empty goes as well, and so on upwards. Else `{}` or `[]` stays. */
  readonly prune?: boolean;
};

/** An edit that cannot be made; its message is for the person at the terminal. */
export class EditRefusal extends Error {}

const BOM = "\ufeff";

/**
 * Makes edits in a YAML text and leaves the rest of it as it is, to the byte: comments, order, quotes,
 * blocks, line ends, the last line with or without its end, a byte order mark.
 *
 * In a file of several documents a number at the start of a path chooses one; without it, the first is meant.
 *
 * Each edit refers to what those before it left. `set` makes missing maps on its way and may append to a
 * list; a map or list that is set onto another one changes only where the two differ. `delete` of what is not
 * there does nothing. What aliases elsewhere stand for does not change, see `TextEditor`. The result is read
 * again, and refused unless it means exactly what the edits say.
 *
 * Loads `yaml`: import this module lazily.
 *
 * @returns the new text, or why there is none; then nothing is to be written.
 */
export function editYaml(
  text: string,
  edits: readonly YamlEdit[],
  { prune = false }: EditOptions = {},
): Edited {
  const bom = text.startsWith(BOM) ? BOM.length : 0;
  const documents = splitDocuments(text.slice(bom));
  const own = documents.map((): YamlEdit[] => []);
  try {
    for (const edit of edits) {
      const { number, inner } = inDocument(documents, edit.path);
      const list = own[number];
      if (list === undefined) throw new EditRefusal(`there is no document ${number + 1} in the file`);
      list.push({ ...edit, path: inner });
    }
    // Each document is edited by itself; the text between them, and those that no edit is of, stay.
    const splices = documents.flatMap(({ start, end }, at) => {
      const list = own[at] ?? [];
      const found = list.length === 0 ? [] : documentSplices(text.slice(bom + start, bom + end), list, prune);
      return found.map((one) => ({ ...one, start: bom + start + one.start, end: bom + start + one.end }));
    });
    return { ok: true, text: spliced(text, splices), splices };
  } catch (error) {
    if (error instanceof EditRefusal) return { ok: false, reason: error.message };
    throw error;
  }
}

function documentSplices(text: string, edits: readonly YamlEdit[], prune: boolean): readonly Splice[] {
  const before = read(text);
  if (!before.ok) {
    const [{ line, message } = { line: 1, message: "the text cannot be read" }] = before.problems;
    throw new EditRefusal(`line ${line}: ${message}`);
  }
  const value = editValue(before.value, edits, prune);
  const splices = inOrder(text, new TextEditor(text).splices(value));
  const after = splices && read(spliced(text, splices));
  if (after?.ok !== true || !sameJson(after.value, value))
    throw new EditRefusal("this cannot be changed without changing more than that; edit the file by hand");
  return splices ?? [];
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

/**
 * What edits mean for a value, whatever its text looks like; each refers to what those before it left.
 * The value is copied once and not for each edit: an import or a pull may make thousands in one large map.
 *
 * @param prune whether a map or a list that a deletion leaves empty goes as well, and so on upwards; never the root.
 * @throws EditRefusal
 */
export function editValue(value: Json, edits: readonly YamlEdit[], prune: boolean): Json {
  // The root is made an item of a list, so that setting it is not a special case.
  const holder: Draft[] = [draftOf(value)];
  for (const edit of edits) {
    if (edit.kind === "set") set(holder, [0, ...edit.path], edit.value);
    else if (edit.path.length > 0) remove(holder[0], edit.path, prune);
    else throw new EditRefusal("the whole document cannot be deleted");
  }
  return holder[0] ?? null;
}

type Draft = null | boolean | number | string | Draft[] | { [key: string]: Draft };

/** Aliased parts, which values share, become separate here. */
function draftOf(value: Json): Draft {
  if (isArray(value)) return value.map(draftOf);
  if (!isObject(value)) return value;
  const map: Record<string, Draft> = {};
  for (const key of Object.keys(value)) setOwn(map, key, draftOf(value[key] ?? null));
  return map;
}

/** What is missing on the way, or null, becomes a map. */
function set(holder: Draft[], path: Path, value: Json): void {
  let container: Draft = holder;
  for (const [at, step] of path.entries()) {
    const inner: Draft = at === path.length - 1 ? draftOf(value) : (stepInto(container, step) ?? {});
    if (Array.isArray(container) && typeof step === "number" && step <= container.length)
      container[step] = inner;
    else if (isObject(container)) setOwn(container, String(step), inner);
    else throw new EditRefusal(`\`${step}\` cannot be set: what it would be part of is not a map`);
    container = inner;
  }
}

/** @returns whether nothing is left in the container */
function remove(container: Draft | undefined, [step = "", ...rest]: Path, prune: boolean): boolean {
  const inner = container === undefined ? undefined : stepInto(container, step);
  if (inner === undefined || (rest.length > 0 && !(remove(inner, rest, prune) && prune))) return false;
  if (Array.isArray(container) && typeof step === "number") container.splice(step, 1);
  else if (isObject(container)) delete container[step];
  return Object.keys(container ?? {}).length === 0;
}

function stepInto(container: Draft, step: string | number): Draft | undefined {
  if (Array.isArray(container)) return typeof step === "number" ? container[step] : undefined;
  return isObject(container) && Object.hasOwn(container, step) ? container[step] : undefined;
}

/** Where a value stands in its document. */
type Place = {
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

/** What a name stands for from some point of the new text on, and how many aliases rely on that. */
type Binding = { readonly value: Json; readonly node: Node | undefined; aliases: number };

/** Entries that come in behind one that stays, or at -1 before the first: lines, or what stands between two commas. */
type Insertion = { readonly after: number; readonly lines: readonly string[] };

/**
 * Finds the replacements that make a text mean another value, touching as little of it as possible.
 *
 * The tree is walked in the order of the text, next to the value that it is to have. On the way it is known
 * what every anchor will stand for once the replacements are made. So an alias can stay exactly where it will
 * then mean what is wanted; else it is written out. When an anchored value changes, the first alias that
 * wants the old one takes the anchor's name over, and the others follow it: what they stand for neither
 * changes nor is multiplied. Rejected: to refuse such edits, since whoever shares a list of tags between test
 * cases would then never see one pulled; and to inline every alias, which hides the one change among many.
 */
class TextEditor {
  readonly #text: string;
  readonly #lines: TextLines;
  readonly #root: Node;
  readonly #layout: Layout;
  readonly #writer: BlockWriter;
  readonly #splices: Splice[] = [];
  /** The aliases of every node that has some, in the order of the text. */
  readonly #aliases = new Map<Node, AliasNode[]>();
  readonly #bindings = new Map<string, Binding>();
  readonly #bound: Binding[] = [];

  constructor(text: string) {
    this.#text = text;
    this.#lines = new TextLines(text);
    this.#root = rootOf(text);
    this.#layout = layoutOf(this.#root, this.#lines);
    this.#writer = new BlockWriter(this.#layout);
    for (const node of text.includes("*") ? nodesOf(this.#root) : []) {
      const target = node.kind === "alias" ? targetOf(node) : undefined;
      if (node.kind !== "alias" || target === undefined) continue;
      const known = this.#aliases.get(target);
      if (known === undefined) this.#aliases.set(target, [node]);
      else known.push(node);
    }
  }

  splices(target: Json): Splice[] {
    this.#value(this.#root, target, { kind: "root", flow: false, column: 0, head: 0, lead: " " });
    for (const { node, aliases } of this.#bound)
      // An anchor beside a tag, which is no longer right, has been written again.
      if (node !== undefined && aliases === 0 && this.#aliases.has(node) && node.tag === undefined)
        this.#splices.push(this.#withoutAnchor(node));
    return this.#splices;
  }

  #splice(start: number, end: number, text: string): void {
    this.#splices.push({ start, end, text });
  }

  #value(node: Node, target: Json, place: Place): void {
    if (this.#aliases.size === 0 && sameJson(node.value, target)) return;
    if (node.kind === "alias") {
      const binding = this.#bindings.get(node.name);
      if (binding !== undefined && sameJson(binding.value, target)) binding.aliases++;
      else this.#replace(node, place, target, this.#takeOver(node, target));
      return;
    }
    this.#bind(node, target);
    const isDone =
      node.kind === "map"
        ? isObject(target) && this.#map(node, target)
        : node.kind === "list"
          ? isArray(target) && this.#list(node, target)
          : Object.is(node.value, target);
    if (!isDone) this.#replace(node, place, target);
  }

  /** A node that stays, with the value that it will have. */
  #bind(node: Node, value: Json): void {
    if (node.anchor === undefined) return;
    const binding = { value, node, aliases: 0 };
    this.#bindings.set(node.anchor, binding);
    this.#bound.push(binding);
  }

  /**
   * The name for a value that is written in the place of an alias, if other aliases may follow it: those
   * further down, where the old value is kept. Where a new one is wanted, they do not want that.
   */
  #takeOver(alias: AliasNode, value: Json): string | undefined {
    const original = targetOf(alias);
    const isLast = original === undefined || this.#aliases.get(original)?.at(-1) === alias;
    if (isLast || !sameJson(alias.value, value)) return undefined;
    this.#bindings.set(alias.name, { value, node: undefined, aliases: 0 });
    return alias.name;
  }

  #withoutAnchor({ from, anchor = "" }: Node): Splice {
    const start = this.#text.indexOf(`&${anchor}`, from);
    const end = start + anchor.length + 1;
    const isSpaced = this.#text[start - 1] === " ";
    return { start: isSpaced ? start - 1 : start, end: isSpaced ? end : end + 1, text: "" };
  }

  /** @returns whether the map could stay and be changed inside */
  #map(map: MapNode, target: JsonObject): boolean {
    const { flow, pairs, byKey } = map;
    const keys = pairs.map(({ key }) => (key.kind === "scalar" ? key.text : ""));
    const deleted = new Set(keys.flatMap((key, at) => (Object.hasOwn(target, key) ? [] : [at])));
    const added = Object.keys(target).filter((key) => !byKey.has(key));
    if (!this.#canBeChanged(map, pairs.length - deleted.size, deleted.size + added.length)) return false;
    for (const [at, { start, key, colon, value }] of pairs.entries()) {
      const name = keys[at] ?? "";
      const wanted = target[name];
      if (deleted.has(at) || wanted === undefined) continue;
      this.#bind(key, name);
      const column = this.#lines.column(start);
      const rest =
        colon === undefined
          ? ({ head: key.end, lead: ": " } as const)
          : ({ head: colon + 1, lead: " " } as const);
      this.#value(value, wanted, { kind: "pair", flow, column, ...rest });
    }
    const after = keys.findLastIndex((_, at) => !deleted.has(at));
    const indent = this.#lines.column(pairs[0]?.start ?? 0);
    const inserted = added.map((key) => {
      const value = target[key] ?? null;
      return { after, lines: flow ? [flowPair(key, value)] : this.#writer.pair(key, value, indent) };
    });
    this.#change(map, pairs.map(entryOfPair), deleted, inserted);
    return true;
  }

  #list(list: ListNode, target: JsonArray): boolean {
    const { flow, items } = list;
    const matches = matchLists(
      items.map(({ value }) => value.value),
      target,
    );
    const staying = new Map(matches.map(([from, to]) => [to, from]));
    const kept = new Set(staying.values());
    const deleted = new Set([...items.keys()].filter((at) => !kept.has(at)));
    const changes = deleted.size + target.length - matches.length;
    if (!this.#canBeChanged(list, matches.length, changes)) return false;
    const indent = this.#lines.column(items[0]?.start ?? 0);
    const inserted: Insertion[] = [];
    let after = -1;
    for (const [to, wanted] of target.entries()) {
      const from = staying.get(to);
      const item = from === undefined ? undefined : items[from];
      after = from ?? after;
      if (item === undefined)
        inserted.push({ after, lines: flow ? [flowText(wanted)] : this.#writer.item(wanted, indent) });
      else {
        const { start, value } = item;
        const column = this.#lines.column(start);
        this.#value(value, wanted, { kind: "item", flow, column, head: start + 1, lead: " " });
      }
    }
    // In block style an item begins with its dash, and may be nothing but that.
    const entries = items.map(({ start, value }) => ({
      start,
      end: Math.max(value.end, flow ? start : start + 1),
    }));
    this.#change(list, entries, deleted, inserted);
    return true;
  }

  /** Not if nothing would stay, nor for `[a: b]`, a map without braces that has no room for a second key. */
  #canBeChanged({ flow, start }: MapNode | ListNode, staying: number, changes: number): boolean {
    return changes === 0 || (staying > 0 && !(flow && !/[[{]/.test(this.#text.charAt(start))));
  }

  #change(
    { flow, end }: Node & { readonly flow: boolean },
    entries: readonly ListEntry[],
    deleted: ReadonlySet<number>,
    inserted: readonly Insertion[],
  ): void {
    if (deleted.size === 0 && inserted.length === 0) return;
    if (flow) this.#changeFlow(end, entries, deleted, inserted);
    else this.#changeBlock(entries, deleted, inserted);
  }

  /**
   * Takes entries out of a map or list in block style and puts others in, by whole lines. Comments on lines of
   * their own stay, also those above an entry that goes: whether they still mean something is for the reader of
   * the diff.
   */
  #changeBlock(
    entries: readonly ListEntry[],
    deleted: ReadonlySet<number>,
    inserted: readonly Insertion[],
  ): void {
    const lines = this.#lines;
    const [first = NOWHERE] = entries;
    // The first entries of what begins behind a dash, as in `- a: 1`: what follows, a comment or an entry, moves up to
    // the dash, so that it stays in its column.
    const led = lines.isFirstOnLine(first.start) ? 0 : entries.findIndex((_, at) => !deleted.has(at));
    const lastLed = entries[led - 1];
    if (lastLed !== undefined) {
      const below = lines.afterLine(lastLed.end);
      this.#splice(first.start, below + this.#text.slice(below).search(/[^ \r\n]|$/), "");
    }
    for (const [at, { start, end }] of entries.entries())
      if (deleted.has(at) && at >= led) this.#splice(lines.start(start), lines.afterLine(end), "");
    for (const { after, lines: added } of inserted) {
      const before = entries[after];
      if (before !== undefined) this.#splices.push(lines.below(before.end, added));
      else {
        const indent = pad(lines.column(first.start));
        // Works for `- - a`, too, where the first entry does not begin its line.
        const text = `${added.join(lines.eol).slice(indent.length)}${lines.eol}${indent}`;
        this.#splice(first.start, first.start, text);
      }
    }
  }

  /**
   * Takes entries out of a map or list in braces or brackets and puts others in, together with the commas.
   * Where entries have lines of their own, the new ones get such, too, and comments stay beside their entries.
   *
   * @param close past the closing mark
   */
  #changeFlow(
    close: number,
    entries: readonly ListEntry[],
    deleted: ReadonlySet<number>,
    inserted: readonly Insertion[],
  ): void {
    const lines = this.#lines;
    const at = (index: number): ListEntry => entries[index] ?? NOWHERE;
    const gap = (index: number): string =>
      this.#text.slice(at(index).end, entries[index + 1]?.start ?? close - 1);
    /** A line's end and the indentation of the line that an entry stands on. */
    const lineLike = (index: number): string => lines.eol + pad(lines.column(at(index).start));
    const last = entries.length - 1;
    const lastKept = entries.findLastIndex((_, index) => !deleted.has(index));
    // They go with their commas and, if they have lines to themselves, with those lines and what else is on them.
    for (let first = 0; first < lastKept; first++) {
      if (!deleted.has(first)) continue;
      let run = first;
      while (deleted.has(run + 1)) run++;
      const { start } = at(first);
      const next = at(run + 1).start;
      const below = lines.afterLine(at(run).end + commaIn(gap(run)));
      if (lines.isFirstOnLine(start) && below <= next) this.#splice(lines.start(start), below, "");
      else this.#splice(start, next, "");
      first = run;
    }
    const appended: string[] = [];
    for (const {
      after,
      lines: [content = ""],
    } of inserted) {
      const { start } = at(after + 1);
      if (after >= lastKept) appended.push(content);
      else {
        const separator = lines.isFirstOnLine(start) ? `,${lineLike(after + 1)}` : ", ";
        this.#splice(start, start, content + separator);
      }
    }
    // What is behind the last entry that stays: entries that go, and new ones.
    const kept = at(lastKept).end;
    const isCut = lastKept < last;
    const tail = gap(last);
    const comma = commaIn(tail);
    if (!lines.isFirstOnLine(at(isCut ? lastKept + 1 : last).start)) {
      for (const content of appended) this.#splice(kept, kept, `, ${content}`);
      if (isCut) this.#splice(kept, at(last).end, "");
    } else if (isCut) {
      // The comma before the lines that go stays where it is: YAML allows it, and its line remains untouched.
      const from = lines.end(lines.start(at(lastKept + 1).start) - 1);
      const to = tail.includes("\n") ? lines.end(at(last).end + Math.max(0, comma)) : at(last).end;
      this.#splice(from, to, appended.map((content) => lineLike(lastKept + 1) + content).join(","));
    } else if (appended.length > 0) {
      const { end } = at(last);
      const added = appended.map((content) => lineLike(last) + content);
      const below = lines.end(comma < 0 ? end : end + comma);
      if (comma >= 0) this.#splice(below, below, added.map((line) => `${line},`).join(""));
      else if (!tail.includes("\n")) this.#splice(end, end, `,${added.join(",")}`);
      else {
        this.#splice(end, end, ",");
        this.#splice(below, below, added.join(","));
      }
    }
  }

  /**
   * Writes a value whole in the place of another one: in flow style inside of braces and brackets, else in
   * block style. Comments beside and around the old value stay.
   *
   * @param rebound an anchor for the new value, where the old one is an alias of that name.
   */
  #replace(node: Node, place: Place, value: Json, rebound?: string): void {
    const lines = this.#lines;
    const { anchor, tag } = node;
    const isEmpty = node.kind === "scalar" && node.start === node.end;
    if (isEmpty && tag !== undefined) throw new EditRefusal("a tag without a value cannot be edited");
    // A tag would be wrong for another value, and goes; an anchor beside it is written again.
    const name = rebound ?? (tag === undefined ? undefined : anchor);
    const written = name === undefined ? "" : ` &${name}`;
    // Past the colon, the dash, or the anchor of the value.
    const head =
      anchor === undefined || name !== undefined
        ? place.head
        : this.#text.indexOf(`&${anchor}`, node.from) + anchor.length + 1;
    const start = isEmpty ? head : tag === undefined ? node.start : node.from;
    const end = isEmpty ? head : node.end;
    const spaced = isEmpty ? (anchor === undefined ? place.lead : " ") : "";
    const lead = name === undefined ? spaced : `${spaced}&${name} `;
    if (place.flow) return this.#splice(start, end, lead + restyledFlow(value, node));
    // A map or list whose lines begin below its key or dash.
    const isBlock = (node.kind === "map" || node.kind === "list") && !node.flow;
    const isBelow = isBlock && place.kind !== "root" && lines.isFirstOnLine(node.start);
    const past = lines.afterLine(node.end);
    if (!isFilled(value)) {
      // A value that begins behind its colon or dash.
      const indent = place.column + (place.kind === "item" ? 2 : this.#layout.step);
      const [first, ...rest] = restyled(value, node, this.#text, indent);
      if (!isBelow) return void this.#splices.push(...lines.replace(start, end, lead + first, rest));
      this.#splice(head, head, `${written} ${first}`);
      // Comments above the old lines stay, unless they would become part of a text.
      const from = rest.length === 0 ? lines.start(node.start) : lines.afterLine(head);
      return this.#splice(from, past, rest.map((line) => line + lines.eol).join(""));
    }
    // A value that needs lines of its own.
    const isBehindDash = place.kind !== "pair" && name === undefined && anchor === undefined && !isBelow;
    const isNew = start === end;
    const indent = isNew || !isBehindDash ? place.column + 2 : lines.column(start);
    const column = place.kind === "pair" ? this.#writer.below(value, place.column) : indent;
    const own = this.#writer.lines(value, column);
    const [first = "", ...rest] = own;
    if (isBelow)
      this.#splice(
        lines.start(node.start),
        past,
        own.join(lines.eol) + (lines.isAfterLine(past) ? lines.eol : ""),
      );
    else if (isBehindDash) {
      // A map cannot begin on the line of a `---`.
      const separator = place.kind === "root" && !lines.isFirstOnLine(start) ? lines.eol : "";
      this.#splices.push(...lines.replace(start, end, lead + separator + first.slice(indent), rest));
    } else if (lines.start(node.from) > head && !isNew)
      this.#splices.push(...lines.replace(lines.start(node.from), node.end, first, rest));
    else this.#splices.push(...lines.replace(head, end, written, own));
  }
}

/** For an entry that is not there, which does not happen to the indices above. */
const NOWHERE: ListEntry = { start: 0, end: 0 };

/** -1 if there is none. A comma in a comment is none. */
function commaIn(gap: string): number {
  return gap.replaceAll(/#.*/g, (comment) => " ".repeat(comment.length)).indexOf(",");
}

/** Beyond this number of differences, items are compared place by place. */
const MOST_CHANGES = 2000;

type Match = readonly [from: number, to: number];

/**
 * Which items of one list become which of another, in the order of both; the others go and come. There are the fewest of
 * these, and where both meet, one becomes the other. Of equal items the outermost stay.
 */
export function matchLists(before: readonly Json[], after: readonly Json[]): Match[] {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && sameJson(before[head], after[head])) head++;
  let tail = 0;
  while (tail < shorter - head && sameJson(before.at(-1 - tail), after.at(-1 - tail))) tail++;
  const [middle = [], wanted = []] = [before, after].map((list) => list.slice(head, list.length - tail));
  const same = Array.from({ length: head }, (_, at): Match => [at, at]);
  let [from, to] = [head, head];
  const options = { comparator: sameJson, maxEditLength: MOST_CHANGES };
  for (const { added, removed, count } of diffArrays(middle, wanted, options) ?? [])
    if (removed) from += count;
    else if (added) to += count;
    else for (let left = count; left > 0; left--) same.push([from++, to++]);
  for (let left = tail; left > 0; left--) same.push([before.length - left, after.length - left]);
  const matches: Match[] = [];
  [from, to] = [0, 0];
  for (const [nextFrom, nextTo] of [...same, [before.length, after.length] as const]) {
    while (from < nextFrom && to < nextTo) matches.push([from++, to++]);
    if (nextFrom < before.length && nextTo < after.length) matches.push([nextFrom, nextTo]);
    [from, to] = [nextFrom + 1, nextTo + 1];
  }
  return matches;
}

/** A text seen as lines, each with its end: LF, or CRLF where the text has more of those. */
class TextLines {
  readonly text: string;
  /** What new lines end in. */
  readonly eol: "\n" | "\r\n";

  constructor(text: string) {
    this.text = text;
    const all = text.split("\n").length - 1;
    this.eol = text.split("\r\n").length - 1 > all / 2 ? "\r\n" : "\n";
  }

  start(offset: number): number {
    return this.text.lastIndexOf("\n", offset - 1) + 1;
  }

  /** Before the line's end. */
  end(offset: number): number {
    const end = this.text.indexOf("\n", offset);
    if (end === -1) return this.text.length;
    return this.text[end - 1] === "\r" ? end - 1 : end;
  }

  /** Counted from 0, as indentation is. */
  column(offset: number): number {
    return offset - this.start(offset);
  }

  isFirstOnLine(offset: number): boolean {
    return /^ *$/.test(this.text.slice(this.start(offset), offset));
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
    const lineEnd = this.end(end);
    if (rest.length === 0) return [{ start, end, text: first }];
    return [
      { start, end, text: first },
      { start: lineEnd, end: lineEnd, text: below },
    ];
  }
}

/**
 * A value in the style of the one that it replaces, as far as it can have it: plain stays plain, quotes stay
 * what they are, a block of text stays a block with its mark, its comment and its indentation.
 *
 * @param source the text that the replaced node stands in.
 * @param indent of the lines of a block that was none before.
 */
function restyled(value: Json, node: Node, source: string, indent: number): Inline {
  if (node.kind !== "scalar") return inlineLines(value, indent);
  if (node.style === "literal" || node.style === "folded") {
    const old = source.slice(node.start, node.end).split(/\r?\n/);
    const block = typeof value === "string" ? blockLike(value, node.style, old, indent) : undefined;
    if (block !== undefined) return block;
    // The comment in the header of the old block stays on its line.
    const comment = /\s+#.*$/.exec(old[0] ?? "")?.[0] ?? "";
    const [first, ...rest]: Inline =
      typeof value === "string" ? [doubleQuoted(value)] : inlineLines(value, indent);
    return [first + comment, ...rest];
  }
  const quoted = typeof value === "string" ? sameQuotes(value, node, "block") : undefined;
  return quoted === undefined ? inlineLines(value, indent) : [quoted];
}

/** The same inside of braces and brackets, where everything stays on one line. */
function restyledFlow(value: Json, node: Node): string {
  if (typeof value !== "string" || node.kind !== "scalar") return flowText(value);
  return sameQuotes(value, node, "flow") ?? scalarText(value, "flow");
}

function sameQuotes(text: string, node: ScalarNode, surroundings: CollectionStyle): string | undefined {
  if (node.style === "single" && canBeSingleQuoted(text)) return singleQuoted(text);
  if (node.style === "double" || node.style === "single") return doubleQuoted(text);
  // Whoever writes `ON` without quotes means YAML 1.2 and wants to see `OFF`.
  const isOwnStyle = node.value === node.text && !canBePlain(node.text, surroundings);
  return isOwnStyle && isPlainText(text, surroundings) ? text : undefined;
}

/** As a block with the header of the old one, or undefined if no block can hold it. */
function blockLike(
  value: string,
  style: "literal" | "folded",
  [header = "", ...body]: readonly string[],
  indent: number,
): Inline | undefined {
  const [, marks = "", note = ""] = /^[|>]([-+0-9]*)(.*)$/.exec(header) ?? [];
  const keepsAll = marks.includes("+");
  const content = value.replace(keepsAll ? /\n+$/ : /\n$/, "");
  // Only `|+` keeps empty lines at the end.
  if (!canBeBlock(content) || content.endsWith("\n") || (keepsAll && content === value)) return undefined;
  const chomping = value === content ? "-" : keepsAll ? "+" : "";
  const folded = style === "folded" ? foldedLines(content, body) : undefined;
  const lines = folded ?? content.split("\n");
  for (let left = value.length - content.length; left > 1; left--) lines.push("");
  const margin = pad(/^ *(?=[^ ])/.exec(body.find((line) => line.trim() !== "") ?? "")?.[0].length ?? indent);
  const indented = lines.map((line) => (line === "" ? "" : margin + line));
  return [`${folded ? ">" : "|"}${chomping}${note}`, ...indented];
}

/**
 * A text as the lines of a `>` block. Paragraphs that the old block had keep their line breaks, so that a
 * change of one of them is all that a diff shows; others are broken at the width of the old block, if that
 * was broken at all.
 *
 * @param content the text without line ends at its end.
 * @param body the lines of the old block with their indentation.
 * @returns undefined for a text that folding would change: lines with white space at their start or end.
 */
function foldedLines(content: string, body: readonly string[]): string[] | undefined {
  if (/^[ \t]|[ \t]$/m.test(content)) return undefined;
  const old = paragraphsOf(body);
  const isBroken = [...old.values()].some((lines) => lines.length > 1);
  const width = isBroken ? Math.max(...body.map((line) => line.trim().length)) : Infinity;
  const lines = content.split("\n").map((paragraph) => old.get(paragraph) ?? broken(paragraph, width));
  // Between two paragraphs a line end is written as an empty line; between empty ones it stands for itself.
  return lines.flatMap((paragraph, at) => {
    const isText = paragraph[0] !== "";
    const isFollowed = lines[at + 1] !== undefined;
    return isText && isFollowed ? [...paragraph, ""] : paragraph;
  });
}

/** Paragraphs by their text, each with its lines. */
function paragraphsOf(body: readonly string[]): Map<string, string[]> {
  const text = body.map((line) => line.trim()).join("\n");
  const blocks = text.trim().split(/\n\n+/);
  return new Map(blocks.map((block) => [block.replaceAll("\n", " "), block.split("\n")]));
}

/** Only single spaces can be line breaks: of several, folding would leave one. */
function broken(paragraph: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of paragraph.split(/(?<=[^ \t]) (?=[^ \t])/)) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** How a text indents: as its first map in a map does, and its first list under a key. */
function layoutOf(root: Node, source: TextLines): Layout {
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
