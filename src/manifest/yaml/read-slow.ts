import type { Json, Path } from "../../model/json.ts";
import { readFast } from "./fast.ts";
import {
  type Finding,
  type LineColumn,
  type YamlProblem,
  findCharacters,
  inDocument,
  placesOf,
  splitDocuments,
} from "./text.ts";
import { type Node, type SyntaxFault, type Tree, parseTree, rootOf, stepsAlong, targetOf } from "./tree.ts";

export type Reading =
  | { readonly ok: true; readonly value: Json }
  | {
      readonly ok: false;
      readonly problems: readonly YamlProblem[];
      /** What the text means but for its problems, where that is known: the rest is then checked in the same run. */
      readonly value?: Json;
    };

/** Reads any text, an everyday one fast. */
export function read(text: string): Reading {
  const value = readFast(text);
  return value === undefined ? readSlow(text) : { ok: true, value };
}

/**
 * Reads any text, and has the last word on what it means and on what is wrong with it.
 * Loads `yaml`: import this module lazily.
 *
 * @param text a whole file, without byte order mark.
 */
export function readSlow(text: string): Reading {
  const placeOf = placesOf(text);
  const characters = findCharacters(text);
  const tree = parseTree(characters.cleaned);
  const faults = explainFaults(tree);
  const { findings } = tree;
  const { value } = tree.root;
  const isTooDeep = ({ code }: Finding): boolean => code === "too-deep";
  const all: Finding[] = [
    ...characters.findings,
    ...tree.directives.flatMap(directiveFinding),
    ...tree.furtherDocuments.map(furtherDocument),
    // The parser runs out of stack far below the depth that the evaluation allows: then both have found the same.
    ...faults.filter((fault) => !isTooDeep(fault) || !findings.some(isTooDeep)),
    // A line that is not even a pair has no key either, and that has been said.
    ...findings.filter(
      ({ code, offset }) => code !== "key" || !faults.some((fault) => fault.offset === offset),
    ),
  ];
  if (all.length === 0 && !isEmpty(tree)) return { ok: true, value };
  const found = all.length === 0 ? [emptiness(text)] : all;
  const problems = found
    .toSorted((a, b) => a.offset - b.offset)
    .map(({ offset, ...rest }) => ({ ...placeOf(offset), ...rest }));
  // A key that is there twice, or that means something to YAML 1.1 alone: all else is as it is written.
  const isOfKeys =
    all.length > 0 && all.every(({ code }) => code === "duplicate-key" || code === "merge-key");
  return { ok: false, problems, ...(isOfKeys ? { value } : {}) };
}

function directiveFinding({ offset, text }: Tree["directives"][number]): Finding[] {
  if (/^%YAML\s+1\.2\s*$/.test(text)) return [];
  const message = `\`${text.trim()}\` is not supported: a manifest is YAML 1.2 without directives`;
  return [{ offset, code: "directive", message, hint: "delete this line and write the tags in full" }];
}

function furtherDocument(offset: number): Finding {
  return {
    offset,
    code: "multiple-documents",
    message: "a second document begins here",
    hint: "tasc.yaml holds one document; in other manifest files, begin each document with `---`",
  };
}

function isEmpty({ root }: Tree): boolean {
  return root.kind === "scalar" && root.start === root.end && root.tag === undefined;
}

function emptiness(text: string): Finding {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const onlyComments = lines.every((line) => line.trimStart().startsWith("#"));
  const message = onlyComments ? "the file holds nothing but comments" : "the document in this file is empty";
  return {
    offset: 0,
    code: "empty",
    message: lines.length === 0 ? "the file is empty" : message,
    hint: "write a manifest, or delete the file",
  };
}

/**
 * The parser's complaints in words for the person who wrote the file, one for each line: what it says next
 * about the same line only follows from the first. Tokens that it meets after the end of everything follow,
 * too.
 */
