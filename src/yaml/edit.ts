import { type Json, sameJson } from "../model/json.ts";
import { EditRefusal, editValue, type YamlEdit } from "./edit-value.ts";
import { parseTree } from "./parse-tree.ts";
import { readFast } from "./read-fast.ts";
import { readSlow } from "./read-slow.ts";
import { reconcile, type Renaming } from "./reconcile.ts";
import { applySplices } from "./splice.ts";
import { TreeIndex } from "./tree-index.ts";
import type { Tree } from "./tree.ts";

export type { YamlEdit } from "./edit-value.ts";

export type Edited =
  { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string };

export type EditOptions = {
  /**
   * Whether a map or list that a deletion leaves empty goes as well, and so on upwards. Else `{}` or `[]`
   * stays.
   */
  readonly prune?: boolean;
};

const BOM = "\ufeff";

/**
 * Makes edits in a YAML text and leaves the rest of it as it is, to the byte: comments, order, quotes,
 * blocks, line ends, the last line with or without its end, a byte order mark.
 *
 * Each edit refers to what those before it left. `set` makes missing maps on its way and may append to a
 * list; a map or list that is set onto another one changes only where the two differ. `delete` of what is not
 * there does nothing. What aliases elsewhere stand for does not change, see `reconcile`. The result is read
 * again, and refused unless it means exactly what the edits say.
 *
 * Loads `yaml`: import this module lazily.
 *
 * @returns the new text, or why there is none; then nothing is to be written.
 */
export function editYaml(text: string, edits: readonly YamlEdit[], options: EditOptions = {}): Edited {
  const bom = text.startsWith(BOM) ? BOM : "";
  try {
    return { ok: true, text: bom + edited(text.slice(bom.length), edits, options.prune ?? false) };
  } catch (error) {
    if (error instanceof EditRefusal) return { ok: false, reason: error.message };
    throw error;
  }
}

function edited(text: string, edits: readonly YamlEdit[], prune: boolean): string {
  let now = { text, value: read(text) };
  for (const batch of batches(edits)) {
    const value = editValue(now.value, batch, prune);
    now = { text: rewritten(now.text, value, batch[0]), value };
  }
  return now.text;
}

function read(text: string): Json {
  const value = readFast(text);
  if (value !== undefined) return value;
  const reading = readSlow(text);
  if (reading.ok) return reading.value;
  const [problem] = reading.problems;
  throw new EditRefusal(`line ${problem?.line ?? 1}: ${problem?.message ?? "the text cannot be read"}`);
}

/**
 * Edits that are made at once: a renaming alone, since it cannot be told from the values before and after.
 */
function batches(edits: readonly YamlEdit[]): YamlEdit[][] {
  const all: YamlEdit[][] = [];
  for (const edit of edits) {
    const last = all.at(-1);
    if (last === undefined || edit.kind === "rename" || last[0]?.kind === "rename") all.push([edit]);
    else last.push(edit);
  }
  return all;
}

function rewritten(text: string, value: Json, edit: YamlEdit | undefined): string {
  const tree = parseTree(text);
  const spliced = applySplices(text, reconcile(tree, value, renamingOf(tree, edit)));
  const result = spliced === undefined ? undefined : withLastLineAsBefore(text, spliced);
  if (result === undefined || !means(result, value))
    throw new EditRefusal("this cannot be changed without changing more than that; edit the file by hand");
  return result;
}

function means(text: string, value: Json): boolean {
  const fast = readFast(text);
  if (fast !== undefined) return sameJson(fast, value);
  const reading = readSlow(text);
  return reading.ok && sameJson(reading.value, value);
}

/** Behind an alias there is no key to rename: what it stands for is written out with the new one. */
function renamingOf(tree: Tree, edit: YamlEdit | undefined): Renaming | undefined {
  if (edit?.kind !== "rename") return undefined;
  const index = new TreeIndex(tree.root);
  const above = index.steps(edit.path.slice(0, -1));
  const map = above.at(-1)?.value;
  if (map?.kind !== "map" || above.some(({ value }) => value.kind === "alias")) return undefined;
  const pair = index.pair(map, String(edit.path.at(-1)));
  return pair && { pair, key: edit.key };
}

function withLastLineAsBefore(before: string, after: string): string {
  const wasEnded = before.endsWith("\n");
  if (wasEnded === after.endsWith("\n")) return after;
  return wasEnded ? after + (before.endsWith("\r\n") ? "\r\n" : "\n") : after.replace(/(?:\r?\n)+$/, "");
}
