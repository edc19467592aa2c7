import type { Json, Path } from "../../model/json.ts";
import { everydayRoot, readFast } from "./fast.ts";
import { type Node, entriesAlong } from "./nodes.ts";
import {
  type Finding,
  type LineColumn,
  type YamlProblem,
  inDocument,
  placesOf,
  splitDocuments,
} from "./text.ts";
import { type SyntaxFault, type Tree, parseTree } from "./tree.ts";

export type Reading =
  | { readonly ok: true; readonly value: Json }
  | {
      readonly ok: false;
      readonly problems: readonly YamlProblem[];
      /**
       * The value apart from its problems, if it is known, so that the rest is checked in the same
       * run.
       */
      readonly value?: Json;
    };

/** Reads any text, with the fast reader if it can. */
export function read(text: string): Reading {
  const value = readFast(text);
  return value === undefined ? readSlow(text) : { ok: true, value };
}

/** Reads any text, and returns its tree too. */
export function readTree(text: string): Reading & { readonly root: Node } {
  const root = everydayRoot(text);
  if (root !== undefined) return { ok: true, value: root.value, root };
  const tree = parseTree(text);
  return { ...readSlow(text, tree), root: tree.root };
}

/**
 * Reads any text without byte order mark, and decides what it means. Loads `yaml`: import this
 * module lazily.
 */
export function readSlow(text: string, tree = parseTree(text)): Reading {
  const placeOf = placesOf(text);
  const { root, findings } = tree;
  const faults = explainFaults(tree);
  const isTooDeep = ({ code }: Finding): boolean => code === "too-deep";
  const found: Finding[] = [
    // The parser runs out of stack only far beyond the allowed depth, so both have found the same
    // mistake.
    ...faults.filter((fault) => !isTooDeep(fault) || !findings.some(isTooDeep)),
    // A line that is not a pair does not have a key either, but that was already reported.
    ...findings.filter(
      ({ code, offset }) => code !== "key" || !faults.some((fault) => fault.offset === offset),
    ),
  ];
  const isEmpty = root.kind === "scalar" && root.start === root.end && root.tag === undefined;
  if (found.length === 0 && !isEmpty) return { ok: true, value: root.value };
  // Only keys are at fault: they are repeated, or only have a meaning in YAML 1.1. The rest is as
  // written.
  const isOfKeys =
    found.length > 0 && found.every(({ code }) => code === "duplicate-key" || code === "merge-key");
  // What a merge left explains all other mistakes.
  const conflicts = conflictsIn(text);
  const told = conflicts.length > 0 ? conflicts : found;
  const problems = (found.length === 0 ? [emptiness(text)] : told)
    .toSorted((a, b) => a.offset - b.offset)
    .map(({ offset, ...rest }) => ({ ...placeOf(offset), ...rest }));
  return { ok: false, problems, ...(isOfKeys ? { value: root.value } : {}) };
}

function conflictsIn(text: string): readonly Finding[] {
  return [...text.matchAll(/^<{7}(?= |\r?$)/gm)].map(({ index }) => ({
    offset: index,
    code: "merge-conflict",
    message: "a merge conflict begins here",
    hint: "decide what remains of both sides, and delete the lines with `<<<<<<<`, `=======` and `>>>>>>>`",
  }));
}

function emptiness(text: string): Finding {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const onlyComments = lines.every((line) => line.trimStart().startsWith("#"));
  const message = onlyComments
    ? "the file contains only comments"
    : "the document in this file is empty";
  return {
    offset: 0,
    code: "empty",
    message: lines.length === 0 ? "the file is empty" : message,
    hint: "write a manifest, or delete the file",
  };
}

/**
 * Explains the parser's errors to the person who wrote the file, one for each line: further errors
 * on the same line only follow from the first, as do tokens after the end of everything.
 */
