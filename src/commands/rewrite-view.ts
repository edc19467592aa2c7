import { type PlaceOf, fieldSections } from "../inspect/stages.ts";
import type { Document } from "../manifest/document.ts";
import { type SourceText, placesIn } from "../manifest/problem.ts";
import { EXIT } from "../model/error.ts";
import { type JsonObject, defined } from "../model/json.ts";
import { placeText } from "../render/diagnostics.ts";
import { outside } from "../render/redact.ts";
import { type Line, type Section, type View, faint, strong } from "../render/view.ts";
import { fieldName } from "../render/words.ts";
import { count } from "../model/words.ts";
import { type EditedText, makeTexts, writeTexts } from "../edit/edit-files.ts";
import { patchOf } from "../edit/patch.ts";
import type { Excluded, NotRewritten, Rewrite } from "../edit/rewrite.ts";

export interface RewriteOptions {
  readonly root: string;
  readonly dryRun: boolean;
  readonly documents: readonly Document[];
  readonly make: (excluded: Excluded) => Rewrite;
  /** Returns what is wrong with the new texts; undefined if they are right. */
  readonly prove: (texts: readonly EditedText[], rewrite: Rewrite) => Promise<string | undefined>;
  /** The subject for programs: stages, the service. */
  readonly head: JsonObject;
  /** The subject for people, on one line. */
  readonly title: string;
  /** Replaces the summary if nothing is to be changed and nothing is left. */
  readonly nothing: string;
  /** Returns what the user should do after that, as the end of a sentence with a full stop. */
  readonly next: (rewrite: Rewrite) => string | undefined;
}

/** Writes the rewritten manifests or, with `dryRun`, shows what would be written. */
export async function carryOut(options: RewriteOptions): Promise<View> {
  const { documents, dryRun, root, head, title, nothing } = options;
  const { rewrite, texts } = await makeTexts(documents, options.make, options.prove);
  if (!dryRun) writeTexts(root, texts);
  const { changes, left } = rewrite;
  const next = options.next(rewrite);
  const sources = new Map<string, SourceText>(
    documents.map(({ file, text }) => [file, { file, text }]),
  );
  for (const { file, after, tree } of texts) sources.set(file, { file, text: after, tree });
  const placeOf = await placesIn(sources);
  const placed = changes.map((one) => ({
    ...one,
    layer: one.slot.layer,
    place: placeOf(one.slot),
  }));
  return {
    // Made on demand, because the diffs take a tenth of the time.
    get json() {
      return {
        formatVersion: "1.0",
        ...head,
        written: !dryRun && texts.length > 0,
        summary: { changed: changes.length, left: left.length, files: texts.length },
        changes: placed.map(
          ({ address, path, sensitive, before, after, layer, place, alsoStages }) => ({
            address,
            path,
            sensitive,
            before: outside(before),
            after: outside(after),
            layer,
            ...place,
            alsoStages,
          }),
        ),
        left: left.map(({ address, path, reason, origin, conflict }) => ({
          address,
          path,
          reason,
          conflict: conflict && {
            yours: outside(conflict.yours),
            theirs: outside(conflict.theirs),
            applied: outside(conflict.applied),
          },
          ...(origin && placeOf(origin)),
        })),
        files: texts.map((text) => ({ file: text.file, diff: patchOf(text) })),
        next,
      };
    },
    text: [
      [[strong(title)]],
      ...fieldSections(
        placed,
        ({ path, sensitive, before, after, layer, place, alsoStages = [] }) => {
          const also = alsoStages.length === 0 ? "" : ` (also used by: ${alsoStages.join(", ")})`;
          return [
            { field: { path, ...defined({ sensitive, before, after }) } },
            ["  ", faint(`${placeText(place)}  ${layer}${also}`)],
          ];
        },
      ),
      leftSection(left, placeOf),
      ...(dryRun ? texts.map((text) => patchSection(patchOf(text))) : []),
      [
        changes.length + left.length === 0
          ? nothing
          : [strong(summaryText(rewrite, texts.length, dryRun))],
        ...(next === undefined ? [] : [`Next: ${next}`]),
      ],
    ],
    exitCode: left.some((one) => one.failed) ? EXIT.failed : EXIT.done,
  };
}

function leftSection(left: readonly NotRewritten[], placeOf: PlaceOf): Section {
  if (left.length === 0) return [];
  return [
    [strong("Left as it is")],
    ...left.flatMap(({ address, path, reason, origin }): Line[] => {
      const place = origin === undefined ? [] : ["  ", faint(placeText(placeOf(origin)))];
      const name = path === undefined ? "" : ` ${fieldName(path)}`;
      return [
        [`  ${address}${name}`, ...place],
        ...reason.split("\n").map((line) => `      ${line}`),
      ];
    }),
  ];
}

function patchSection(patch: string): Section {
  return patch
    .replace(/\n$/, "")
    .split("\n")
    .map((line): Line => {
      if (/^(?:---|\+\+\+) [ab]\//.test(line)) return [strong(line)];
      if (line.startsWith("+")) return [{ style: "added", text: line }];
      if (line.startsWith("-")) return [{ style: "removed", text: line }];
      return line.startsWith("@") ? [faint(line)] : line;
    });
}

function summaryText(
  { changes, left: { length: left } }: Rewrite,
  files: number,
  dryRun: boolean,
): string {
  const rest = left === 0 ? "" : `, ${left} left as ${left === 1 ? "it is" : "they are"}`;
  if (changes.length === 0) return `Nothing can be changed${rest}`;
  const what = `${count(changes.length, "field")} in ${count(files, "file")}${rest}`;
  return dryRun ? `Would change ${what}; nothing was written` : `Changed ${what}`;
}
