import type { Answer, HandlerCall } from "./http.ts";
import { type ServerRuntime, badValue, notFound } from "./input.ts";
import { type Settings, type TestCase, type TestTarget, isLive } from "./resources.ts";
import type { Store } from "./store.ts";

export type Service = {
  readonly store: Store;
  readonly runtime: ServerRuntime;
  /** The behaviour as it is now. */
  settings: Settings;
};

/** One of the 14 operations: answers, or throws a Refusal and nothing is written. */
export type Operation = (service: Service, call: HandlerCall) => Answer;

/** One of those on what belongs to a test target. */
export type TargetOperation = (service: Service, call: HandlerCall, target: TestTarget) => Answer;

/** Looks up the target that the path names, before anything else of the request. */
export function inTarget(run: TargetOperation): Operation {
  return (service, call) => {
    const target = service.store.testTargets.get(call.id("testTargetId"));
    if (target === undefined) throw notFound("test target");
    return run(service, call, target);
  };
}

/** A resource that a path names. One of another test target is as unknown as one that never was. */
export function ownedBy<T extends { readonly testTargetId: string }>(
  target: TestTarget,
  row: T | undefined,
  what: string,
): T {
  if (row?.testTargetId !== target.id) throw notFound(what);
  return row;
}

export function liveCase({ store }: Service, testTargetId: string, id: string): TestCase | undefined {
  const found = store.testCases.get(id);
  return found?.testTargetId === testTargetId && isLive(found) ? found : undefined;
}

/** The folder of that name, made when the target has none; null is not a folder (Test case, `folderName`). */
export function folderIdNamed({ store, runtime }: Service, testTargetId: string, name: string | null) {
  if (name === null) return null;
  for (const folder of store.folders.of(testTargetId)) if (folder.name === name) return folder.id;
  const folder = { id: runtime.newId(), testTargetId, name };
  store.folders.insert(folder);
  return folder.id;
}

/** The names as a case bears them, each once; those the target does not know become tags of the target. */
export function tagsNamed({ store }: Service, testTargetId: string, names: readonly string[]) {
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

export function openEnum(value: string, settings: Settings): string {
  return settings.unknownEnums ? `UNLISTED_${value}` : value;
}
