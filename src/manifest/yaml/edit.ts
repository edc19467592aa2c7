import { diffArrays } from "diff";
import { type Json, isArray, isObject, sameJson } from "../../model/json.ts";
import { readTree } from "./read-slow.ts";
import { type Splice, inDocument, spliced, splitDocuments } from "./text.ts";
import { type AliasNode, type Collection, type Entry, type Node, nameOf, nodesOf } from "./tree.ts";
import { EditRefusal, type YamlEdit, editValue } from "./value.ts";
import {
  BlockWriter,
  type Layout,
  flowPair,
  flowText,
  isFilled,
  pad,
  restyled,
  restyledFlow,
} from "./write.ts";

export type Edited =
  | {
      readonly ok: true;
      readonly text: string;
      readonly splices: readonly Splice[];
      /** The new text, as it was read again; nothing for one of several documents. */
      readonly tree?: Node | undefined;
    }
  | { readonly ok: false; readonly reason: string };

const BOM = "\ufeff";

/**
 * Makes edits in a YAML text and leaves the rest of it as it is, to the byte: comments, order, quotes, blocks, line ends, a
 * byte order mark. In a file of several documents a number at the start of a path chooses one; without it, the first is
 * meant. Loads `yaml`: import this module lazily.
 *
 * Each edit refers to what those before it left. `set` makes missing maps on its way and may append to a list; a map or
 * list that is set onto another one changes only where the two differ. `delete` of what is not there does nothing; with
 * `prune`, a map or list that it leaves empty goes as well, and so on upwards. What aliases elsewhere stand for does not
 * change, see `TextEditor`. The result is read again, and refused unless it means exactly what the edits say.
 *
 * @returns the new text, or why there is none; then nothing is to be written
 */
export function editYaml(
  text: string,
  edits: readonly YamlEdit[],
  { prune = false }: { readonly prune?: boolean } = {},
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
    let tree: Node | undefined;
    const splices = documents.flatMap(({ start, end }, at) => {
      const list = own[at] ?? [];
      if (list.length === 0) return [];
      const edited = editDocument(text.slice(bom + start, bom + end), list, prune);
      if (documents.length === 1) ({ tree } = edited);
      const offset = bom + start;
      return edited.splices.map((one) => ({ ...one, start: offset + one.start, end: offset + one.end }));
    });
    return { ok: true, text: spliced(text, splices), splices, tree };
  } catch (error) {
    if (error instanceof EditRefusal) return { ok: false, reason: error.message };
    throw error;
  }
}

function editDocument(text: string, edits: readonly YamlEdit[], prune: boolean) {
  const before = readTree(text);
  if (!before.ok) {
    const [{ line, message } = { line: 1, message: "the text cannot be read" }] = before.problems;
    throw new EditRefusal(`line ${line}: ${message}`);
  }
  const value = editValue(before.value, edits, prune);
  const splices = inOrder(text, new TextEditor(text, before.root).splices(value));
  const after = splices && readTree(spliced(text, splices));
  if (splices === undefined || after?.ok !== true || !sameJson(after.value, value))
    throw new EditRefusal("this cannot be changed without changing more than that; edit the file by hand");
  return { splices, tree: after.root };
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
  let same = 0;
  while (same < rest.length && rest[same] === text[same]) same++;
  return [{ start: same, end, text: rest.slice(same) }];
}

type Place = {
  readonly kind: "root" | "pair" | "item";
  readonly flow: boolean;
  /** The column of the key or the dash, from 0. */
  readonly column: number;
  /** Past the colon or the dash: where a value is written that was not there. */
  readonly head: number;
  /** What must stand between: a space, or for a key without a colon also that. */
  readonly lead: " " | ": ";
};

const ROOT: Place = { kind: "root", flow: false, column: 0, head: 0, lead: " " };

/** What a name stands for from some point of the new text on, and how many aliases rely on that. */
type Binding = { readonly value: Json; readonly node: Node | undefined; aliases: number };

/** The entries of a map or list that stay, with the values they are to have, in the order of the text. */
type Staying = ReadonlyMap<Entry, Json>;

