import type { Document } from "../manifest/document.ts";
import type { FileEdit } from "./draft.ts";

/** A manifest with what it was and what it is to be; texts without byte order mark. */
export interface NewText {
  readonly file: string;
  readonly bom: boolean;
  readonly before: string;
  readonly after: string;
}

export type NewTexts =
  | { readonly ok: true; readonly texts: readonly NewText[] }
  | { readonly ok: false; readonly file: string; readonly reason: string };

/** Makes the edits in the texts of their documents; all else in these stays as it is. */
export async function editTexts(
  documents: readonly Document[],
  edits: readonly FileEdit[],
): Promise<NewTexts> {
  const { editYaml } = await import("../yaml/edit.ts");
  const texts: NewText[] = [];
  for (const { file, bom, text } of documents) {
    const own = edits.filter((one) => one.file === file).map(({ edit }) => edit);
    if (own.length === 0) continue;
    const edited = editYaml(text, own, { prune: true });
    if (!edited.ok) return { ok: false, file, reason: edited.reason };
    if (edited.text !== text) texts.push({ file, bom, before: text, after: edited.text });
  }
  return { ok: true, texts };
}
