import type { Answer, HandlerCall } from "./http.ts";
import { type ServerRuntime, badValue, notFound } from "./input.ts";
import { type Settings, type TestCase, type TestTarget, isLive } from "./resources.ts";
import type { Store } from "./store.ts";

export type Service = {
  readonly store: Store;
  readonly runtime: ServerRuntime;
  /** The current behaviour. */
  settings: Settings;
};

/** One of the 14 operations. If it throws a Refusal, nothing is written. */
export type Operation = (service: Service, call: HandlerCall) => Answer;

/** An operation on something that belongs to a test target. */
export type TargetOperation = (service: Service, call: HandlerCall, target: TestTarget) => Answer;

/** Finds the target in the path, before it reads anything else of the request. */
export function inTarget(run: TargetOperation): Operation {
  return (service, call) => {
    const target = service.store.testTargets.get(call.id("testTargetId"));
    if (target === undefined) throw notFound("test target");
    return run(service, call, target);
  };
}

/** Returns a resource that a path names. A resource of another test target counts as unknown. */
export function ownedBy<T extends { readonly testTargetId: string }>(
  target: TestTarget,
  row: T | undefined,
  what: string,
): T {
  if (row?.testTargetId !== target.id) throw notFound(what);
  return row;
}

export function liveCase(
  { store }: Service,
  testTargetId: string,
  id: string,
): TestCase | undefined {
  const found = store.testCases.get(id);
  return found?.testTargetId === testTargetId && isLive(found) ? found : undefined;
}

/**
 * Returns the folder with this name, and creates it if it is missing; null is not a folder (Test
 * case, `folderName`).
 */
export function folderIdNamed(
  { store, runtime }: Service,
  testTargetId: string,
  name: string | null,
) {
  if (name === null) return null;
  for (const folder of store.folders.of(testTargetId)) if (folder.name === name) return folder.id;
  const folder = { id: runtime.newId(), testTargetId, name };
  store.folders.insert(folder);
  return folder.id;
}

/**
 * Returns the tags of a test case without duplicates. Adds those that the target does not have to
 * the target.
 */
export function tagsNamed({ store }: Service, testTargetId: string, names: readonly string[]) {
  const tags = [...new Set(names)];
  const target = store.testTargets.get(testTargetId);
  const unknown = tags.filter((tag) => !target?.tags.includes(tag));
  if (target !== undefined && unknown.length > 0)
    store.testTargets.update({ ...target, tags: [...target.tags, ...unknown] });
  return tags;
}

/**
 * Finds the only live test case with this name (operation 10, `prerequisiteName`); the name is its
 * description.
 */
export function prerequisiteIdNamed(
  { store }: Service,
  testTargetId: string,
  name: string,
): string {
  const named = [...store.testCases.of(testTargetId)].filter(
    (testCase) => isLive(testCase) && testCase.description === name,
  );
  const [found] = named;
  if (found === undefined)
    throw badValue("prerequisiteName", "names no test case of the test target");
  if (named.length > 1)
    throw badValue("prerequisiteName", `is the name of ${named.length} test cases`);
  return found.id;
}

export function openEnum(value: string, settings: Settings): string {
  return settings.unknownEnums ? `UNLISTED_${value}` : value;
}
