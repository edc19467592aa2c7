import { keysIn } from "../manifest/document.ts";
import { projectFolder } from "../manifest/files.ts";
import { readProject } from "../manifest/load.ts";
import { stagesOf } from "../manifest/stages.ts";
import { SECTIONS } from "../manifest/tables.ts";
import { addressOf, compareText, isAddress, targetAddress } from "../model/address.ts";

export type Lookup = "stages" | "addresses" | "targets";

/**
 * Returns words from a project's manifests. Nothing is filled in, so variables and secrets are not
 * needed. Words that are not valid keys are left out: they are mistakes in a manifest, and the
 * shell would have to quote them.
 */
export async function lookUp(lookup: Lookup, root: string): Promise<readonly string[]> {
  const { project, documents } = await readProject(projectFolder(root));
  const isKey = (word: string): boolean => isAddress(targetAddress(word));
  if (lookup === "stages") return project === undefined ? [] : stagesOf(project).filter(isKey);
  const words = documents.flatMap((document): readonly string[] => {
    const { target } = document.value;
    if (typeof target !== "string") return [];
    if (lookup === "targets") return [target].filter(isKey);
    const inner = SECTIONS.flatMap(({ name, kind }) =>
      keysIn([document], name).map((key) => addressOf(kind, target, key)),
    );
    return [targetAddress(target), ...inner].filter(isAddress);
  });
  return [...new Set(words)].toSorted(compareText);
}
