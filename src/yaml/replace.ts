import type { Json } from "../model/json.ts";
import { blockLines, isFilled, type Layout, type Site, underKey } from "./block-lines.ts";
import { EditRefusal } from "./edit-value.ts";
import type { LineText } from "./line-text.ts";
import { restyled, restyledFlow } from "./restyle.ts";
import type { Splice } from "./splice.ts";
import type { Node } from "./tree.ts";

/** Where a value stands in its document. */
export type Place = {
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
export type Canvas = { readonly source: LineText; readonly layout: Layout };

/**
 * Writes a value whole in the place of another one: in flow style inside of braces and brackets, else in
 * block style. Comments beside and around the old value stay.
 *
 * @param rebound an anchor for the new value, where the old one is an alias of that name.
 */
export function replaceValue(
  canvas: Canvas,
  node: Node,
  place: Place,
  value: Json,
  rebound?: string,
): Splice[] {
  const old = extentOf(canvas.source, node, place, rebound);
  if (place.flow) return [{ start: old.start, end: old.end, text: old.lead + restyledFlow(value, node) }];
  return isFilled(value) ? writeLines(canvas, old, value) : writeInline(canvas, old, value);
}

/** What is taken out of the text for a new value, and what has to come before that. */
type Extent = {
  readonly node: Node;
  readonly place: Place;
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

function extentOf(source: LineText, node: Node, place: Place, rebound: string | undefined): Extent {
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
