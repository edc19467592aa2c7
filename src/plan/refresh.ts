import { type Desired, type DesiredResource, type DesiredTarget, resourcesOf } from "../model/desired.ts";
import { type Json, type JsonObject, sameJson } from "../model/json.ts";
import {
  type LiveElement,
  type LiveTarget,
  type LiveTestCase,
  type Reader,
  sideBySide,
} from "../model/live.ts";
import type { State } from "../model/state.ts";
import { type Value, type ValueObject, isSensitive, isUnknown } from "../model/value.ts";
import { declaredElements, sameElements } from "./elements.ts";
import { type PlanInput, type Scope, isEverything, targetInScope } from "./input.ts";
import { lazy, matchTargets, matchedIds, namesOf } from "./match.ts";
import { memoryOf } from "./memory.ts";
import { type LiveMatch, type Planned, liveTargets, makePlan } from "./plan.ts";
import { isAsDeclared } from "./resources.ts";

/**
 * What a plan keeps of a live test case. Elements are nine tenths of a list, and a plan needs them only where they are
 * declared, and as they came only where they differ; so the rest is let go as it streams by. And what is as declared is
 * kept once, as the manifest has it. Without this, a service of 100,000 test cases would have to fit into memory whole.
 *
 * What is let go is what no comparison asks for, and what is kept reads as it came. Most test cases are bound and as
 * declared: that is found out on the way in, while the answer is read, and not asked again.
 */
function retaining(
  target: DesiredTarget,
  state: State | undefined,
  { fingerprints, rediscover, planOnly }: RefreshOptions,
): (live: LiveTestCase) => LiveTestCase {
  const bound = boundResources(target, state);
  // What an interrupted creation made is told only when all have been read.
  const isSettled = state?.intents.size === 0;
  const names = lazy(() => new Names(target.testCases));
  const share = sharing();
  return (live) => {
    const own = bound.get(live.id);
    if (own !== undefined && isSettled) {
      const memory = memoryOf(own.address, live.id, state, fingerprints);
      if (isAsDeclared(own, live, memory)) {
        if (planOnly === true && !rediscover.has(own.address))
          return settled(live, own, own.id ?? memory.binding?.id);
        return share(live, own, sharedElements(live.elements, own), own);
      }
    }
    const named = names().of(live);
    const candidates = own === undefined ? named : [own, ...named];
    return share(live, own ?? named[0], keptElements(live.elements, candidates));
  };
}

/** Of a test case that a plan has nothing to say of: what tells others from it. */
function settled(live: LiveTestCase, asDeclared: DesiredResource<"testCase">, id = live.id): LiveTestCase {
  return {
    id,
    description: sharedText(live.description, asDeclared.fields["description"]),
    status: live.status,
    runStatus: undefined,
    type: undefined,
    entryPointUrlPath: undefined,
    folderId: undefined,
    externalId: undefined,
    tags: undefined,
    prerequisiteId: undefined,
    elements: undefined,
    asDeclared,
    discovery: undefined,
  };
}

/** By the id that the manifest or state says; what two of them say is left to matching. */
function boundResources(
  { testCases }: DesiredTarget,
  state: State | undefined,
): ReadonlyMap<string, DesiredResource<"testCase">> {
  const bound = new Map<string, DesiredResource<"testCase">>();
  const contested = new Set<string>();
  for (const resource of testCases) {
    const id = resource.id ?? state?.bindings.get(resource.address)?.id;
    if (id === undefined) continue;
    if (bound.has(id)) contested.add(id);
    bound.set(id, resource);
  }
  for (const id of contested) bound.delete(id);
  return bound;
}

/** Test cases by what they may be called. */
class Names {
  readonly #known = new Map<string, DesiredResource[]>();

  constructor(resources: readonly DesiredResource[]) {
    for (const resource of resources)
      for (const name of namedKeys(resource)) {
        const known = this.#known.get(name);
        if (known === undefined) this.#known.set(name, [resource]);
        else known.push(resource);
      }
  }

  of({ description = "", externalId }: LiveTestCase): readonly DesiredResource[] {
    const known = (name: string): readonly DesiredResource[] => this.#known.get(name) ?? [];
    return [...known(`name ${description}`), ...known(`externalId ${externalId ?? ""}`)];
  }
}

type Share = (
  live: LiveTestCase,
  declared: DesiredResource | undefined,
  elements: LiveTestCase["elements"],
  asDeclared?: LiveTestCase["asDeclared"],
) => LiveTestCase;

