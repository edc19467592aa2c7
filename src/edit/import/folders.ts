import type { Address } from "../../model/address.ts";
import { groupBy } from "../../model/collections.ts";
import { DELETED } from "../../model/fields.ts";
import { matchedIds } from "../../plan/match.ts";
import type { MatchedTarget } from "../../plan/matched-target.ts";
import type { Manifests } from "../manifests.ts";
import { type Merging, oneToOne } from "./merge-stage.ts";
import type { Folder, ImportSources } from "./request.ts";

/** Returns the folders with some names replaced. @param names by folder id */
export function foldersWith(names: ReadonlyMap<string, string>, folders: readonly Folder[]) {
  return folders.map((folder) => {
    const name = names.get(folder.id);
    return name === undefined ? folder : { ...folder, name, assumed: false };
  });
}

/**
 * Returns the folders of the targets to import, with names from state or from other stages. A name
 * that is known from one target holds for all that show the folder.
 */
export function foldersOf(sources: ImportSources, { project, merged }: Merging) {
  const { chosen, base } = sources;
  const known = chosen.flatMap(({ id }) => project.known.get(id) ?? []);
  const learnt = new Map(
    known.flatMap(({ state }) => [...(state?.folders ?? [])].map(([name, id]) => [id, name])),
  );
  const elsewhere = new Map(
    known.flatMap(({ matched }) => namesElsewhere(matched, merged, project.manifests, sources)),
  );
  return chosen.flatMap((target) => {
    const managed = matchedIds(project.known.get(target.id)?.matched?.matches ?? new Map());
    const inFolders = (base.live.testCases.get(target.id) ?? []).filter(
      ({ folderId }) => typeof folderId === "string",
    );
    return [...groupBy(inFolders, ({ folderId }) => folderId ?? "")].map(([id, own]): Folder => {
      const fresh = own.filter((one) => one.status !== DELETED && !managed.has(one.id));
      return {
        target,
        id,
        name: learnt.get(id) ?? elsewhere.get(id),
        assumed: !learnt.has(id) && elsewhere.has(id),
        fresh: fresh.map((one) => one.description ?? one.id),
      };
    });
  });
}

/**
 * Infers names of a target's folders: if all test cases of a folder have one folder name in other
 * stages, the folder has that name.
 */
function namesElsewhere(
  matched: MatchedTarget | undefined,
  merged: ReadonlySet<Address>,
  manifests: Manifests,
  { stages, desired: { stage: here } }: ImportSources,
): readonly (readonly [id: string, name: string])[] {
  const field = { name: "folder", path: ["folder"] };
  const pairs = [...(matched?.matches ?? [])].flatMap(([address, { live }]) => {
    const id = live?.folderId;
    if (typeof id !== "string" || !merged.has(address)) return [];
    const others = stages.filter((stage) => stage !== here && manifests.exists(stage, address));
    return others.map((stage) => {
      const name = manifests.written({ stage, address, field });
      return [id, typeof name === "string" ? name : ""] as const;
    });
  });
  const distinct = new Map(pairs.map((pair) => [JSON.stringify(pair), pair]));
  return oneToOne([...distinct.values()]).filter(([, name]) => name !== "" && !name.includes("$"));
}