function explainFaults(tree: Tree): Finding[] {
  const anythingElse = tree.faults.some((fault) => fault.code !== "STRAY_TOKEN");
  const faults = anythingElse
    ? tree.faults.filter((fault) => fault.code !== "STRAY_TOKEN")
    : tree.faults.slice(0, 1);
  const findings: Finding[] = [];
  const explained = new Set<number>();
  let misaligned: number | undefined;
  for (const fault of faults.toSorted((a, b) => a.offset - b.offset)) {
    const context = contextOf(fault, tree);
    if (explained.has(context.lineStart)) continue;
    const { isAlignment, ...finding } = explainFault(context);
    explained.add(context.lineStart);
    if (isAlignment) explained.add(tree.text.lastIndexOf("\n", finding.offset - 1) + 1);
    // One line in the wrong column puts those below it out of place too, up to the next key of the whole document.
    const follows = misaligned !== undefined && !/\n[^\s#]/.test(tree.text.slice(misaligned, finding.offset));
    if (isAlignment && follows) continue;
    if (isAlignment) misaligned = finding.offset;
    findings.push(finding);
  }
  return findings;
}

function explainFault(context: FaultContext): Finding & { readonly isAlignment: boolean } {
  for (const { when, at, code = "syntax", message, hint, isAlignment = false } of EXPLANATIONS) {
    if (!when(context)) continue;
    const advice = typeof hint === "function" ? hint(context) : hint;
    return {
      offset: at === undefined ? context.offset : at(context),
      code,
      message: typeof message === "function" ? message(context) : message,
      isAlignment,
      ...(advice === undefined ? {} : { hint: advice }),
    };
  }
  const message = `invalid YAML: ${context.words}`;
  return { offset: context.offset, code: "syntax", message, isAlignment: false };
}

/** What an explanation may look at: the parser's complaint, and the text around it. */
type FaultContext = SyntaxFault & {
  readonly text: string;
  readonly lineStart: number;
  /** The line of the fault, without its end. */
  readonly line: string;
  /** That line from the fault on. */
  readonly rest: string;
  /** Where the bracket, brace or quote stands that the parser looked in vain for the end of. */
  readonly opener: number | undefined;
  /** Whether the fault is inside brackets or braces. */
  readonly inFlow: boolean;
};

function contextOf(fault: SyntaxFault, { text, unclosed, flows }: Tree): FaultContext {
  const { offset } = fault;
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  const line = /^.*/.exec(text.slice(lineStart))?.[0] ?? "";
  return {
    ...fault,
    text,
    lineStart,
    line,
    rest: line.slice(offset - lineStart),
    opener: unclosed.find((span) => span.end === offset)?.start,
    inFlow: flows.some((span) => span.start < offset && offset <= span.end),
  };
}

/** A mistake, and what is said of it: at `at`, or where the parser stumbled. */
type Explanation = {
  readonly when: (context: FaultContext) => boolean;
  readonly at?: (context: FaultContext) => number;
  readonly code?: Finding["code"];
  readonly message: string | ((context: FaultContext) => string);
  readonly hint?: string | ((context: FaultContext) => string | undefined);
  /** Whether the line begins in the wrong column. */
  readonly isAlignment?: true;
};

const CLOSERS: Readonly<Record<string, string>> = {
  "[": "close it with `]`, and indent every line inside it deeper than its key",
  "{": "close it with `}`, and indent every line inside it deeper than its key",
  '"': 'close it with `"`; inside the text a `"` is written `\\"`',
  "'": "close it with `'`; inside the text a `'` is written twice",
};

/** Where a line is indented with a tab; -1 if it is not. */
const tabIn = (line: string): number => line.search(/(?<=^[ ]*)\t/);
const isNoPair = ({ code }: FaultContext): boolean =>
  code === "MISSING_CHAR" || code === "MULTILINE_IMPLICIT_KEY";

/**
 * The mistakes that manifests really have, the first that applies. They look at the text, since the parser's
 * words say what it could not go on with, which is often a line after the mistake and rarely the reason.
 */
const EXPLANATIONS: readonly Explanation[] = [
  {
    when: ({ line }) => tabIn(line) >= 0,
    at: ({ line, lineStart }) => lineStart + tabIn(line),
    code: "tab",
    message: "a tab is used to indent this line; YAML allows only spaces there",
    hint: "replace the tab with spaces",
    isAlignment: true,
  },
  {
    when: ({ code }) => code === "RESOURCE_EXHAUSTION",
    code: "too-deep",
    message: "maps and lists are nested too deeply to be read",
  },
  {
    when: ({ opener }) => opener !== undefined,
    at: ({ opener = 0 }) => opener,
    message: ({ opener = 0, text }) => `the \`${text.charAt(opener)}\` here is never closed`,
    hint: ({ opener = 0, text }) => CLOSERS[text.charAt(opener)],
  },
  {
    when: ({ code }) => code === "BAD_DQ_ESCAPE",
    message: ({ offset, text }) =>
      `\`${text.slice(offset, offset + 2)}\` is not a valid escape in a double-quoted string`,
    hint: "write `\\\\` for a backslash, or use single quotes",
  },
  {
    when: ({ code }) => code === "BAD_SCALAR_START",
    message: ({ offset, text }) => {
      const first = text.charAt(offset);
      return `an unquoted string cannot begin with ${first === "`" ? "a backtick" : `\`${first}\``}`;
    },
    hint: "put the text in quotes",
  },
  {
    when: ({ offset, text }) => text.slice(offset - 1, offset + 1) === "${",
    at: ({ offset }) => offset - 1,
    message: "inside `{ }` and `[ ]` an unquoted string ends at a brace, so `${…}` cannot be read",
    hint: 'put the whole text in quotes, as in "${…}"',
  },
  {
    when: ({ code, line, lineStart, offset }) =>
      code === "UNEXPECTED_TOKEN" && /(?:^|[\s:-])[|>][-+0-9]*$/.test(line.slice(0, offset - lineStart)),
    message: "a block of text begins on the line after its `|` or `>`",
    hint: "move this text to the next line and indent it; put a text that itself begins with `|` or `>` in quotes",
  },
  {
    when: ({ code, rest }) => code === "MISSING_CHAR" && rest.startsWith("#"),
    message: "a comment needs a space before its `#`",
    hint: "add a space; if the `#` belongs to the text, put the whole text in quotes",
  },
  {
    when: ({ code, inFlow, rest }) => code === "UNEXPECTED_TOKEN" && inFlow && rest.startsWith(","),
    message: "there is nothing before this `,`",
    hint: "remove the comma",
  },
  {
    when: ({ code, inFlow }) => inFlow && (code === "MISSING_CHAR" || code === "BLOCK_IN_FLOW"),
    message:
      "inside `{ }` and `[ ]` a `,` must stand between the parts, and `: ` between a key and its value",
    hint: "add it, or put a text with `,`, `:`, brackets or braces in it in quotes",
  },
  {
    when: ({ code, lineStart, offset, text }) =>
      code === "STRAY_TOKEN" || (code === "UNEXPECTED_TOKEN" && text.slice(lineStart, offset).trim() === ""),
    message: "this line belongs to nothing above it: the list, map or text before it has ended",
    hint: "check its indentation; a list and a map cannot be mixed at the same level",
    isAlignment: true,
  },
  {
    when: ({ code }) => code === "UNEXPECTED_TOKEN",
    message: "the value ends before this, so nothing but a comment may follow on its line",
    hint: "if this belongs to the value, put the whole value in quotes",
  },
  {
    when: ({ code, rest }) => code === "BLOCK_AS_IMPLICIT_KEY" && /:(?:\s|$)/.test(rest),
    message: "the value has a `: ` in it, which makes its first part a key, and a key cannot begin here",
    hint: "put the value in quotes; or, if a map is meant, begin it on the next line",
  },
  {
    when: ({ code }) => code === "BLOCK_AS_IMPLICIT_KEY",
    at: ({ offset, text }) => {
      const below = text.indexOf("\n", offset);
      return below === -1 ? offset : below + 1 + text.slice(below + 1).search(/\S|$/);
    },
    message: "this line is indented under a line that already has a value",
    hint: "begin it in the same column as the keys it belongs to",
    isAlignment: true,
  },
  {
    when: (context) => isNoPair(context) && /^-(?:\s|$)/.test(context.rest),
    message: "a list item stands among the keys of a map",
    hint: "indent it under the key that it belongs to",
  },
  {
    when: (context) => isNoPair(context) && /^[^\s:]+:[^\s:/]/.test(context.rest),
    message: "there is no space after the colon, so this is read as one text and not as a key and its value",
    hint: "write a space after the colon",
  },
  {
    when: isNoPair,
    message: "this line is no `key: value`",
    hint: "add the colon; or, if it continues the text above, indent it deeper than the key of that text",
  },
  {
    when: ({ code }) => code === "BAD_INDENT",
    at: ({ line, lineStart }) => lineStart + line.search(/\S|$/),
    message: "the indentation of this line fits none of the lines above it",
    hint: "the keys of one map, and the items of one list, begin in the same column; their contents are indented further",
    isAlignment: true,
  },
];

/** A text that can be asked where things stand in it. Loads `yaml`: import this module lazily. */
export type Source = {
  /**
   * Where a value begins, or with "key" its key. Of a map or a list it is the key too, since the value begins with its
   * first entry, which is the wrong line to point at. A list item has no key: both answers are its value. Where nothing
   * is written after a colon or a dash, both are the key or the dash. Behind an alias it is the place inside of what the
   * alias refers to; the alias is itself the value of its own key.
   * For a path that the text does not have, it is the key of the nearest ancestor that it does have, and in
   * the end the place of the whole value. A number at the start of a path chooses one of several documents.
   * @param within a piece of the text that is meant, if it stands there or further down
   */
  positionOf(path: Path, at?: "key" | "value", within?: string): LineColumn;
};

/**
 * Opens a text for questions about places. It is parsed at the first question; an answer costs one look into
 * a hash for each step of the path. A text with problems is answered for as far as it can be made out.
 *
 * @param text a whole file, without byte order mark.
 */
export function openSource(text: string): Source {
  const placeOf = placesOf(text);
  const documents = splitDocuments(text);
  const roots = new Map<number, Node>();
  const rootAt = (number: number): Node => {
    const { start, end } = documents[number] ?? { start: 0, end: 0 };
    const root = roots.get(number) ?? rootOf(findCharacters(text.slice(start, end)).cleaned);
    roots.set(number, root);
    return root;
  };
  return {
    positionOf: (path, at, within = "") => {
      const { number, inner } = inDocument(documents, path);
      const steps = stepsAlong(rootAt(number), inner);
      const { key, value, start } = steps.at(-1) ?? { key: undefined, value: rootAt(number), start: 0 };
      const kind = targetOf(value)?.kind;
      const isCollection = inner.length > 0 && (kind === "map" || kind === "list");
      const isKey = steps.length <= inner.length || (at ?? (isCollection ? "key" : "value")) === "key";
      const isAtStart = value.start === value.end || (isKey && key !== undefined);
      const offset = (documents[number]?.start ?? 0) + (isAtStart ? start : value.start);
      return placeOf(within === "" ? offset : Math.max(offset, text.indexOf(within, offset)));
    },
  };
}