/** An entry that comes in behind one that stays, or before the first: its lines, or what stands between two commas. */
type Insertion = { readonly after: Entry | undefined; readonly lines: readonly string[] };

/**
 * Finds the replacements that make a text mean another value, touching as little of it as possible.
 *
 * The tree is walked in the order of the text, next to the value that it is to have, and on the way it is known what
 * every anchor will stand for. So an alias stays where it will then mean what is wanted; else it is written out. When an
 * anchored value changes, the first alias that wants the old one takes the anchor's name over, and the others follow it.
 * To write out every alias would hide the one change among many.
 */
class TextEditor {
  readonly #text: string;
  readonly #lines: TextLines;
  readonly #root: Node;
  #blocks: BlockWriter | undefined;
  readonly #splices: Splice[] = [];
  readonly #aliases = new Map<Node, AliasNode[]>();
  readonly #bindings = new Map<string, Binding>();
  readonly #bound: Binding[] = [];

  constructor(text: string, root: Node) {
    this.#text = text;
    this.#lines = new TextLines(text);
    this.#root = root;
    for (const node of text.includes("*") ? nodesOf(this.#root) : []) {
      if (node.kind !== "alias" || node.target === undefined) continue;
      const known = this.#aliases.get(node.target);
      if (known === undefined) this.#aliases.set(node.target, [node]);
      else known.push(node);
    }
  }

  splices(target: Json): Splice[] {
    this.#value(this.#root, target, ROOT);
    for (const { node, aliases } of this.#bound)
      // An anchor beside a tag, which is no longer right, has been written again.
      if (node !== undefined && aliases === 0 && this.#aliases.has(node) && node.tag === undefined)
        this.#splices.push(this.#withoutAnchor(node));
    return this.#splices;
  }

  get #writer(): BlockWriter {
    return (this.#blocks ??= new BlockWriter(layoutOf(this.#root, this.#lines)));
  }

  #splice(start: number, end: number, text: string): void {
    this.#splices.push({ start, end, text });
  }

  #value(node: Node, target: Json, place: Place): void {
    if (node.kind === "alias") {
      const binding = this.#bindings.get(node.name);
      if (binding !== undefined && sameJson(binding.value, target)) binding.aliases++;
      else this.#replace(node, place, target, this.#takeOver(node, target));
      return;
    }
    this.#bind(node, target);
    const isDone = node.kind === "scalar" ? Object.is(node.value, target) : this.#collection(node, target);
    if (!isDone) this.#replace(node, place, target);
  }

  #bind(node: Node, value: Json): void {
    if (node.anchor === undefined) return;
    const binding = { value, node, aliases: 0 };
    this.#bindings.set(node.anchor, binding);
    this.#bound.push(binding);
  }

  /** The name for a value that is written in the place of an alias, if aliases further down may follow it, as where it is the old one. */
  #takeOver(alias: AliasNode, value: Json): string | undefined {
    const isLast = alias.target === undefined || this.#aliases.get(alias.target)?.at(-1) === alias;
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

