import { EXIT, type ExitCode, type Given, flagOption, textOption } from "../cli/options.ts";
import { redactRewriting, renderRewriting, rewritingJson } from "../edit/rewrite-view.ts";
import { type NewText, type Rewrite, editTexts, replaceFiles } from "../edit/rewrite.ts";
import { placesOf } from "../inspect/explain.ts";
import type { Document } from "../manifest/document.ts";
import type { JsonObject } from "../model/json.ts";
import type { Console } from "./console.ts";
import { sayError } from "./diagnostics.ts";

/** How a rewriting of manifests is proved, shown and written. */
export interface RewriteOptions {
  readonly root: string;
  readonly console: Console;
  /** The target documents as they are now. */
  readonly documents: readonly Document[];
  /** What is wrong with the new texts; nothing where all is well. */
  readonly prove: (texts: readonly NewText[]) => Promise<string | undefined>;
  /** What it is about, for programs. */
  readonly head: JsonObject;
  /** The same for people, in a line. */
  readonly title: string;
  readonly nothing: string;
}

/** Writes the manifests as a rewrite leaves them, all or none, or with `--dry-run` shows what would be written. */
export async function carryOutRewrite(
  given: Given,
  rewrite: Rewrite,
  options: RewriteOptions,
): Promise<ExitCode> {
  const { console, documents } = options;
  const edited = await editTexts(documents, rewrite.draft.edits);
  if (!edited.ok) {
    sayError(console, `${edited.file} cannot be edited`, `${edited.reason}. Nothing was written.`);
    return EXIT.failed;
  }
  const { texts } = edited;
  const fault = texts.length === 0 ? undefined : await options.prove(texts);
  if (fault !== undefined) {
    sayError(
      console,
      "The manifests cannot be changed without changing more than that",
      `${fault}. Nothing was written.`,
    );
    return EXIT.failed;
  }
  const dryRun = flagOption(given, "dryRun");
  if (!dryRun && !write(texts, options)) return EXIT.failed;
  await print(given, rewrite, texts, options);
  return EXIT.done;
}

function write(texts: readonly NewText[], { root, console }: RewriteOptions): boolean {
  const replaced = replaceFiles(root, texts);
  if (replaced.ok) return true;
  sayError(
    console,
    `${replaced.file} cannot be written`,
    replaced.meanwhile
      ? "Somebody has changed it meanwhile. Nothing was written; run the command again."
      : `The system says ${replaced.reason}. Nothing was written.`,
  );
  return false;
}

async function print(
  given: Given,
  rewrite: Rewrite,
  texts: readonly NewText[],
  { console, documents, head, title, nothing }: RewriteOptions,
): Promise<void> {
  const rewriting = redactRewriting(rewrite, console.redactor);
  const dryRun = flagOption(given, "dryRun");
  const sources = new Map(documents.map(({ file, text }) => [file, { file, text }]));
  for (const { file, after } of texts) sources.set(file, { file, text: after });
  const origins = [...rewriting.changes, ...rewriting.left].flatMap(({ origin }) => origin ?? []);
  const placeOf = await placesOf(origins, sources);
  if (textOption(given, "format") === "json") {
    console.json(rewritingJson(rewriting, { head, texts, placeOf, written: !dryRun && texts.length > 0 }));
    return;
  }
  const { style, columns: width } = console;
  console.data(
    renderRewriting(rewriting, { style: style.stdout, width, placeOf, texts, dryRun, title, nothing }),
  );
}
