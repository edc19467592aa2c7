import { type Json, type Path, isArray, isObject, sameJson } from "../../model/json.ts";
import { matchLists } from "./list-diff.ts";
import {
  type AliasNode,
  type Collection,
  type Entry,
  type Node,
  nameOf,
  nodesOf,
} from "./nodes.ts";
import { readTree } from "./read-slow.ts";
import { type Splice, inDocument, inOrder, spliced, splitDocuments } from "./text.ts";
import { TextLines, layoutOf } from "./text-lines.ts";
import { EditRefusal, type YamlEdit, editValue } from "./value.ts";
import {
  BlockWriter,
  type KeyRank,
  flowPair,
  flowText,
  isFilled,
  pad,
  restyled,
  restyledFlow,
  sorted,
} from "./write.ts";

export type Edited =
  | {
      readonly ok: true;
      readonly text: string;
      readonly splices: readonly Splice[];
      /** The tree of the new text; `undefined` if the file has several documents. */
      readonly tree?: Node | undefined;
    }
  | { readonly ok: false; readonly reason: string };

export interface EditOptions {
  /** Whether a deletion also deletes the maps and lists that it leaves empty. */
  readonly prune?: boolean;
  /** Decides where new keys go; by default after all others. */
  readonly rank?: KeyRank;
}

const BOM = "\ufeff";

/**
 * Makes edits in a YAML text and keeps every other byte of it: comments, order, quotes, blocks,
 * line ends, a byte order mark. In a file of several documents, a number at the start of a path
 * selects one; the default is the first. Loads `yaml`: import this module lazily.
 *
 * Each edit applies to the result of those before it. `set` creates missing maps on its path and
 * may append to a list; a map or list that replaces another one changes only where the two differ.
 * A new key goes behind the last one that is not ranked after it, if the edit names none. `delete` ignores a missing value;
 * with `prune`, it also deletes the map or list that it leaves empty, and so on upwards. The values
 * of aliases elsewhere do not change, see `TextEditor`. The result is read again, and refused unless
 * it means exactly what the edits say.
 *
 * @returns the new text, or the reason why there is none; in that case nothing must be written
 */
export function editYaml(
  text: string,
  edits: readonly YamlEdit[],
  { prune = false, rank = () => 0 }: EditOptions = {},
): Edited {
  const bom = text.startsWith(BOM) ? BOM.length : 0;
  const documents = splitDocuments(text.slice(bom));
  const own = documents.map((): YamlEdit[] => []);
  try {
    for (const edit of edits) {
      const { number, inner } = inDocument(documents, edit.path);
      const list = own[number];
      if (list === undefined)
        throw new EditRefusal(`there is no document ${number + 1} in the file`);
      list.push({ ...edit, path: inner });
    }
    // Each document is edited by itself. Documents without edits, and the text between documents,
    // do not change.
    let tree: Node | undefined;
    const splices = documents.flatMap(({ start, end }, at) => {
      const list = own[at] ?? [];
      if (list.length === 0) return [];
      const edited = editDocument(text.slice(bom + start, bom + end), list, prune, rank);
      if (documents.length === 1) ({ tree } = edited);
      const offset = bom + start;
      return edited.splices.map((one) => ({
        ...one,
        start: offset + one.start,
        end: offset + one.end,
      }));
    });
    return { ok: true, text: spliced(text, splices), splices, tree };
  } catch (error) {
    if (error instanceof EditRefusal) return { ok: false, reason: error.message };
    throw error;
  }
}

function editDocument(text: string, edits: readonly YamlEdit[], prune: boolean, rank: KeyRank) {
  const before = readTree(text);
  if (!before.ok) {
    const [{ line, message } = { line: 1, message: "the text cannot be read" }] = before.problems;
    throw new EditRefusal(`line ${line}: ${message}`);
  }
  const value = editValue(before.value, edits, prune);
  const splices = inOrder(text, new TextEditor(text, before.root, rank, edits).splices(value));
  const after = splices && readTree(spliced(text, splices));
  if (splices === undefined || after?.ok !== true || !sameJson(after.value, value))
    throw new EditRefusal(
      "this cannot be changed without changing more than that; edit the file by hand",
    );
  return { splices, tree: after.root };
}

type Place = {
  readonly kind: "root" | "pair" | "item";
  readonly flow: boolean;
  /** The column of the key or the dash, from 0. */
  readonly column: number;
  /** The end of the colon or the dash: where a value is written if there was none. */
  readonly head: number;
  /** The text before such a value: a space, or, for a key without a colon, also the colon. */
  readonly lead: " " | ": ";
};

