import { isObject, sameJson } from "../model/json.ts";
import { type ManifestPart, entryOf, itemOf } from "./shape.ts";
import { DOCUMENTS, type DocumentKind } from "./tables.ts";
import { read } from "./yaml/read-slow.ts";
import { splitDocuments, findCharacters } from "./yaml/text.ts";
import { type MapNode, type Node, type Pair, entryOfPair, rootOf } from "./yaml/tree.ts";

/**
 * Puts the keys of a manifest in their usual order and changes nothing else: a pair moves together with the comments
 * right above it and beside it. Keys that begin with `x-` come first, since they hold anchors; unknown keys come last.
 * Where keys are the user's own they stay as they are. Loads `yaml`: import this module lazily.
 *
 * @returns the text; the same one where it does not mean the same afterwards, as where an alias would precede its anchor
 */
export function formatManifest(text: string, kind: DocumentKind): string {
  return splitDocuments(text)
    .map(({ start, end }) => formatDocument(text.slice(start, end), DOCUMENTS[kind]))
    .join("");
}

function formatDocument(text: string, root: ManifestPart): string {
  const before = read(text);
  if (!before.ok || !isObject(before.value)) return text;
  const tree = rootOf(findCharacters(text).cleaned);
  const formatted = new Formatter(text).range(0, text.length, tree, root);
  const after = formatted === text ? before : read(formatted);
  return after.ok && sameJson(after.value, before.value) && sameCharacters(text, formatted)
    ? formatted
    : text;
}

/** Nothing is lost, comments neither: what changes its place is all there. */
function sameCharacters(a: string, b: string): boolean {
  const counts = new Map<string, number>();
  for (const character of a) counts.set(character, (counts.get(character) ?? 0) + 1);
  for (const character of b) counts.set(character, (counts.get(character) ?? 0) - 1);
  return [...counts.values()].every((count) => count === 0);
}

class Formatter {
  readonly #text: string;
  /** Where the first line with content begins. */
  readonly #top: number;

  constructor(text: string) {
    this.#text = text;
    this.#top = text.search(/^(?!---|[^\S\n]*(?:#|$))/m);
  }

  /** A part of the text in which a node is, with the maps of that node in order. */
  range(start: number, end: number, node: Node, part: ManifestPart | undefined): string {
    const text = this.#text;
    if (node.kind === "list") {
      let done = start;
      let out = "";
      for (const { value } of node.items) {
        out += text.slice(done, value.start);
        const past = Math.min(end, Math.max(value.start, value.end));
        out += this.range(value.start, past, value, part && itemOf(part));
        done = past;
      }
      return out + text.slice(done, end);
    }
    if (node.kind !== "map" || node.pairs.length === 0) return text.slice(start, end);
    return node.flow ? this.#flow(node, start, end, part) : this.#block(node, start, end, part);
  }

  /** Each pair takes the place of another one; what is between them stays. */
  #flow(map: MapNode, start: number, end: number, part: ManifestPart | undefined): string {
    const text = this.#text;
    const spans = map.pairs.map((pair) => {
      const span = entryOfPair(pair);
      return { ...span, text: this.#pair(pair, span.start, span.end, part) };
    });
    // A comment beside a pair would stay where the pair was.
    const isPlain = !text.slice(map.start, map.end).includes("#");
    const order = isPlain ? orderOf(map.pairs, part) : map.pairs.map((_, at) => at);
    let done = start;
    let out = "";
    for (const [at, span] of spans.entries()) {
      out += text.slice(done, span.start) + (spans[order[at] ?? at]?.text ?? "");
      done = span.end;
    }
    return out + text.slice(done, end);
  }

  /** Whole lines change places, with the comments right above a pair. */
  #block(map: MapNode, start: number, end: number, part: ManifestPart | undefined): string {
    const text = this.#text;
    const [first] = map.pairs;
    if (first === undefined) return text.slice(start, end);
    const column = first.start - (text.lastIndexOf("\n", first.start - 1) + 1);
    const indent = " ".repeat(column);
    const starts = map.pairs.map((pair, at) =>
      at === 0 ? this.#firstStart(pair, start) : this.#above(pair),
    );
    const past = this.#linesEnd(map, end);
    const chunks = map.pairs.map((pair, at) => {
      const from = starts[at] ?? pair.start;
      const chunk = this.#pair(pair, from, starts[at + 1] ?? past, part);
      // The first pair begins behind the indentation, or behind the dash of an item.
      return from === first.start && at === 0 ? indent + chunk : chunk;
    });
    const from = starts[0] ?? first.start;
    const order = orderOf(map.pairs, part);
    // A comment cannot come between a dash and its first key, and the indentation before that stays.
    const isMovable = from < first.start || chunks[order[0] ?? 0]?.startsWith(`${indent}#`) === false;
    const isMoved = isMovable && order.some((at, place) => at !== place);
    const isEnded = text[past - 1] === "\n";
    const ended = chunks.map((chunk) => (isMoved && !chunk.endsWith("\n") ? `${chunk}\n` : chunk));
    const whole = (isMoved ? order.map((at) => ended[at] ?? "") : chunks).join("");
    const lines = isMoved && !isEnded ? whole.slice(0, -1) : whole;
    return (
      text.slice(start, from) + (from === first.start ? lines.slice(column) : lines) + text.slice(past, end)
    );
  }

  #pair(pair: Pair, start: number, end: number, part: ManifestPart | undefined): string {
    const inner = pair.key.kind === "scalar" ? part && entryOf(part, pair.key.text) : undefined;
    return this.range(start, end, pair.value, inner);
  }

  /** Comments above a map's first pair belong to it, unless they are the file's: those stay on top. */
  #firstStart(pair: Pair, start: number): number {
    const above = this.#above(pair);
    const isOwnLine = /^ *$/.test(
      this.#text.slice(this.#text.lastIndexOf("\n", pair.start - 1) + 1, pair.start),
    );
    return isOwnLine && above > this.#top && above >= start ? above : pair.start;
  }

  /** Where the comment lines right above a pair begin, else its own line. */
  #above(pair: Pair): number {
    let line = this.#text.lastIndexOf("\n", pair.start - 1) + 1;
    while (line > 0) {
      const before = this.#text.lastIndexOf("\n", line - 2) + 1;
      if (!/^[ \t]*#/.test(this.#text.slice(before, line))) break;
      line = before;
    }
    return line;
  }

  /** Past the line on which a map's last value ends. */
  #linesEnd(map: MapNode, end: number): number {
    const at = map.pairs.at(-1)?.value.end ?? map.end;
    if (this.#text[at - 1] === "\n") return Math.min(at, end);
    const newline = this.#text.indexOf("\n", at);
    return newline < 0 ? Math.min(this.#text.length, end) : Math.min(newline + 1, end);
  }
}

/** The position of each pair that comes first, second and so on. */
function orderOf(pairs: readonly Pair[], part: ManifestPart | undefined): readonly number[] {
  const positions = pairs.map((_, at) => at);
  if (part?.shape.type !== "object") return positions;
  const known = Object.keys(part.shape.parts);
  const ranks = pairs.map(({ key }) => {
    const name = key.kind === "scalar" ? key.text : "";
    const rank = known.indexOf(name);
    return name.startsWith("x-") ? -1 : rank < 0 ? known.length : rank;
  });
  return positions.toSorted((a, b) => (ranks[a] ?? 0) - (ranks[b] ?? 0) || a - b);
}
