import { ALIAS_BUDGET, MAX_DEPTH } from "./bounds.ts";
import type { Finding } from "./finding.ts";
import type { AliasNode, Node, Pair, ScalarNode } from "./tree.ts";

// What makes a text that is YAML no plain data, in words for the person who wrote it.

export function duplicate({ key }: Pair, text: string, line: number): Finding {
  return {
    offset: key.start,
    code: "duplicate-key",
    message: `the key \`${text}\` was already set on line ${line}`,
    hint: "keep one of the two",
  };
}

export function structuredKey(key: Node): Finding {
  const kind = key.kind === "alias" ? "an alias" : `a ${key.kind}`;
  return {
    offset: key.start,
    code: "key",
    message: `a key must be text, and here it is ${kind}`,
    hint: "put it in quotes if text is meant",
  };
}

export function missingKey(offset: number): Finding {
  return {
    offset,
    code: "key",
    message: "there is no key here",
    hint: "write the key, or quote the text",
  };
}

export function mergeKey(key: ScalarNode): Finding {
  return {
    offset: key.start,
    code: "merge-key",
    message: "merge keys (`<<`) are not supported: they are no part of YAML 1.2",
    hint: "write the keys out, or use `defaults`",
  };
}

export function unfitTag(node: Node, tag: string): Finding {
  return {
    offset: node.from,
    code: "tag",
    message: `the tag \`${tag}\` does not fit here: a manifest holds text, numbers, true, false, null, lists and maps`,
    hint: "take it away; put a text that begins with `!` in quotes",
  };
}

export function notFinite(node: ScalarNode): Finding {
  return {
    offset: node.start,
    code: "number",
    message: `\`${node.text}\` is infinite or no number at all, and cannot be sent to the service`,
    hint: "put it in quotes if text is meant",
  };
}

export function inexactInteger(node: ScalarNode): Finding {
  return {
    offset: node.start,
    code: "number",
    message: `the number \`${node.text}\` is too large to be kept exactly`,
    hint: "put it in quotes if it is an identifier",
  };
}

export function unknownAlias(node: AliasNode): Finding {
  return {
    offset: node.start,
    code: "unknown-alias",
    message: `\`*${node.name}\` is an alias, and there is no anchor \`&${node.name}\` above it`,
    hint: "put a text that begins with `*` in quotes",
  };
}

export function cyclicAlias(node: AliasNode): Finding {
  return {
    offset: node.start,
    code: "cyclic-alias",
    message: `\`*${node.name}\` stands inside the very value that it refers to`,
    hint: "write out what is meant here",
  };
}

export function overBudget(node: AliasNode): Finding {
  return {
    offset: node.start,
    code: "alias-budget",
    message: `with this one, the aliases of the file stand for more than ${ALIAS_BUDGET} characters of text`,
    hint: "aliases of aliases multiply; write them out",
  };
}

export function tooDeep(node: Node): Finding {
  return {
    offset: node.start,
    code: "too-deep",
    message: `maps and lists are nested more than ${MAX_DEPTH} deep`,
  };
}
