import { type Json, isArray } from "../../model/json.ts";
import type { Entry, Node, ScalarNode } from "./nodes.ts";

/**
 * The start and the end of each node, in the order of the starts: of keys, of values, and of the
 * dashes of lists.
 */
export class Marks {
  readonly list: number[] = [];
  /** The end of the last value. */
  #end = 0;

  /** Adds a node. @returns the index of its end in the list */
  add(start: number, end: number): number {
    this.#end = end;
    return this.list.push(start, end) - 1;
  }

  /** Sets the end of a map or list, which is only known after its content. */
  close(place = 0, end = this.#end): void {
    this.#end = end;
    this.list[place] = end;
  }
}

/** Texts that the fast reader reads have neither. */
const [anchor, tag] = [undefined, undefined];

/**
 * Builds nodes from the marks of the fast reader. It lists all properties, because a spread takes
 * more time and memory.
 */
export class MarkedTree {
  readonly #text: string;
  readonly #marks: readonly number[];
  #at = 0;

  constructor(text: string, marks: readonly number[]) {
    this.#text = text;
    this.#marks = marks;
  }

  /** Returns the node of the next mark, with the nodes inside it. */
  node(value: Json): Node {
    const start = this.#marks[this.#at++] ?? 0;
    const end = this.#marks[this.#at++] ?? 0;
    const style = STYLE_OF[this.#text.charAt(start)];
    const flow = style === "flow";
    if (isArray(value)) {
      const entries = value.map((item) => this.#item(item, flow));
      return { kind: "list", start, end, from: start, anchor, tag, flow, entries, value };
    }
    if (typeof value === "object" && value !== null) {
      // Keys are taken from the marks, in the order of the text: a JavaScript object moves keys
      // that are numbers.
      const entries = Object.keys(value).map(() => {
        const key = this.#key();
        const inner = this.node(value[key.text] ?? null);
        const past = Math.max(key.end + 1, inner.end);
        return { start: key.start, end: past, key, colon: key.end, value: inner };
      });
      return { kind: "map", start, end, from: start, anchor, tag, flow, entries, value };
    }
    const text = typeof value === "string" ? value : this.#text.slice(start, end);
    const own = style === undefined || flow ? "plain" : style;
    return { kind: "scalar", start, end, from: start, anchor, tag, style: own, text, value };
  }

  #item(item: Json, flow: boolean): Entry {
    const dash = this.#marks[this.#at] ?? 0;
    // A list in brackets does not have dashes, so there are no marks for them.
    if (!flow) this.#at += 2;
    const value = this.node(item);
    const end = flow ? value.end : Math.max(value.end, dash + 1);
    return { start: dash, end, key: undefined, colon: undefined, value };
  }

  #key(): ScalarNode {
    const start = this.#marks[this.#at++] ?? 0;
    const end = this.#marks[this.#at++] ?? 0;
    const written = this.#text.slice(start, end);
    const [text, style] = written.startsWith('"')
      ? ([String(JSON.parse(written)), "double"] as const)
      : written.startsWith("'")
        ? ([written.slice(1, -1).replaceAll("''", "'"), "single"] as const)
        : ([written, "plain"] as const);
    return { kind: "scalar", start, end, from: start, anchor, tag, style, text, value: text };
  }
}

/** The style of a node, by its first character. */
const STYLE_OF: Readonly<Record<string, ScalarNode["style"] | "flow">> = {
  "'": "single",
  '"': "double",
  "|": "literal",
  ">": "folded",
  "[": "flow",
  "{": "flow",
};
