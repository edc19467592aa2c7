import { type Desired, type DesiredResource, type DesiredTarget, resourcesOf } from "../model/desired.ts";
import type { LiveElement, LiveTestCase, Read, Reader } from "../model/live.ts";
import type { State } from "../model/state.ts";
import { isUnknown, reveal } from "../model/value.ts";
import { declaredElements, sameElements } from "./elements.ts";
import { type PlanInput, type Scope, targetInScope } from "./input.ts";
import { type Planned, liveTargets, makePlan } from "./plan.ts";

/**
 * What a plan keeps of a live test case. Elements are nine tenths of a list, and a plan needs them only where they are
 * declared, and as they came only where they differ; so the rest is let go as it streams by. And a text that is as
 * declared is kept once, as the manifest has it. Without this, a service of 100,000 test cases would have to fit into
 * memory whole.
 *
 * It decides nothing: what is let go is what no comparison asks for, and what is kept reads as it came.
 */
function retaining(target: DesiredTarget, state: State | undefined): (live: LiveTestCase) => LiveTestCase {
  const declaring = target.testCases.filter((resource) => resource.fields["elements"] !== undefined);
  const byId = new Map<string, DesiredResource>();
  const byName = new Map<string, DesiredResource[]>();
  for (const resource of declaring) {
    const id = resource.id ?? state?.bindings.get(resource.address)?.id;
    if (id !== undefined) byId.set(id, resource);
    for (const name of namesOf(resource)) byName.set(name, [...(byName.get(name) ?? []), resource]);
  }
  const share = sharing(target);
  return (live) => {
    const candidates =
      declaring.length === 0
        ? declaring
        : [
            byId.get(live.id),
            ...(byName.get(`description ${live.description ?? ""}`) ?? []),
            ...(byName.get(`externalId ${live.externalId ?? ""}`) ?? []),
          ].filter((resource) => resource !== undefined);
    return share(live, keptElements(live.elements, candidates));
  };
}

/** Test cases are told apart by their names here: where one is mistaken for another, nothing is shared. */
function sharing(
  target: DesiredTarget,
): (live: LiveTestCase, elements: LiveTestCase["elements"]) => LiveTestCase {
  const byDescription = new Map<string, DesiredResource>();
  for (const resource of target.testCases) {
    const { description } = resource.fields;
    if (typeof description === "string") byDescription.set(description, resource);
  }
  const folders = new Map<string, string>();
  return (live, elements) => {
    const fields = byDescription.get(live.description ?? "")?.fields ?? {};
    const { discovery } = live;
    return {
      ...live,
      description: sharedText(live.description, fields["description"]),
      entryPointUrlPath: sharedText(live.entryPointUrlPath, fields["entryPointUrlPath"]),
      folderId: sharedFolder(folders, live.folderId),
      externalId: sharedText(live.externalId, fields["externalId"]),
      tags: sharedTexts(live.tags, fields["tags"]),
      elements,
      discovery:
        discovery === undefined
          ? undefined
          : { ...discovery, freePrompt: sharedText(discovery.freePrompt, fields["discovery.prompt"]) },
    };
  };
}

/** The declared text in place of an equal one. */
function sharedText<T>(live: T, declared: unknown): T {
  return isEqual(live, declared) ? declared : live;
}

function isEqual<T>(live: T, declared: unknown): declared is T {
  return live === declared;
}

function sharedTexts(live: readonly string[] | undefined, declared: unknown): readonly string[] | undefined {
  return live !== undefined && isSameList(live, declared) ? declared : live;
}

function isSameList(live: readonly string[], declared: unknown): declared is readonly string[] {
  return (
    Array.isArray(declared) &&
    declared.length === live.length &&
    live.every((text, at) => text === declared[at])
  );
}

/** Many test cases are in few folders. */
function sharedFolder(folders: Map<string, string>, id: LiveTestCase["folderId"]): LiveTestCase["folderId"] {
  if (typeof id !== "string") return id;
  const known = folders.get(id);
  if (known === undefined) folders.set(id, id);
  return known ?? id;
}

function namesOf({ fields }: DesiredResource): readonly string[] {
  return ["description", "externalId"].flatMap((name) => {
    const value = fields[name];
    if (value === undefined || isUnknown(value)) return [];
    const text = reveal(value);
    return typeof text === "string" ? [`${name} ${text}`] : [];
  });
}

function keptElements(
  elements: readonly LiveElement[] | undefined,
  candidates: readonly DesiredResource[],
): readonly LiveElement[] | undefined {
  if (elements === undefined || candidates.length === 0) return undefined;
  const same = candidates.every(({ fields }) => {
    const value = fields["elements"];
    return value !== undefined && !isUnknown(value) && sameElements(declaredElements(value), elements);
  });
  return same ? elements.map((element) => ({ ...element, raw: NOTHING })) : elements;
}

const NOTHING: LiveElement["raw"] = {};

/** All that a plan follows from, but for what is read. */
export type RefreshOptions = Omit<PlanInput, "live">;

export interface Refreshed {
  readonly input: PlanInput;
  readonly planned: Planned;
}

/** The project cut down to the targets of which anything can be in scope: the others are not read. */
export function desiredInScope(desired: Desired, scope: Scope, states: ReadonlyMap<string, State>): Desired {
  const targets = desired.targets.filter((target) => {
    const orphans = states.get(target.key)?.bindings.keys() ?? [];
    return targetInScope(scope, [...resourcesOf(target).map((resource) => resource.address), ...orphans]);
  });
  return { ...desired, targets };
}

/**
 * Reads the service and plans: one request for all targets, and one for the test cases of each managed target, side
 * by side (design contract, section 2).
 */
export async function refresh<F>(reader: Reader<F>, options: RefreshOptions): Promise<Read<Refreshed, F>> {
  const input = { ...options, desired: desiredInScope(options.desired, options.scope, options.states) };
  const targets = await reader.listTargets();
  if (!targets.ok) return targets;
  const testCases = await readTestCases(reader, input, liveTargets(input, targets.value));
  if (!testCases.ok) return testCases;
  const whole: PlanInput = { ...input, live: { targets: targets.value, testCases: testCases.value } };
  return { ok: true, value: { input: whole, planned: makePlan(whole) } };
}

/** By target id. A function of its own, so that what only the reading needs is gone when the plan is made. */
async function readTestCases<F>(
  reader: Reader<F>,
  { desired, states }: RefreshOptions,
  ids: ReadonlyMap<string, string>,
): Promise<Read<ReadonlyMap<string, readonly LiveTestCase[]>, F>> {
  const keepers = desired.targets.flatMap((target) => {
    const id = ids.get(target.key);
    return id === undefined ? [] : [[id, retaining(target, states.get(target.key))] as const];
  });
  const reads = [...new Map(keepers)].map(
    async ([id, keep]) => [id, await reader.listTestCases(id, keep)] as const,
  );
  const testCases = new Map<string, readonly LiveTestCase[]>();
  for (const [id, list] of await Promise.all(reads)) {
    if (!list.ok) return list;
    testCases.set(id, list.value);
  }
  return { ok: true, value: testCases };
}
