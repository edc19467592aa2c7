import { type PlaceOf, fieldSections, placeText } from "../inspect/stages.ts";
import type { JsonObject } from "../model/json.ts";
import { fieldName } from "../render/fields.ts";
import { type Block, type Line, Outside, type Section, type View } from "../render/view.ts";
import { count } from "../render/words.ts";
import type { EditedText } from "./edit-files.ts";
import { patchOf } from "./patch.ts";
import type { NotRewritten, Rewriting, Rewritten } from "./rewrite.ts";

export interface RewritingFacts {
  /** What it is about, for programs: stages, the service. */
  readonly head: JsonObject;
  /** The same for people, in a line. */
  readonly title: string;
  /** In place of the summary where there is nothing to do and nothing is left. */
  readonly nothing: string;
  readonly dryRun: boolean;
  readonly texts: readonly EditedText[];
  readonly placeOf: PlaceOf;
}

/** The fields that change by target, what was left and why, and in a rehearsal the change of the files. */
export function rewritingView({ changes, left }: Rewriting, facts: RewritingFacts): View {
  const { head, title, dryRun, texts, placeOf } = facts;
  return {
    json: {
      formatVersion: "1.0",
      ...head,
      written: !dryRun && texts.length > 0,
      summary: { changed: changes.length, left: left.length, files: texts.length },
      changes: changes.map(({ address, path, sensitive, before, after, layer, origin, alsoStages }) => ({
        address,
        path,
        sensitive,
        before: before === undefined ? undefined : new Outside(before),
        after: after === undefined ? undefined : new Outside(after),
        layer,
        ...(placeOf(origin) ?? { file: origin.file }),
        alsoStages,
      })),
      left: left.map(({ address, path, reason, origin }) => ({
        address,
        path,
        reason,
        ...(origin && placeOf(origin)),
      })),
      files: texts.map((text) => ({ file: text.file, diff: patchOf(text) })),
    },
    text: [
      [[{ style: "strong", text: title }]],
      ...fieldSections(changes, (change) => changeBlocks(change, placeOf)),
      leftSection(left, placeOf),
      ...(dryRun ? texts.map(patchSection) : []),
      [summaryLine(changes, left, facts)],
    ],
  };
}

function changeBlocks(change: Rewritten, placeOf: PlaceOf): readonly Block[] {
  const { path, sensitive, before, after, layer, origin, alsoStages = [] } = change;
  const also = alsoStages.length === 0 ? "" : ` (also used by: ${alsoStages.join(", ")})`;
  const field = {
    path,
    ...(sensitive ? { sensitive } : {}),
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  };
  return [{ field }, ["  ", { style: "faint", text: `${placeText(origin, placeOf)}  ${layer}${also}` }]];
}

function leftSection(left: readonly NotRewritten[], placeOf: PlaceOf): Section {
  if (left.length === 0) return [];
  return [
    [{ style: "strong", text: "Left as it is" }],
    ...left.flatMap(({ address, path, reason, origin }): Line[] => {
      const place =
        origin === undefined ? [] : ["  ", { style: "faint" as const, text: placeText(origin, placeOf) }];
      const name = path === undefined ? "" : ` ${fieldName(path)}`;
      return [[`  ${address}${name}`, ...place], `      ${reason}`];
    }),
  ];
}

function patchSection(text: EditedText): Section {
  return patchOf(text)
    .replace(/\n$/, "")
    .split("\n")
    .map((line): Line => {
      if (/^(?:---|\+\+\+) [ab]\//.test(line)) return [{ style: "strong", text: line }];
      if (line.startsWith("+")) return [{ style: "added", text: line }];
      if (line.startsWith("-")) return [{ style: "removed", text: line }];
      return line.startsWith("@") ? [{ style: "faint", text: line }] : line;
    });
}

function summaryLine(
  changes: readonly Rewritten[],
  left: readonly NotRewritten[],
  { texts, dryRun, nothing }: RewritingFacts,
): Line {
  if (changes.length + left.length === 0) return nothing;
  const rest =
    left.length === 0 ? "" : `, ${left.length} left as ${left.length === 1 ? "it is" : "they are"}`;
  if (changes.length === 0) return [{ style: "strong", text: `Nothing can be changed${rest}` }];
  const what = `${count(changes.length, "field")} in ${count(texts.length, "file")}${rest}`;
  const text = dryRun ? `Would change ${what}; nothing was written` : `Changed ${what}`;
  return [{ style: "strong", text }];
}
