import type { Json } from "../model/json.ts";
import { inlineLines, pad } from "./block-lines.ts";
import { flowText } from "./flow-text.ts";
import { foldedLines } from "./fold.ts";
import {
  canBeBlock,
  canBePlain,
  canBeSingleQuoted,
  doubleQuoted,
  isPlainText,
  scalarText,
  singleQuoted,
  type Surroundings,
} from "./scalar-text.ts";
import type { Node, ScalarNode } from "./tree.ts";

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
export function restyled(value: Json, node: Node, source: string, indent: number): Inline {
  if (node.kind === "scalar" && (node.style === "literal" || node.style === "folded"))
    return blockLike(value, node, source, indent) ?? besideComment(value, node, source, indent);
  if (typeof value !== "string" || node.kind !== "scalar") return inlineLines(value, indent);
  return sameQuotes(value, node, "block") ?? inlineLines(value, indent);
}

/** The same inside of braces and brackets, where everything stays on one line. */
export function restyledFlow(value: Json, node: Node): string {
  if (typeof value !== "string" || node.kind !== "scalar") return flowText(value);
  return sameQuotes(value, node, "flow")?.[0] ?? scalarText(value, "flow");
}

/** A key in the quotes of the key that it replaces. */
export function restyledKey(key: string, node: ScalarNode, surroundings: Surroundings): string {
  return sameQuotes(key, node, surroundings)?.[0] ?? scalarText(key, surroundings);
}

function sameQuotes(text: string, node: ScalarNode, surroundings: Surroundings): Inline | undefined {
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
