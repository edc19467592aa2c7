import { isLive } from "../data/testCase.ts";
import { badValue } from "../read/refusal.ts";
import type { Service } from "../service.ts";

/*
 * What requests say by name and the service keeps by id or once: folders, tags, prerequisites.
 */

/** The folder of that name, made when the target has none; null is no folder (Test case, `folderName`). */
export function folderIdNamed(
  { store, world }: Service,
  testTargetId: string,
  name: string | null,
): string | null {
  if (name === null) return null;
  for (const folder of store.folders.of(testTargetId)) if (folder.name === name) return folder.id;
  const folder = { id: world.newId(), testTargetId, name };
  store.folders.insert(folder);
  return folder.id;
}

/** The names as a case bears them, each once; those the target does not know become tags of the target. */
export function tagsNamed(
  { store }: Service,
  testTargetId: string,
  names: readonly string[],
): readonly string[] {
  const tags = [...new Set(names)];
  const target = store.testTargets.get(testTargetId);
  const unknown = tags.filter((tag) => !target?.tags.includes(tag));
  if (target !== undefined && unknown.length > 0)
    store.testTargets.update({ ...target, tags: [...target.tags, ...unknown] });
  return tags;
}

/** The one live case of that name (operation 10, `prerequisiteName`); a case's name is its description. */
export function prerequisiteIdNamed({ store }: Service, testTargetId: string, name: string): string {
  const named = [...store.testCases.of(testTargetId)].filter(
    (testCase) => isLive(testCase) && testCase.description === name,
  );
  const [found] = named;
  if (found === undefined) throw badValue("prerequisiteName", "names no test case of the test target");
  if (named.length > 1) throw badValue("prerequisiteName", `is the name of ${named.length} test cases`);
  return found.id;
}
