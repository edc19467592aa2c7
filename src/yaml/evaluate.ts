import type { Json } from "../model/json.ts";
import { ALIAS_BUDGET, MAX_DEPTH } from "./bounds.ts";
import { isIntegerText } from "./core-schema.ts";
import type { Finding } from "./explain.ts";
import { setOwn } from "./own.ts";
import { fitsTag } from "./tags.ts";
import type { AliasNode, ListNode, MapNode, Node, Pair, ScalarNode } from "./tree.ts";

/** The value of a tree, as far as it has one, and what keeps it from being plain data. Aliased parts are shared. */
export function evaluate(
  root: Node,
  lineOf: (offset: number) => number,
): { readonly value: Json; readonly findings: readonly Finding[] } {
  const evaluation = new Evaluation(lineOf);
  const value = evaluation.value(root, 0);
  return { value, findings: evaluation.findings };
}

/** An anchored value; undefined while it is still being evaluated, when an alias to it would be a cycle. */
type Anchored = { done: { readonly value: Json; readonly size: number } | undefined };

class Evaluation {
  readonly findings: Finding[] = [];
  readonly #lineOf: (offset: number) => number;
  readonly #anchors = new Map<string, Anchored>();
  /** How many characters the aliases so far stand for. */
  #aliased = 0;

  constructor(lineOf: (offset: number) => number) {
    this.#lineOf = lineOf;
  }

  value(node: Node, depth: number): Json {
    if (node.anchor === undefined) return this.#content(node, depth);
    // Kept apart from the name, which an anchor inside of this one may take over.
    const anchored: Anchored = { done: undefined };
    this.#anchors.set(node.anchor, anchored);
    const aliasedBefore = this.#aliased;
    const value = this.#content(node, depth);
    const size = Math.max(1, node.end - node.start) + this.#aliased - aliasedBefore;
    anchored.done = { value, size };
    return value;
  }

  #content(node: Node, depth: number): Json {
    if (node.tag !== undefined && !fitsTag(node, node.tag)) return this.#found(unfitTag(node, node.tag));
    if (node.kind === "scalar") return this.#scalar(node);
    if (node.kind === "alias") return this.#alias(node);
    if (depth >= MAX_DEPTH) return this.#found(tooDeep(node));
    return node.kind === "list" ? this.#list(node, depth) : this.#map(node, depth);
  }

  #found(finding: Finding): null {
    this.findings.push(finding);
    return null;
  }

  #scalar(node: ScalarNode): Json {
    const { value } = node;
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    if (typeof value !== "number" || !Number.isFinite(value)) return this.#found(notFinite(node));
    const inexact = isIntegerText(node.text) && !Number.isSafeInteger(value);
    return inexact ? this.#found(inexactInteger(node)) : value;
  }

  #list(node: ListNode, depth: number): Json {
    return node.items.map((item) => this.value(item.value, depth + 1));
  }

  #map(node: MapNode, depth: number): Json {
    const map: Record<string, Json> = {};
    const seen = new Map<string, number>();
    for (const pair of node.pairs) {
      const key = this.#key(pair);
      const value = this.value(pair.value, depth + 1);
      if (key === undefined) continue;
      const first = seen.get(key);
      if (first === undefined) seen.set(key, pair.key.start);
      else this.#found(duplicate(pair, key, this.#lineOf(first)));
      setOwn(map, key, value);
    }
    return map;
  }

  /** Undefined, and a finding, if the key is none. */
  #key({ key, colon, start }: Pair): string | undefined {
    if (key.kind !== "scalar") {
      this.#found(structuredKey(key));
      return undefined;
    }
    // Only for the anchor and the tag: an anchored key can be referred to, and a key is text whatever it looks like.
    this.value({ ...key, value: key.text }, 0);
    if (key.style !== "plain") return key.text;
    if (key.text === "") this.#found(missingKey(colon ?? start));
    else if (key.text === "<<") this.#found(mergeKey(key));
    else return key.text;
    return undefined;
  }

  #alias(node: AliasNode): Json {
    const anchored = this.#anchors.get(node.name);
    if (anchored === undefined) return this.#found(unknownAlias(node));
    if (anchored.done === undefined) return this.#found(cyclicAlias(node));
    const before = this.#aliased;
    this.#aliased += anchored.done.size;
    if (before <= ALIAS_BUDGET && this.#aliased > ALIAS_BUDGET) this.#found(overBudget(node));
    return anchored.done.value;
  }
}

function duplicate({ key }: Pair, text: string, line: number): Finding {
  return {
    offset: key.start,
    code: "duplicate-key",
    message: `the key \`${text}\` was already set on line ${line}`,
    hint: "keep one of the two",
  };
}

function structuredKey(key: Node): Finding {
  const kind = key.kind === "alias" ? "an alias" : `a ${key.kind}`;
  return {
    offset: key.start,
    code: "key",
    message: `a key must be text, and here it is ${kind}`,
    hint: "put it in quotes if text is meant",
  };
}

function missingKey(offset: number): Finding {
  return {
    offset,
    code: "key",
    message: "there is no key here",
    hint: "write the key, or quote the text",
  };
}

function mergeKey(key: ScalarNode): Finding {
  return {
    offset: key.start,
    code: "merge-key",
    message: "merge keys (`<<`) are not supported: they are no part of YAML 1.2",
    hint: "write the keys out, or use `defaults`",
  };
}

function unfitTag(node: Node, tag: string): Finding {
  return {
    offset: node.from,
    code: "tag",
    message: `the tag \`${tag}\` does not fit here: a manifest holds text, numbers, true, false, null, lists and maps`,
    hint: "take it away; put a text that begins with `!` in quotes",
  };
}

function notFinite(node: ScalarNode): Finding {
  return {
    offset: node.start,
    code: "number",
    message: `\`${node.text}\` is infinite or no number at all, and cannot be sent to the service`,
    hint: "put it in quotes if text is meant",
  };
}

function inexactInteger(node: ScalarNode): Finding {
  return {
    offset: node.start,
    code: "number",
    message: `the number \`${node.text}\` is too large to be kept exactly`,
    hint: "put it in quotes if it is an identifier",
  };
}

function unknownAlias(node: AliasNode): Finding {
  return {
    offset: node.start,
    code: "unknown-alias",
    message: `\`*${node.name}\` is an alias, and there is no anchor \`&${node.name}\` above it`,
    hint: "put a text that begins with `*` in quotes",
  };
}

function cyclicAlias(node: AliasNode): Finding {
  return {
    offset: node.start,
    code: "cyclic-alias",
    message: `\`*${node.name}\` stands inside the very value that it refers to`,
    hint: "write out what is meant here",
  };
}

function overBudget(node: AliasNode): Finding {
  return {
    offset: node.start,
    code: "alias-budget",
    message: `with this one, the aliases of the file stand for more than ${ALIAS_BUDGET} characters of text`,
    hint: "aliases of aliases multiply; write them out",
  };
}

function tooDeep(node: Node): Finding {
  return {
    offset: node.start,
    code: "too-deep",
    message: `maps and lists are nested more than ${MAX_DEPTH} deep`,
  };
}