const ROOT: Place = { kind: "root", flow: false, column: 0, head: 0, lead: " " };

/**
 * The value of an anchor's name from some point of the new text on, and the number of aliases that
 * rely on it.
 */
type Binding = { readonly value: Json; readonly node: Node | undefined; aliases: number };

/** The entries of a map or list that are kept, with their new values, in the order of the text. */
type Staying = ReadonlyMap<Entry, Json>;

/**
 * A new entry after one that is kept, or before the first: its lines, or its text between two
 * commas.
 */
type Insertion = { readonly after: Entry | undefined; readonly lines: readonly string[] };

/**
 * Finds the replacements that make a text mean another value, with as few changes as possible.
 *
 * It walks the tree in the order of the text, together with the new value, and knows at each point
 * what every anchor will mean. An alias is kept if it will then have the wanted value; otherwise it
 * is replaced by the value. When an anchored value changes, the first alias that needs the old
 * value takes over the anchor's name, and the others follow it. Replacing every alias by its value
 * would hide the one change among many.
 */
class TextEditor {
  readonly #text: string;
  readonly #lines: TextLines;
  readonly #root: Node;
  readonly #rank: KeyRank;
  /** What edits say about the place of new keys, by `pathKey`. */
  readonly #hints = new Map<string, YamlEdit & { readonly kind: "set" }>();
  #blocks: BlockWriter | undefined;
  readonly #splices: Splice[] = [];
  readonly #aliases = new Map<Node, AliasNode[]>();
  readonly #bindings = new Map<string, Binding>();
  readonly #bound: Binding[] = [];

  constructor(text: string, root: Node, rank: KeyRank, edits: readonly YamlEdit[]) {
    this.#text = text;
    this.#rank = rank;
    this.#lines = new TextLines(text);
    this.#root = root;
    for (const edit of edits)
      if (edit.kind === "set" && (edit.after !== undefined || edit.comment !== undefined))
        this.#hints.set(pathKey(edit.path), edit);
    for (const node of text.includes("*") ? nodesOf(this.#root) : []) {
      if (node.kind !== "alias" || node.target === undefined) continue;
      const known = this.#aliases.get(node.target);
      if (known === undefined) this.#aliases.set(node.target, [node]);
      else known.push(node);
    }
  }

  splices(target: Json): Splice[] {
    this.#value(this.#root, target, ROOT, []);
    for (const { node, value, aliases } of this.#bound) {
      const isUnused = node !== undefined && aliases === 0 && this.#aliases.has(node);
      // An unchanged value keeps its anchor: its line may be the reader's own, e.g. under `x-`. An
      // anchor next to a tag is not removed: the tag no longer fits, and the anchor was written
      // again without it.
      if (isUnused && node.tag === undefined && !sameJson(node.value, value))
        this.#splices.push(this.#withoutAnchor(node));
    }
    return this.#splices;
  }

  get #writer(): BlockWriter {
    return (this.#blocks ??= new BlockWriter(
      layoutOf(this.#root, this.#lines),
      (path) => this.#hints.get(pathKey(path))?.comment,
    ));
  }

