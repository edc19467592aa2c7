import { isObject, sameJson } from "../model/json.ts";
import { type ManifestPart, entryOf, itemOf, partsAlong } from "./shape.ts";
import { DOCUMENTS, type DocumentKind } from "./tables.ts";
import { read, readTree } from "./yaml/read-slow.ts";
import { splitDocuments } from "./yaml/text.ts";
import type { Collection, Entry, Node } from "./yaml/nodes.ts";
import type { KeyRank } from "./yaml/write.ts";

/**
 * Puts the keys of a manifest in their usual order and changes nothing else. A pair moves together
 * with the comments right above it and on its line. Keys that begin with `x-` come first, since
 * they contain anchors; unknown keys come last. Keys that users choose keep their order. Loads
 * `yaml`: import this module lazily.
 *
 * @returns the new text; the old one if the new one would have another meaning, e.g. with an alias
 * before its anchor
 */
export function formatManifest(text: string, kind: DocumentKind): string {
  return splitDocuments(text)
    .map(({ start, end }) => formatDocument(text.slice(start, end), DOCUMENTS[kind]))
    .join("");
}

function formatDocument(text: string, root: ManifestPart): string {
  const before = readTree(text);
  if (!before.ok || !isObject(before.value)) return text;
  const formatted = new Formatter(text).range(0, text.length, before.root, root);
  if (formatted === text) return text;
  const after = read(formatted);
  const isSame = after.ok && sameJson(after.value, before.value) && sameCharacters(text, formatted);
  return isSame ? formatted : text;
}

/** Whether both texts have the same characters, so that nothing was lost, not even a comment. */
function sameCharacters(a: string, b: string): boolean {
  const [inA = "", inB = ""] = [a, b].map((text) => text.split("").toSorted().join(""));
  return inA === inB;
}

class Formatter {
  readonly #text: string;
  /** The offset of the first line with content. */
  readonly #top: number;

  constructor(text: string) {
    this.#text = text;
    this.#top = text.search(/^(?!---|[^\S\n]*(?:#|$))/m);
  }

  /** Returns the part of the text that contains a node, with the maps of that node in order. */
  range(start: number, end: number, node: Node, part: ManifestPart | undefined): string {
    const text = this.#text;
    if (node.kind === "scalar" || node.kind === "alias") return text.slice(start, end);
    if (node.kind === "map" && !node.flow) return this.#block(node, start, end, part);
    // The part of a list item begins after its dash.
    const spans = node.entries.map((entry) => ({
      start: entry.key === undefined ? entry.value.start : entry.start,
      end: Math.min(end, entry.end),
    }));
    const chunks = node.entries.map((entry, at) => {
      const span = spans[at] ?? entry;
      return this.#entry(entry, span.start, span.end, part);
    });
    // Pairs of a map in braces swap places. A comment next to a pair would stay behind, so maps
    // with comments are kept.
    const isOrdered = node.kind === "map" && !text.slice(node.start, node.end).includes("#");
    const order = isOrdered ? orderOf(node.entries, part) : [];
    let done = start;
    let out = "";
    for (const [at, span] of spans.entries()) {
      out += text.slice(done, span.start) + (chunks[order[at] ?? at] ?? "");
      done = span.end;
    }
    return out + text.slice(done, end);
  }

  #block(
    { entries, end: mapEnd }: Collection,
    start: number,
    end: number,
    part: ManifestPart | undefined,
  ): string {
    const text = this.#text;
    const [first] = entries;
    if (first === undefined) return text.slice(start, end);
    const column = first.start - this.#lineStart(first.start);
    const indent = " ".repeat(column);
    const starts = entries.map((entry, at) =>
      at === 0 ? this.#firstStart(entry.start, start) : this.#above(entry.start),
    );
    // The end of the line on which the last value ends.
    const newline = text[mapEnd - 1] === "\n" ? mapEnd - 1 : text.indexOf("\n", mapEnd);
    const past = newline < 0 ? end : Math.min(newline + 1, end);
    const chunks = entries.map((entry, at) => {
      const from = starts[at] ?? entry.start;
      const chunk = this.#entry(entry, from, starts[at + 1] ?? past, part);
      // The first pair begins after the indentation, or after the dash of an item.
      return from === first.start && at === 0 ? indent + chunk : chunk;
    });
    const from = starts[0] ?? first.start;
    const order = orderOf(entries, part);
    // Between a dash and the first key there is no place for a comment, and the indentation before
    // that key stays.
    const isMovable =
      from < first.start || chunks[order[0] ?? 0]?.startsWith(`${indent}#`) === false;
    const isMoved = isMovable && order.some((at, place) => at !== place);
    const ended = chunks.map((chunk) => (isMoved && !chunk.endsWith("\n") ? `${chunk}\n` : chunk));
    const whole = (isMoved ? order.map((at) => ended[at] ?? "") : chunks).join("");
    const lines = isMoved && text[past - 1] !== "\n" ? whole.slice(0, -1) : whole;
    return (
      text.slice(start, from) +
      (from === first.start ? lines.slice(column) : lines) +
      text.slice(past, end)
    );
  }

  #entry(
    { key, value }: Entry,
    start: number,
    end: number,
    part: ManifestPart | undefined,
  ): string {
    const inner = key === undefined ? part && itemOf(part) : part && entryOf(part, textOf(key));
    return this.range(start, end, value, inner);
  }

  /**
   * Returns where a map's first pair begins, with the comments above it. Comments at the top of the
   * file stay there.
   */
  #firstStart(offset: number, start: number): number {
    const above = this.#above(offset);
    const isOwnLine = /^ *$/.test(this.#text.slice(this.#lineStart(offset), offset));
    return isOwnLine && above > this.#top && above >= start ? above : offset;
  }

  /**
   * Returns where the comment lines right above a pair begin, or its own line if there are none.
   */
  #above(offset: number): number {
    let line = this.#lineStart(offset);
    while (line > 0) {
      const before = this.#lineStart(line - 1);
      if (!/^[ \t]*#/.test(this.#text.slice(before, line))) break;
      line = before;
    }
    return line;
  }

  #lineStart(offset: number): number {
    return this.#text.lastIndexOf("\n", offset - 1) + 1;
  }
}

function textOf(key: Node | undefined): string {
  return key?.kind === "scalar" ? key.text : "";
}

/** Returns the place of a key in a manifest, for new keys to be written in the usual order. */
export function keyRank(kind: DocumentKind): KeyRank {
  return (path, key) => {
    const parts = partsAlong(DOCUMENTS[kind], path);
    return parts.length > path.length ? rankOf(parts.at(-1), key) : 0;
  };
}

/** Returns the place of a key: all are equal where users choose the keys. */
function rankOf(part: ManifestPart | undefined, key: string): number {
  if (part?.shape.type !== "object") return 0;
  const known = Object.keys(part.shape.parts);
  const rank = known.indexOf(key);
  return key.startsWith("x-") ? -1 : rank < 0 ? known.length : rank;
}

function orderOf(pairs: readonly Entry[], part: ManifestPart | undefined): readonly number[] {
  const positions = pairs.map((_, at) => at);
  const ranks = pairs.map(({ key }) => rankOf(part, textOf(key)));
  return positions.toSorted((a, b) => (ranks[a] ?? 0) - (ranks[b] ?? 0) || a - b);
}
