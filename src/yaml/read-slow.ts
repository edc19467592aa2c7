import type { Json } from "../model/json.ts";
import { findCharacters } from "./characters.ts";
import { evaluate } from "./evaluate.ts";
import { explainFaults } from "./explain.ts";
import type { Finding } from "./finding.ts";
import { parseTree } from "./parse-tree.ts";
import { placesOf } from "./place.ts";
import type { YamlProblem } from "./problem.ts";
import type { Tree } from "./tree.ts";

export type Reading =
  | { readonly ok: true; readonly value: Json }
  | {
      readonly ok: false;
      readonly problems: readonly YamlProblem[];
      /** What the text means but for its problems, where that can be told: the rest is then checked in the same run. */
      readonly value?: Json;
    };

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
  const { value, findings } = evaluate(tree.root, (offset) => placeOf(offset).line);
  const all = [
    ...characters.findings,
    ...findDirectives(tree),
    ...findFurtherDocuments(tree),
    ...faults.filter(({ code }) => code !== "too-deep" || !findings.some(isTooDeep)),
    // A line that is not even a pair has no key either, and that has been said.
    ...findings.filter(
      ({ code, offset }) => code !== "key" || !faults.some((fault) => fault.offset === offset),
    ),
  ];
  if (all.length === 0 && !isEmpty(tree)) return { ok: true, value };
  const problems = all.length === 0 ? [emptiness(text)] : all;
  const told = problems.toSorted((a, b) => a.offset - b.offset).map(problemOf);
  return all.length > 0 && all.every(isOfKeys)
    ? { ok: false, problems: told, value }
    : { ok: false, problems: told };

  function problemOf({ offset, ...rest }: Finding): YamlProblem {
    return { ...placeOf(offset), ...rest };
  }
}

/**
 * The parser runs out of stack far below the depth that the evaluation allows: then both have found the same.
 */
function isTooDeep({ code }: Finding): boolean {
  return code === "too-deep";
}

/** A key that is there twice, or that means something to YAML 1.1 alone: all else is as it is written. */
function isOfKeys({ code }: Finding): boolean {
  return code === "duplicate-key" || code === "merge-key";
}

function findDirectives(tree: Tree): Finding[] {
  const foreign = tree.directives.filter(({ text }) => !/^%YAML\s+1\.2\s*$/.test(text));
  return foreign.map(({ offset, text }) => ({
    offset,
    code: "directive",
    message: `\`${text.trim()}\` is not supported: a manifest is YAML 1.2 without directives`,
    hint: "delete this line, and write out the tags that it shortens",
  }));
}

function findFurtherDocuments(tree: Tree): Finding[] {
  return tree.furtherDocuments.map((offset) => ({
    offset,
    code: "multiple-documents",
    message: "a second document begins here, and a manifest file holds one",
    hint: "move it into a file of its own, or delete the `---`",
  }));
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
    hint: "write the manifest, or delete the file",
  };
}
