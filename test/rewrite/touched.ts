import { diffLines } from "diff";
import type { EditedText } from "../../src/edit/edit-files.ts";
import type { FileEdit } from "../../src/edit/manifests.ts";
import { entriesAlong } from "../../src/manifest/yaml/nodes.ts";
import { parseTree } from "../../src/manifest/yaml/tree.ts";
import type { Path } from "../../src/model/json.ts";

/**
 * Lines of the old text that are gone although no edit is about them. Tests expect an empty list.
 */
export function strayLines(
  { file, before, after }: EditedText,
  edits: readonly FileEdit[],
): readonly string[] {
  const lines = before.split("\n");
  const allowed = new Set<number>();
  const { root } = parseTree(before);
  let left: ReturnType<typeof parseTree> | undefined;
  const isThere = (path: Path): boolean =>
    entriesAlong((left ??= parseTree(after)).root, path).length > path.length;
  for (const { edit, file: own } of edits) {
    if (own !== file) continue;
    const steps = entriesAlong(root, edit.path);
    const last = steps.at(-1);
    if (last === undefined) continue;
    // An entry that is added to a block changes no existing line.
    const exists = steps.length > edit.path.length;
    if (!exists && !/^[{[*]/.test(before.slice(last.value.start))) continue;
    const from = before.slice(0, last.start).split("\n").length - 1;
    const to = before.slice(0, Math.max(last.value.end, last.start)).split("\n").length - 1;
    for (let line = from; line <= to; line++) allowed.add(line);
    // A deletion also removes the maps that it leaves empty.
    if (edit.kind === "delete")
      for (const { start, value } of steps.filter(
        (_, depth) => !isThere(edit.path.slice(0, depth)),
      )) {
        const first = before.slice(0, start).split("\n").length - 1;
        const last = before.slice(0, value.end).split("\n").length - 1;
        for (let line = first; line <= last; line++) allowed.add(line);
      }
  }
  // When an anchored value changes, its anchor may move to the first alias.
  for (const [at, line] of lines.entries())
    if (/[&*](?:common|state|n\d+)\b/.test(line)) allowed.add(at);
  let at = 0;
  const stray: string[] = [];
  for (const { added, removed, value } of diffLines(before, after))
    for (const line of added ? [] : value.replace(/\n$/, "").split("\n")) {
      // If two lines are identical, a diff may report either of them as moved.
      const fewer = countOf(after, line) < countOf(before, line);
      if (removed && fewer && line.trim() !== "" && !allowed.has(at)) stray.push(line);
      at++;
    }
  return stray;
}

function countOf(text: string, line: string): number {
  return text.split("\n").filter((one) => one === line).length;
}