  /** @returns whether the map or list could stay and be changed inside */
  #collection(node: Collection, target: Json): boolean {
    const { flow, kind, entries, start } = node;
    if (kind === "map" ? !isObject(target) : !isArray(target)) return false;
    const lines = this.#lines;
    const staying = new Map<Entry, Json>();
    const inserted: Insertion[] = [];
    const indent = lines.column(entries[0]?.start ?? 0);
    if (isArray(target)) {
      const old = entries.map(({ value }) => value.value);
      const matches = new Map(matchLists(old, target).map(([from, to]) => [to, entries[from]]));
      let after: Entry | undefined;
      for (const [at, item] of target.entries()) {
        const entry = matches.get(at);
        after = entry ?? after;
        if (entry !== undefined) staying.set(entry, item);
        else inserted.push({ after, lines: flow ? [flowText(item)] : this.#writer.item(item, indent) });
      }
    } else if (isObject(target)) {
      for (const entry of entries) {
        const name = nameOf(entry);
        if (Object.hasOwn(target, name)) staying.set(entry, target[name] ?? null);
      }
      const after = [...staying.keys()].at(-1);
      for (const [key, value] of Object.entries(target))
        if (!isObject(node.value) || !Object.hasOwn(node.value, key))
          inserted.push({
            after,
            lines: flow ? [flowPair(key, value)] : this.#writer.pair(key, value, indent),
          });
    }
    const isChanged = staying.size < entries.length || inserted.length > 0;
    // `[a: b]` holds a map without braces, which has no room for a second key.
    const isFixed = staying.size === 0 || (flow && !/[[{]/.test(this.#text.charAt(start)));
    if (isChanged && isFixed) return false;
    for (const [entry, wanted] of staying) {
      const { key, colon, value } = entry;
      if (this.#aliases.size === 0 && sameJson(value.value, wanted)) continue;
      if (key !== undefined) this.#bind(key, nameOf(entry));
      const column = lines.column(entry.start);
      const place: Place =
        key === undefined
          ? { kind: "item", flow, column, head: entry.start + 1, lead: " " }
          : {
              kind: "pair",
              flow,
              column,
              head: (colon ?? key.end - 1) + 1,
              lead: colon === undefined ? ": " : " ",
            };
      this.#value(value, wanted, place);
    }
    if (!isChanged) return true;
    if (flow) this.#changeFlow(node, staying, inserted);
    else this.#changeBlock(node, staying, inserted);
    return true;
  }

  /** By whole lines. Comments on lines of their own stay, also those above an entry that goes: that is for the reader of the diff. */
  #changeBlock({ entries }: Collection, staying: Staying, inserted: readonly Insertion[]): void {
    const lines = this.#lines;
    const top = entries[0]?.start ?? 0;
    // The first entries of what begins behind a dash, as in `- a: 1`: what follows, a comment or an entry, moves up to
    // the dash, so that it stays in its column.
    const led = lines.isFirstOnLine(top) ? 0 : entries.findIndex((entry) => staying.has(entry));
    const lastLed = entries[led - 1];
    if (lastLed !== undefined) {
      const below = lines.afterLine(lastLed.end);
      this.#splice(top, below + this.#text.slice(below).search(/[^ \r\n]|$/), "");
    }
    for (const entry of entries.slice(led))
      if (!staying.has(entry)) this.#splice(lines.start(entry.start), lines.afterLine(entry.end), "");
    for (const { after, lines: added } of inserted) {
      if (after !== undefined) this.#splices.push(lines.below(after.end, added));
      else {
        const indent = pad(lines.column(top));
        // Works for `- - a`, too, where the first entry does not begin its line.
        this.#splice(top, top, `${added.join(lines.eol).slice(indent.length)}${lines.eol}${indent}`);
      }
    }
  }

  /** Where entries have lines of their own, the new ones get such, too, and comments stay beside their entries. */
  #changeFlow({ end: close, entries }: Collection, staying: Staying, inserted: readonly Insertion[]): void {
    const lines = this.#lines;
    /** Whether a comma follows an entry, and where the line ends that it is on, if only a comment follows it there. */
    const behind = (at: number): { readonly comma: boolean; readonly lineEnd: number | undefined } => {
      const { end } = entries[at] ?? NOWHERE;
      const next = entries[at + 1]?.start ?? close - 1;
      // A comma in a comment is none.
      const comma = this.#text
        .slice(end, next)
        .replaceAll(/#.*/g, (comment) => " ".repeat(comment.length))
        .indexOf(",");
      const lineEnd = lines.end(Math.max(end, end + comma));
      return { comma: comma >= 0, lineEnd: lineEnd < next ? lineEnd : undefined };
    };
    /** A line's end and the indentation of the line that an entry stands on. */
    const lineLike = (offset: number): string => lines.eol + pad(lines.column(offset));
    const lastKept = entries.findLastIndex((entry) => staying.has(entry));
    const kept = entries[lastKept] ?? NOWHERE;
    // Entries go with their commas and, if they have lines to themselves, with those lines and what else is on them. The
    // comma before the last ones stays, then: YAML allows it, and its line remains untouched.
    for (let first = 0; first < entries.length; first++) {
      const { start } = entries[first] ?? NOWHERE;
      let past = first;
      for (let entry = entries[past]; entry && !staying.has(entry); entry = entries[past]) past++;
      if (past === first) continue;
      const { lineEnd } = behind(past - 1);
      const isFirst = lines.isFirstOnLine(start);
      if (isFirst && lineEnd !== undefined) this.#splice(lines.start(start), lines.afterLine(lineEnd), "");
      else {
        const end = entries[past]?.start ?? (entries[past - 1] ?? NOWHERE).end;
        this.#splice(past > lastKept && !isFirst ? kept.end : start, end, "");
      }
      first = past;
    }
    const appended = inserted
      .filter(({ after }) => after === kept)
      .map(({ lines: [content = ""] }) => content);
    for (const {
      after,
      lines: [content = ""],
    } of inserted)
      if (after !== kept) {
        const { start } = entries[after === undefined ? 0 : entries.indexOf(after) + 1] ?? NOWHERE;
        const separator = lines.isFirstOnLine(start) ? `,${lineLike(start)}` : ", ";
        this.#splice(start, start, content + separator);
      }
    if (appended.length === 0) return;
    const { comma, lineEnd } = behind(lastKept);
    if (lines.isFirstOnLine(kept.start) && lineEnd !== undefined) {
      const added = appended.map((content) => lineLike(kept.start) + content).join(",");
      if (!comma) this.#splice(kept.end, kept.end, ",");
      this.#splice(lineEnd, lineEnd, comma && lastKept === entries.length - 1 ? `${added},` : added);
    } else this.#splice(kept.end, kept.end, appended.map((content) => `, ${content}`).join(""));
  }

  /**
   * Writes a value whole in the place of another one. Comments beside and around the old value stay.
   * @param rebound an anchor for the new value, where the old one is an alias of that name
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
    const isBlock = (node.kind === "map" || node.kind === "list") && !node.flow;
    const isBelow = isBlock && place.kind !== "root" && lines.isFirstOnLine(node.start);
    const past = lines.afterLine(node.end);
    if (!isFilled(value)) {
      const indent = place.column + (place.kind === "item" ? 2 : this.#writer.layout.step);
      const [first, ...rest] = restyled(value, node, this.#text, indent);
      if (!isBelow) return void this.#splices.push(...lines.replace(start, end, lead + first, rest));
      this.#splice(head, head, `${written} ${first}`);
      // Comments above the old lines stay, unless they would become part of a text.
      const from = rest.length === 0 ? lines.start(node.start) : lines.afterLine(head);
      return this.#splice(from, past, rest.map((line) => line + lines.eol).join(""));
    }
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

const NOWHERE = { start: 0, end: 0 };

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
  readonly eol: "\n" | "\r\n";

  constructor(text: string) {
    this.text = text;
    const all = text.split("\n").length - 1;
    this.eol = text.split("\r\n").length - 1 > all / 2 ? "\r\n" : "\n";
  }

  start(offset: number): number {
    return this.text.lastIndexOf("\n", offset - 1) + 1;
  }

  end(offset: number): number {
    const end = this.text.indexOf("\n", offset);
    if (end === -1) return this.text.length;
    return this.text[end - 1] === "\r" ? end - 1 : end;
  }

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

  afterLine(end: number): number {
    if (this.isAfterLine(end)) return end;
    const newline = this.text.indexOf("\n", end);
    return newline === -1 ? this.text.length : newline + 1;
  }

  below(end: number, lines: readonly string[]): Splice {
    const at = this.afterLine(end);
    const isUnended = at === this.text.length && !this.isAfterLine(at) && at > 0;
    const joined = lines.join(this.eol);
    return { start: at, end: at, text: isUnended ? this.eol + joined : joined + this.eol };
  }

  /** A comment on the last line of what is replaced stays behind the first new one: it might end up in a block of text. */
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

/** How a text indents: as its first map in a map does, and its first list under a key. */
function layoutOf(root: Node, source: TextLines): Layout {
  const steps: { map?: number; list?: number } = {};
  for (const node of nodesOf(root))
    for (const { start, key, value } of node.kind === "map" && !node.flow ? node.entries : [])
      if (key !== undefined && (value.kind === "map" || value.kind === "list") && !value.flow)
        steps[value.kind] ??= source.column(value.start) - source.column(start);
  const { map = 2, list = map } = steps;
  return { step: map, listStep: list };
}
