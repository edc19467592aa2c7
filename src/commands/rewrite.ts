import { type Excluded, type NewText, makeTexts, writeTexts } from "../edit/edit-files.ts";
import { rewritingView } from "../edit/rewrite-view.ts";
import type { Rewrite } from "../edit/rewrite.ts";
import { placesIn } from "../manifest/problem.ts";
import type { Document } from "../manifest/document.ts";
import { EXIT, type ExitCode } from "../model/error.ts";
import type { JsonObject } from "../model/json.ts";
import type { Console } from "./context.ts";

/** How a rewriting of manifests is proved, shown and written. */
export interface RewriteOptions {
  readonly root: string;
  readonly dryRun: boolean;
  readonly format: string | undefined;
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
export async function runRewrite(options: RewriteOptions, console: Console): Promise<ExitCode> {
  const { documents, dryRun } = options;
  const { rewrite, texts } = await makeTexts(documents, options.make, options.prove);
  if (!dryRun) writeTexts(options.root, texts);
  const sources = new Map(documents.map(({ file, text }) => [file, { file, text }]));
  for (const { file, after } of texts) sources.set(file, { file, text: after });
  const placeOf = await placesIn(sources);
  console.show(rewritingView(rewrite, { ...options, texts, placeOf }), options.format);
  return rewrite.left.some(({ failed }) => failed) ? EXIT.failed : EXIT.done;
}
