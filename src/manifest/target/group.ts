import { compareText } from "../../model/address.ts";
import type { Document } from "../document.ts";

/** The documents that add to one target, in the order of their files. */
export interface TargetDocuments {
  readonly key: string;
  readonly documents: readonly Document[];
}

/** Documents by the target they name, sorted by key. */
export function groupByTarget(documents: readonly Document[]): readonly TargetDocuments[] {
  const groups = new Map<string, Document[]>();
  for (const document of documents) {
    const { target } = document.value;
    if (typeof target !== "string") continue;
    const group = groups.get(target);
    if (group === undefined) groups.set(target, [document]);
    else group.push(document);
  }
  return [...groups]
    .map(([key, members]) => ({ key, documents: members }))
    .toSorted((a, b) => compareText(a.key, b.key));
}