/** Where a test case is mistaken for another of the same name, nothing is shared. */
function sharing(): Share {
  const texts = new Map<string, string>();
  return (live, declared, elements, asDeclared) => {
    const fields = declared?.fields ?? NO_FIELDS;
    const { discovery } = live;
    // Written out: what is made by spreading gets a shape of its own, which takes more room than the rest.
    return {
      id: live.id,
      description: sharedText(live.description, fields["description"]),
      status: live.status,
      runStatus: live.runStatus,
      type: live.type,
      entryPointUrlPath: sharedText(live.entryPointUrlPath, fields["entryPointUrlPath"]),
      folderId: sharedFolder(texts, live.folderId),
      externalId: sharedText(live.externalId, fields["externalId"]),
      tags: sharedTexts(live.tags, fields["tags"]),
      prerequisiteId: live.prerequisiteId,
      elements,
      asDeclared,
      discovery:
        discovery === undefined
          ? undefined
          : {
              updatedAt: discovery.updatedAt,
              status: discovery.status,
              freePrompt: sharedText(discovery.freePrompt, fields["discovery.prompt"]),
              abortCause: discovery.abortCause,
              message: discovery.message,
            },
    };
  };
}

const NO_FIELDS: DesiredResource["fields"] = {};

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

/** What a declared test case may be found by, with the field that says it. */
function namedKeys(resource: DesiredResource): readonly string[] {
  const { name, externalId } = namesOf(resource);
  return [
    ...(name === undefined ? [] : [`name ${name}`]),
    ...(externalId === undefined ? [] : [`externalId ${externalId}`]),
  ];
}

function keptElements(
  elements: readonly LiveElement[] | undefined,
  candidates: readonly DesiredResource[],
): readonly LiveElement[] | undefined {
  const declaring = candidates.filter(({ fields }) => fields["elements"] !== undefined);
  if (elements === undefined || declaring.length === 0) return undefined;
  const same = declaring.every(({ fields }) => {
    const value = fields["elements"] ?? null;
    return !isUnknown(value) && sameElements(declaredElements(value), elements);
  });
  return same ? sharedElements(elements, declaring[0]) : elements;
}

/** Of elements that are as declared: none where none are declared. */
function sharedElements(
  elements: readonly LiveElement[] | undefined,
  resource: DesiredResource | undefined,
): readonly LiveElement[] | undefined {
  if (resource?.fields["elements"] === undefined) return undefined;
  const declared = declaredElements(resource.fields["elements"]);
  return elements?.map(({ id, parts }, at) => ({
    id,
    parts: sharedParts(parts, declared[at]),
    raw: NOTHING,
  }));
}

/** The same parts, in place of those that a manifest declares alike the manifest's own. */
function sharedParts(parts: JsonObject, declared: ValueObject = {}): JsonObject {
  const shared: Record<string, Json> = {};
  for (const name in parts) {
    const [live, own] = [parts[name] ?? null, declared[name]];
    shared[name] = isPlainData(own) && sameJson(own, live) ? own : live;
  }
  return shared;
}

/** No object of it is a secret: those show nothing that could be shared. */
function isPlainData(value: Value | undefined): value is Json {
  return value !== undefined && !isSensitive(value);
}

const NOTHING: LiveElement["raw"] = {};

/** All that a plan follows from, but for what is read. */
export interface RefreshOptions extends Omit<PlanInput, "live"> {
  /** Only the plan is needed: live values of test cases that are as declared are not kept. */
  readonly planOnly?: boolean;
}

export interface Refreshed {
  readonly input: PlanInput;
  readonly planned: Planned;
}

/** The project cut down to the targets of which anything can be in scope: the others are not read. */
export function desiredInScope(desired: Desired, scope: Scope, states: ReadonlyMap<string, State>): Desired {
  if (isEverything(scope)) return desired;
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
export async function refresh(reader: Reader, options: RefreshOptions): Promise<Refreshed> {
  const desired = desiredInScope(options.desired, options.scope, options.states);
  const targets = await reader.listTargets();
  const input = { ...options, desired, elsewhere: meantElsewhere(options, desired, targets) };
  const testCases = await readTestCases(reader, input, liveTargets(input, targets));
  const whole: PlanInput = { ...input, live: { targets, testCases } };
  return { input: whole, planned: makePlan(whole) };
}

/** A target that has another key by now, out of scope, must not seem to have left; nor be taken for one of its app. */
function meantElsewhere(
  { desired, states }: RefreshOptions,
  inScope: Desired,
  live: readonly LiveTarget[],
): ReadonlySet<string> {
  const own = new Set(inScope.targets);
  const others = desired.targets.filter((target) => !own.has(target) && target.left !== true);
  return matchedIds(matchTargets(others, live, states).byAddress);
}

/** By target id. A function of its own, so that what only the reading needs is gone when the plan is made. */
async function readTestCases(
  reader: Reader,
  options: RefreshOptions,
  matches: ReadonlyMap<string, LiveMatch>,
): Promise<ReadonlyMap<string, readonly LiveTestCase[]>> {
  const keepers = options.desired.targets.flatMap((target) => {
    const match = matches.get(target.key);
    return match === undefined ? [] : [[match.id, retaining(target, match.state, options)] as const];
  });
  const reads = [...new Map(keepers)].map(
    async ([id, keep]) => [id, await reader.listTestCases(id, keep)] as const,
  );
  return new Map(await sideBySide(reads));
}
