import { cached, groupBy } from "../../model/collections.ts";
import { DELETED } from "../../model/fields.ts";
import type { LiveTarget } from "../../model/live.ts";
import { matchedIds } from "../../plan/match.ts";
import type { ImportSources, PlannedProject } from "./planned-project.ts";

/** A folder of a target; the service returns only its id. */
export interface Folder {
  readonly target: LiveTarget;
  readonly id: string;
  readonly name: string | undefined;
  /** Whether the name is that of another stage's folder, so that it may be wrong here. */
  readonly assumed: boolean;
  /** Names of its test cases that are not declared in any manifest. */
  readonly fresh: readonly string[];
}

/** Returns the folders with some names replaced. @param names by folder id */
export function foldersWith(names: ReadonlyMap<string, string>, folders: readonly Folder[]) {
  return folders.map((folder) => {
    const name = names.get(folder.id);
    return name === undefined ? folder : { ...folder, name, assumed: false };
  });
}

/** Target id → folder id → name. */
export type FolderNames = ReadonlyMap<string, ReadonlyMap<string, string>>;

export function folderNamesIn(folders: readonly Folder[]): FolderNames {
  const found = new Map<string, Map<string, string>>();
  for (const { target, id, name } of folders)
    if (name !== undefined) cached(found, target.id, () => new Map<string, string>()).set(id, name);
  return found;
}

/** Returns the folders of the targets to import. @param inferred from other stages */
export function foldersOf(
  { chosen, base }: ImportSources,
  { known }: PlannedProject,
  inferred: FolderNames,
) {
  return chosen.flatMap((target) => {
    const { matched, state } = known.get(target.id) ?? {};
    const managed = matchedIds(matched?.matches ?? new Map());
    const learnt = new Map([...(state?.folders ?? [])].map(([name, id]) => [id, name]));
    const elsewhere = inferred.get(target.id);
    const inFolders = (base.live.testCases.get(target.id) ?? []).filter(
      ({ folderId }) => typeof folderId === "string",
    );
    return [...groupBy(inFolders, ({ folderId }) => folderId ?? "")].map(([folder, own]) => {
      const fresh = own.filter(({ id, status }) => status !== DELETED && !managed.has(id));
      const inside = fresh.map(({ id, description }) => description ?? id);
      const name = learnt.get(folder) ?? elsewhere?.get(folder);
      const assumed = name !== undefined && !learnt.has(folder);
      return { target, id: folder, name, assumed, fresh: inside };
    });
  });
}
