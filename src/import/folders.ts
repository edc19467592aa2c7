import { DELETED } from "../fields/test-case.ts";
import { compareText } from "../model/address.ts";
import type { LiveTarget, LiveTestCase } from "../model/live.ts";
import type { StateEvent } from "../model/state.ts";
import type { Known } from "./known.ts";

/** A folder that the service shows by id alone, of which no name is known. */
export interface UnnamedFolder {
  readonly id: string;
  /** Apps of the targets that have it. */
  readonly apps: readonly string[];
  /** Names of new test cases in it. */
  readonly testCases: readonly string[];
}

/** Folder id → name, by target id. */
export type FolderNames = ReadonlyMap<string, ReadonlyMap<string, string>>;

export interface FolderSources {
  /** The targets that are imported. */
  readonly targets: readonly LiveTarget[];
  readonly testCases: ReadonlyMap<string, readonly LiveTestCase[]>;
  readonly known: Known;
}

/**
 * Names of folders, from state and from what was given. Two folders of one target cannot have one name, in state as on
 * the service: then neither is known.
 */
export function folderNames(sources: FolderSources, given: ReadonlyMap<string, string>): FolderNames {
  return new Map(sources.targets.map(({ id }) => [id, namesIn(id, sources, given)]));
}

function namesIn(
  targetId: string,
  { testCases, known }: FolderSources,
  given: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const state = known.targets.get(targetId)?.state;
  const live = liveFolders(testCases.get(targetId));
  const learnt = [...(state?.folders ?? [])].map(([name, id]) => [id, name] as const);
  const all = new Map([...learnt, ...given]);
  return new Map([...all].filter(([id]) => live.has(id)));
}

/** Pairs of folders of one target that would have the same name. */
export function nameClashes(
  names: FolderNames,
): readonly { readonly name: string; readonly ids: readonly string[] }[] {
  return [...names.values()].flatMap((own) => {
    const ids = new Map<string, string[]>();
    for (const [id, name] of own) ids.set(name, [...(ids.get(name) ?? []), id]);
    return [...ids].flatMap(([name, all]) =>
      all.length > 1 ? [{ name, ids: all.toSorted(compareText) }] : [],
    );
  });
}

export function unnamedFolders(sources: FolderSources, names: FolderNames): readonly UnnamedFolder[] {
  const found = new Map<string, { apps: Set<string>; testCases: string[] }>();
  for (const { id: targetId, app } of sources.targets) {
    const managed = sources.known.targets.get(targetId)?.testCases.managed;
    for (const { id, status, folderId, description } of sources.testCases.get(targetId) ?? []) {
      if (typeof folderId !== "string" || status === DELETED || managed?.has(id) === true) continue;
      if (names.get(targetId)?.has(folderId) === true) continue;
      const folder = found.get(folderId) ?? { apps: new Set(), testCases: [] };
      found.set(folderId, folder);
      folder.apps.add(app);
      folder.testCases.push(description ?? id);
    }
  }
  return [...found]
    .map(([id, { apps, testCases }]) => ({ id, apps: [...apps], testCases }))
    .toSorted((a, b) => compareText(a.id, b.id));
}

/** Ids of `--folder` in which there is nothing to be declared: their names stay unused. */
export function idleFolders(sources: FolderSources, given: ReadonlyMap<string, string>): readonly string[] {
  const used = new Set(unnamedFolders(sources, new Map()).map(({ id }) => id));
  return [...given.keys()].filter((id) => !used.has(id));
}

/** Ids of `--folder` that no target has. */
export function unknownFolders(
  { targets, testCases }: FolderSources,
  given: ReadonlyMap<string, string>,
): readonly string[] {
  const live = new Set(targets.flatMap(({ id }) => [...liveFolders(testCases.get(id))]));
  return [...given.keys()].filter((id) => !live.has(id));
}

/** What state is to learn of a target's folders: a plan knows them by nothing else. */
export function folderEvents(targetId: string, names: FolderNames, known: Known): readonly StateEvent[] {
  const before = known.targets.get(targetId)?.state?.folders;
  return [...(names.get(targetId) ?? [])]
    .filter(([id, name]) => before?.get(name) !== id)
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([id, name]) => ({ type: "folder", name, id }));
}

function liveFolders(testCases: readonly LiveTestCase[] | undefined): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { folderId } of testCases ?? []) if (typeof folderId === "string") ids.add(folderId);
  return ids;
}