function explainFaults(tree: Tree): Finding[] {
  const inside = tree.faults.filter((fault) => fault.code !== "STRAY_TOKEN");
  const faults = inside.length > 0 ? inside : tree.faults.slice(0, 1);
  const findings: Finding[] = [];
  const explained = new Set<number>();
  let misaligned: number | undefined;
  for (const fault of faults.toSorted((a, b) => a.offset - b.offset)) {
    const lineStart = tree.text.lastIndexOf("\n", fault.offset - 1) + 1;
    if (explained.has(lineStart)) continue;
    const { isAlignment, ...finding } = explainFault(fault, lineStart, tree);
    explained.add(lineStart);
    if (isAlignment) explained.add(tree.text.lastIndexOf("\n", finding.offset - 1) + 1);
    // One line in the wrong column also misplaces the lines below it, up to the next key of the
    // whole document.
    const follows =
      misaligned !== undefined && !/\n[^\s#]/.test(tree.text.slice(misaligned, finding.offset));
    if (isAlignment && follows) continue;
    if (isAlignment) misaligned = finding.offset;
    findings.push(finding);
  }
  return findings;
}

const CLOSERS: Readonly<Record<string, string>> = {
  "[": "close it with `]`, and indent every line inside it deeper than its key",
  "{": "close it with `}`, and indent every line inside it deeper than its key",
  '"': 'close it with `"`; inside the text a `"` is written `\\"`',
  "'": "close it with `'`; inside the text a `'` is written twice",
};

/** `isAlignment`: the line begins in the wrong column. */
type Explanation = Finding & { readonly isAlignment?: boolean };

/** A mistake in a text, with what explains it. */
interface Mistake extends SyntaxFault {
  readonly text: string;
  readonly lineStart: number;
  readonly line: string;
  /** The line before and after the mistake. */
  readonly before: string;
  readonly rest: string;
  readonly inFlow: boolean;
  /** Returns an explanation, at the place of the mistake unless `more` names another. */
  readonly fault: (message: string, hint?: string, more?: Partial<Explanation>) => Explanation;
}

/**
 * Explains a mistake that manifests really have, the first that applies. It is searched for in the
 * text, because the parser only says where it could not continue, which is often a line after the
 * mistake and rarely its reason.
 */
function explainFault(
  found: SyntaxFault,
  lineStart: number,
  { text, unclosed, flows }: Tree,
): Explanation {
  const { offset, code, words } = found;
  const line = /^.*/.exec(text.slice(lineStart))?.[0] ?? "";
  const opener = unclosed.find((span) => span.end === offset)?.start;
  const fault: Mistake["fault"] = (message, hint, more = {}) => ({
    offset,
    code: "syntax",
    message,
    ...(hint === undefined ? {} : { hint }),
    ...more,
  });
  const tab = line.search(/(?<=^[ ]*)\t/);
  if (tab >= 0)
    return fault(
      "a tab is used to indent this line; YAML allows only spaces there",
      "replace the tab with spaces",
      { offset: lineStart + tab, code: "tab", isAlignment: true },
    );
  if (code === "RESOURCE_EXHAUSTION")
    return fault("maps and lists are nested too deeply to be read", undefined, {
      code: "too-deep",
    });
  if (opener !== undefined) {
    const mark = text.charAt(opener);
    return fault(`the \`${mark}\` here is never closed`, CLOSERS[mark], { offset: opener });
  }
  if (text.slice(offset - 1, offset + 1) === "${")
    return fault(
      "inside `{ }` and `[ ]` an unquoted string ends at a brace, so `${…}` cannot be read",
      'put the whole text in quotes, as in "${…}"',
      { offset: offset - 1 },
    );
  const mistake: Mistake = {
    ...found,
    text,
    lineStart,
    line,
    before: line.slice(0, offset - lineStart),
    rest: line.slice(offset - lineStart),
    inFlow: flows.some((span) => span.start < offset && offset <= span.end),
    fault,
  };
  return EXPLAINED[code]?.(mistake) ?? fault(`invalid YAML: ${words}`);
}

/** What the parser's codes mean; undefined if a mistake has no better words than the parser's. */
const EXPLAINED: Readonly<Record<string, (mistake: Mistake) => Explanation | undefined>> = {
  BAD_DQ_ESCAPE: ({ text, offset, fault }) =>
    fault(
      `\`${text.slice(offset, offset + 2)}\` is not a valid escape in a double-quoted string`,
      "write `\\\\` for a backslash, or use single quotes",
    ),
  BAD_SCALAR_START: ({ text, offset, fault }) => {
    const first = text.charAt(offset);
    const shown = first === "`" ? "a backtick" : `\`${first}\``;
    return fault(`an unquoted string cannot begin with ${shown}`, "put the text in quotes");
  },
  STRAY_TOKEN: belongsToNothing,
  UNEXPECTED_TOKEN: unexpectedToken,
  BLOCK_IN_FLOW: missingComma,
  MISSING_CHAR: (mistake) =>
    mistake.rest.startsWith("#")
      ? mistake.fault(
          "a comment needs a space before its `#`",
          "add a space; if the `#` belongs to the text, put the whole text in quotes",
        )
      : (missingComma(mistake) ?? notKeyAndValue(mistake)),
  MULTILINE_IMPLICIT_KEY: notKeyAndValue,
  BLOCK_AS_IMPLICIT_KEY: keyInValue,
  BAD_INDENT: ({ lineStart, line, fault }) =>
    fault(
      "the indentation of this line fits none of the lines above it",
      "the keys of one map, and the items of one list, begin in the same column; their contents are indented further",
      { offset: lineStart + line.search(/\S|$/), isAlignment: true },
    ),
};

function belongsToNothing({ fault }: Mistake): Explanation {
  return fault(
    "this line belongs to nothing above it: the list, map or text before it has ended",
    "check its indentation; a list and a map cannot be mixed at the same level",
    { isAlignment: true },
  );
}

function unexpectedToken(mistake: Mistake): Explanation {
  const { before, rest, inFlow, fault } = mistake;
  if (/(?:^|[\s:-])[|>][-+0-9]*$/.test(before))
    return fault(
      "a block of text begins on the line after its `|` or `>`",
      "move this text to the next line and indent it; put a text that itself begins with `|` or `>` in quotes",
    );
  if (inFlow && rest.startsWith(","))
    return fault("there is nothing before this `,`", "remove the comma");
  if (before.trim() === "") return belongsToNothing(mistake);
  return fault(
    "the value ends before this, so nothing but a comment may follow on its line",
    "if this belongs to the value, put the whole value in quotes",
  );
}

function missingComma({ inFlow, fault }: Mistake): Explanation | undefined {
  if (!inFlow) return undefined;
  return fault(
    "inside `{ }` and `[ ]` a `,` must stand between the parts, and `: ` between a key and its value",
    "add it, or put a text with `,`, `:`, brackets or braces in it in quotes",
  );
}

function notKeyAndValue({ rest, fault }: Mistake): Explanation {
  if (/^-(?:\s|$)/.test(rest))
    return fault(
      "there is a list item among the keys of a map",
      "indent it under the key that it belongs to",
    );
  if (/^[^\s:]+:[^\s:/]/.test(rest))
    return fault(
      "there is no space after the colon, so this is read as one text and not as a key and its value",
      "write a space after the colon",
    );
  return fault(
    "this line is not `key: value`",
    "add the colon; or, if it continues the text above, indent it deeper than the key of that text",
  );
}

function keyInValue({ text, offset, rest, fault }: Mistake): Explanation {
  if (/:(?:\s|$)/.test(rest))
    return fault(
      "the value has a `: ` in it, which makes its first part a key, and a key cannot begin here",
      "put the value in quotes; or, if a map is meant, begin it on the next line",
    );
  const below = text.indexOf("\n", offset);
  const at = below === -1 ? offset : below + 1 + text.slice(below + 1).search(/\S|$/);
  return fault(
    "this line is indented under a line that already has a value",
    "begin it in the same column as the keys it belongs to",
    { offset: at, isAlignment: true },
  );
}

/** A text in which places can be looked up. Loads `yaml`: import this module lazily. */
export type Source = {
  /**
   * Returns where a value begins, or with "key" its key. For a map or list the default is its key,
   * since the value begins with its first entry, which is the wrong line to point at. A list item
   * has no key, so both are its value; for an empty value, both are the key or the dash. After an
   * alias, it is the place inside the aliased value. If the path does not exist, it is the key of
   * the nearest ancestor that does, or at last the whole value. A number at the start of a path
   * selects one of several documents.
   * @param within a part of the value's text to point at, if it is found there or further down
   */
  positionOf(path: Path, at?: "key" | "value", within?: string): LineColumn;
};

/**
 * Opens a text without byte order mark, valid or not, to look up places. The first lookup parses
 * it.
 */
export function openSource(text: string, tree?: Node): Source {
  const placeOf = placesOf(text);
  const documents = splitDocuments(text);
  const roots = new Map(tree && [[0, tree]]);
  return {
    positionOf: (path, at, within = "") => {
      const { number, inner } = inDocument(documents, path);
      const document = documents[number] ?? { start: 0, end: 0 };
      const root = roots.get(number) ?? readTree(text.slice(document.start, document.end)).root;
      roots.set(number, root);
      const entries = entriesAlong(root, inner);
      const { key, value, start } = entries.at(-1) ?? { key: undefined, value: root, start: 0 };
      const { kind } = (value.kind === "alias" ? value.target : value) ?? value;
      const isCollection = inner.length > 0 && (kind === "map" || kind === "list");
      const isKey =
        entries.length <= inner.length || (at ?? (isCollection ? "key" : "value")) === "key";
      const isAtStart = value.start === value.end || (isKey && key !== undefined);
      const offset = document.start + (isAtStart ? (key?.start ?? start) : value.start);
      return placeOf(within === "" ? offset : Math.max(offset, text.indexOf(within, offset)));
    },
  };
}