  #splice(start: number, end: number, text: string): void {
    this.#splices.push({ start, end, text });
  }

  #value(node: Node, target: Json, place: Place, path: Path): void {
    if (node.kind === "alias") {
      const binding = this.#bindings.get(node.name);
      if (binding !== undefined && sameJson(binding.value, target)) binding.aliases++;
      else this.#replace(node, place, target, path, this.#takeOver(node, target));
      return;
    }
    this.#bind(node, target);
    const isDone =
      node.kind === "scalar" ? Object.is(node.value, target) : this.#collection(node, target, path);
    if (!isDone) this.#replace(node, place, target, path);
  }

  #bind(node: Node, value: Json): void {
    if (node.anchor === undefined) return;
    const binding = { value, node, aliases: 0 };
    this.#bindings.set(node.anchor, binding);
    this.#bound.push(binding);
  }

  /**
   * Returns the anchor's name for a value that replaces an alias, if it is the old value and later
   * aliases may need it.
   */
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

  /** Changes a map or list inside. @returns whether it could be kept */
  #collection(node: Collection, target: Json, path: Path): boolean {
    const { flow, kind, entries, start } = node;
    if (kind === "map" ? !isObject(target) : !isArray(target)) return false;
    const lines = this.#lines;
    const staying = new Map<Entry, Json>();
    const inserted: Insertion[] = [];
    let isCommented = false;
    const indent = lines.column(entries[0]?.start ?? 0);
    if (isArray(target)) {
      const old = entries.map(({ value }) => value.value);
      const matches = new Map(matchLists(old, target).map(([from, to]) => [to, entries[from]]));
      let after: Entry | undefined;
      for (const [at, item] of target.entries()) {
        const entry = matches.get(at);
        after = entry ?? after;
        if (entry !== undefined) staying.set(entry, item);
        else
          inserted.push({
            after,
            lines: flow
              ? [flowText(item)]
              : this.#writer.item(sorted(item, [...path, at], this.#rank), indent, [...path, at]),
          });
      }
    } else if (isObject(target)) {
      for (const entry of entries) {
        const name = nameOf(entry);
        if (Object.hasOwn(target, name)) staying.set(entry, target[name] ?? null);
      }
      const kept = [...staying.keys()];
      const added = Object.fromEntries(
        Object.entries(target).filter(
          ([key]) => !isObject(node.value) || !Object.hasOwn(node.value, key),
        ),
      );
      for (const [key, value] of Object.entries(sorted(added, path, this.#rank))) {
        const inner = [...path, key];
        const rank = this.#rank(path, key);
        const { after, comment } = this.#hints.get(pathKey(inner)) ?? {};
        isCommented ||= comment !== undefined;
        inserted.push({
          after:
            (after === undefined ? undefined : kept.find((one) => nameOf(one) === after)) ??
            kept.findLast((one) => this.#rank(path, nameOf(one)) <= rank),
          lines: flow ? [flowPair(key, value)] : this.#writer.pair(key, value, indent, inner),
        });
      }
    }
    const isChanged = staying.size < entries.length || inserted.length > 0;
    // `[a: b]` contains a map without braces, which has no room for a second key.
    const isFixed = staying.size === 0 || (flow && !/[[{]/.test(this.#text.charAt(start)));
    if (isChanged && isFixed) return false;
    if (flow && isCommented) throw new EditRefusal("a comment has no place between braces");
    for (const [entry, wanted] of staying) {
      const { key, colon, value } = entry;
      // All items of a list have the same keys, so any index serves.
      const step = key === undefined ? 0 : nameOf(entry);
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
      this.#value(value, wanted, place, [...path, step]);
    }
    if (!isChanged) return true;
    if (flow) this.#changeFlow(node, staying, inserted);
    else this.#changeBlock(node, staying, inserted);
    return true;
  }

  /**
   * Changes whole lines. Comments on their own lines are kept, even above a deleted entry, for the
   * reader of the diff.
   */
  #changeBlock({ entries }: Collection, staying: Staying, inserted: readonly Insertion[]): void {
    const lines = this.#lines;
    const top = entries[0]?.start ?? 0;
    // Deletes the first entries after a dash, as in `- a: 1`. The next comment or entry moves to
    // the dash and keeps its column.
    const led = lines.isFirstOnLine(top) ? 0 : entries.findIndex((entry) => staying.has(entry));
    const lastLed = entries[led - 1];
    if (lastLed !== undefined) {
      const below = lines.afterLine(lastLed.end);
      this.#splice(top, below + this.#text.slice(below).search(/[^ \r\n]|$/), "");
    }
    for (const entry of entries.slice(led))
      if (!staying.has(entry))
        this.#splice(lines.start(entry.start), lines.afterLine(entry.end), "");
    for (const { after, lines: added } of inserted) {
      if (after !== undefined) this.#splices.push(lines.below(after.end, added));
      else {
        const { start: first } = entries.find((entry) => staying.has(entry)) ?? NOWHERE;
        const indent = pad(lines.column(top));
        // Also correct for `- - a`, where the first entry is not the first on its line.
        this.#splice(
          first,
          first,
          `${added.join(lines.eol).slice(indent.length)}${lines.eol}${indent}`,
        );
      }
    }
  }

  /**
   * Adds and deletes entries. If they have lines to themselves, new ones get them, too; comments
   * stay where they are.
   */
  #changeFlow(
    { end: close, entries }: Collection,
    staying: Staying,
    inserted: readonly Insertion[],
  ): void {
    const lines = this.#lines;
    /**
     * Whether a comma follows an entry, and the end of the entry's line, if only a comment follows
     * on it.
     */
    const behind = (
      at: number,
    ): { readonly comma: boolean; readonly lineEnd: number | undefined } => {
      const { end } = entries[at] ?? NOWHERE;
      const next = entries[at + 1]?.start ?? close - 1;
      // A comma in a comment does not count.
      const comma = this.#text
        .slice(end, next)
        .replaceAll(/#.*/g, (comment) => " ".repeat(comment.length))
        .indexOf(",");
      const lineEnd = lines.end(Math.max(end, end + comma));
      return { comma: comma >= 0, lineEnd: lineEnd < next ? lineEnd : undefined };
    };
    /** Returns a line end and the indentation of an entry's line. */
    const lineLike = (offset: number): string => lines.eol + pad(lines.column(offset));
    const lastKept = entries.findLastIndex((entry) => staying.has(entry));
    const kept = entries[lastKept] ?? NOWHERE;
    // Entries are deleted with their commas and, if they have lines to themselves, with everything
    // on these lines. Then the comma before the last entries is kept: YAML allows it, and its line
    // does not change.
    for (let first = 0; first < entries.length; first++) {
      const { start } = entries[first] ?? NOWHERE;
      let past = first;
      for (let entry = entries[past]; entry && !staying.has(entry); entry = entries[past]) past++;
      if (past === first) continue;
      const { lineEnd } = behind(past - 1);
      const isFirst = lines.isFirstOnLine(start);
      if (isFirst && lineEnd !== undefined)
        this.#splice(lines.start(start), lines.afterLine(lineEnd), "");
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
        const next = after === undefined ? 0 : entries.indexOf(after) + 1;
        const { start } = entries.slice(next).find((one) => staying.has(one)) ?? NOWHERE;
        const separator = lines.isFirstOnLine(start) ? `,${lineLike(start)}` : ", ";
        this.#splice(start, start, content + separator);
      }
    if (appended.length === 0) return;
    const { comma, lineEnd } = behind(lastKept);
    if (lines.isFirstOnLine(kept.start) && lineEnd !== undefined) {
      const added = appended.map((content) => lineLike(kept.start) + content).join(",");
      if (!comma) this.#splice(kept.end, kept.end, ",");
      this.#splice(
        lineEnd,
        lineEnd,
        comma && lastKept === entries.length - 1 ? `${added},` : added,
      );
    } else this.#splice(kept.end, kept.end, appended.map((content) => `, ${content}`).join(""));
  }

  /**
   * Replaces a value, but not the comments around it.
   * @param rebound an anchor for the new value, if the old is an alias
   */
  #replace(node: Node, place: Place, wanted: Json, path: Path, rebound?: string): void {
    const lines = this.#lines;
    const value = sorted(wanted, path, this.#rank);
    const { anchor, tag } = node;
    const isEmpty = node.kind === "scalar" && node.start === node.end;
    if (isEmpty && tag !== undefined)
      throw new EditRefusal("a tag without a value cannot be edited");
    // A tag would be wrong for another value, so it is removed; an anchor next to it is written
    // again.
    const name = rebound ?? (tag === undefined ? undefined : anchor);
    const written = name === undefined ? "" : ` &${name}`;
    // The end of the colon, of the dash, or of the value's anchor.
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
    if (place.kind === "pair" ? !this.#writer.isBlock(value) : !isFilled(value)) {
      const indent = place.column + (place.kind === "item" ? 2 : this.#writer.layout.step);
      const [first, ...rest] = restyled(value, node, this.#text, indent);
      if (!isBelow)
        return void this.#splices.push(...lines.replace(start, end, lead + first, rest));
      this.#splice(head, head, `${written} ${first}`);
      // Comments above the old lines are kept, unless they would become part of a text.
      const from = rest.length === 0 ? lines.start(node.start) : lines.afterLine(head);
      return this.#splice(from, past, rest.map((line) => line + lines.eol).join(""));
    }
    const isBehindDash =
      place.kind !== "pair" && name === undefined && anchor === undefined && !isBelow;
    const isNew = start === end;
    const indent = isNew || !isBehindDash ? place.column + 2 : lines.column(start);
    const column = place.kind === "pair" ? this.#writer.below(value, place.column) : indent;
    const own = this.#writer.lines(value, column, path);
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
      this.#splices.push(
        ...lines.replace(start, end, lead + separator + first.slice(indent), rest),
      );
    } else if (lines.start(node.from) > head && !isNew)
      this.#splices.push(...lines.replace(lines.start(node.from), node.end, first, rest));
    else this.#splices.push(...lines.replace(head, end, written, own));
  }
}

const NOWHERE = { start: 0, end: 0 };

function pathKey(path: Path): string {
  return path.join("\n");
}
