import { isAddress, parseAddress } from "../model/address.ts";
import type { Removal } from "../model/desired.ts";
import type { Origin } from "../model/diagnostic.ts";
import { isArray, isObject } from "../model/json.ts";
import { type Document, scopesIn } from "./document.ts";
import { type ManifestProblem, manifestProblem } from "./problem.ts";
import { SECTIONS } from "./tables.ts";

/** Returns the `removed:` entries of all documents. */
export function removalsOf(project: Document, documents: readonly Document[]): readonly Removal[] {
  return [project, ...documents].flatMap(removalsIn);
}

function removalsIn({ file, root, value: { removed } }: Document): readonly Removal[] {
  return (isArray(removed) ? [...removed.entries()] : []).flatMap(([at, entry]) => {
    const address = isObject(entry) ? entry.address : undefined;
    return typeof address === "string" && isAddress(address)
      ? [{ address, origin: { file, path: [...root, "removed", at, "address"] } }]
      : [];
  });
}

/**
 * Checks `removed:` for all stages at once: what a stage still declares cannot be forgotten in every
 * stage, and a target's documents speak only for that target.
 */
export function checkRemovals(
  project: Document,
  documents: readonly Document[],
): readonly ManifestProblem[] {
  const problems: ManifestProblem[] = [];
  for (const { address, origin } of removalsOf(project, documents)) {
    const related = declarationOf(address, documents);
    if (related === undefined) continue;
    const detail = `\`removed\` makes state forget it in every stage, and it is still declared. Remove the declaration, or the entry.`;
    const summary = `${address} is both declared and removed`;
    problems.push(manifestProblem("removed-declared", origin, summary, detail, { related }));
  }
  for (const document of documents)
    for (const { address, origin } of removalsIn(document)) {
      const { target = "" } = document.value;
      if (typeof target !== "string" || parseAddress(address)?.target === target) continue;
      const detail = `This document is about target ${target}. Move the entry to a document of the other target, or to \`removed:\` in tasc.yaml.`;
      const summary = `${address} does not belong to target ${target}`;
      problems.push(manifestProblem("removed-elsewhere", origin, summary, detail));
    }
  return problems;
}

/** Returns where any stage declares an address. */
function declarationOf(
  address: Removal["address"],
  documents: readonly Document[],
): Origin | undefined {
  const { target, kind, key = "" } = parseAddress(address) ?? {};
  const section = SECTIONS.find((one) => one.kind === kind)?.name;
  for (const document of documents) {
    if (document.value.target !== target) continue;
    if (section === undefined) return { file: document.file, path: [...document.root, "target"] };
    for (const { path, value } of scopesIn(document)) {
      const resources = value[section];
      if (isObject(resources) && resources[key] !== undefined)
        return { file: document.file, path: [...path, section, key] };
    }
  }
  return undefined;
}
