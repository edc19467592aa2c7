import { EXIT, type ExitCode, type Given, flagOption, textOption } from "../cli/options.ts";
import { redactRewriting, renderRewriting, rewritingJson } from "../edit/rewrite-view.ts";
import { type Excluded, type NewText, makeTexts, writeTexts } from "../edit/edit-files.ts";
import type { Rewrite } from "../edit/rewrite.ts";
import { placesOf } from "../inspect/explain.ts";
import type { Document } from "../manifest/document.ts";
import type { JsonObject } from "../model/json.ts";
import type { Console } from "./console.ts";

/** How a rewriting of manifests is proved, shown and written. */
export interface RewriteOptions {
  readonly root: string;
  readonly console: Console;
  /** The target documents as they are now. */
  readonly documents: readonly Document[];
  readonly make: (excluded: Excluded) => Rewrite;
  /** What is wrong with the new texts; nothing where all is well. */
  readonly prove: (texts: readonly NewText[], rewrite: Rewrite) => Promise<string | undefined>;
  /** What it is about, for programs. */
  readonly head: JsonObject;
  /** The same for people, in a line. */
  readonly title: string;
  readonly nothing: string;
}

/** Writes the manifests as a rewriting leaves them, or with `--dry-run` shows what would be written. */
export async function carryOutRewrite(given: Given, options: RewriteOptions): Promise<ExitCode> {
  const { rewrite, texts } = await makeTexts(options.documents, options.make, options.prove);
  if (!flagOption(given, "dryRun")) writeTexts(options.root, texts);
  await print(given, rewrite, texts, options);
  return rewrite.left.some(({ failed }) => failed) ? EXIT.failed : EXIT.done;
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
