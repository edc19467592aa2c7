import { type Desired, type DesiredResource, type DesiredTarget, resourcesOf } from "../model/desired.ts";
import { type LiveElement, type LiveTestCase, type Reader, sideBySide } from "../model/live.ts";
import type { State } from "../model/state.ts";
import { isUnknown } from "../model/value.ts";
import { declaredElements, sameElements } from "./elements.ts";
import { type PlanInput, type Scope, isEverything, targetInScope } from "./input.ts";
import { byNames, lazy, namesOf } from "./match.ts";
import { memoryOf } from "./memory.ts";
import { liveTargets, makePlan } from "./plan.ts";
import { isAsDeclared } from "./resources.ts";

/**
 * What a plan keeps of a live test case. Elements are nine tenths of a list, and a plan needs them only where they are
 * declared, and as they came only where they differ; so the rest is let go as it streams by. Without this, a service of
 * 100,000 test cases would have to fit into memory whole.
 *
 * Most test cases are bound and as declared: that is found out on the way in, while the answer is read, and not asked
 * again. Where only the plan is needed, it then needs no more of them than what tells them from others.
 */
export function keeping(
  target: DesiredTarget,
  state: State | undefined,
  { fingerprints, rediscover, planOnly }: RefreshOptions,
): (live: LiveTestCase) => LiveTestCase {
  const bound = boundResources(target, state);
  // What an interrupted creation made is told only when all have been read.
  const isSettled = state?.intents.size === 0;
  // It may be called otherwise than it is declared by now.
  const isOpen = [...(state?.intents.keys() ?? [])].some((address) => address.startsWith("testCase."));
  const byName = lazy(() => byNames(target.testCases, (resource) => namesOf(resource).name));
  const byExternalId = lazy(() => byNames(target.testCases, (resource) => namesOf(resource).externalId));
  return (live) => {
    const own = bound.get(live.id);
    if (own !== undefined && isSettled) {
      const memory = memoryOf(own.address, live.id, { state, fingerprints });
      if (isAsDeclared(own, live, memory))
        return planOnly === true && !rediscover.has(own.address)
          ? unchanged(live, own, own.id ?? memory.binding?.id)
          : { ...withSharedPrompt(live, own), elements: keptElements(live.elements, [own]), asDeclared: own };
    }
    // What is bound is no other one's, however alike the names.
    const candidates = own
      ? [own]
      : [...byName()(live.description), ...byExternalId()(live.externalId ?? undefined)];
    const mayBeAny = own === undefined && isOpen;
    return { ...live, elements: mayBeAny ? live.elements : keptElements(live.elements, candidates) };
  };
}

/** What tells others from it, in the texts that manifest and state hold anyway. */
function unchanged(
  { id, description, status, runStatus }: LiveTestCase,
  asDeclared: DesiredResource<"testCase">,
  knownId = id,
): LiveTestCase {
  const name = asDeclared.fields["description"];
  const own = description === name ? name : description;
  return { id: knownId, description: own, status, runStatus, asDeclared };
}

/** With the manifest's prompt in place of its own: it is most of what is kept of a test case. */
function withSharedPrompt(live: LiveTestCase, { fields }: DesiredResource): LiveTestCase {
  const declared = fields["discovery.prompt"];
  const { discovery } = live;
  return discovery !== undefined && discovery.freePrompt === declared && typeof declared === "string"
    ? { ...live, discovery: { ...discovery, freePrompt: declared } }
    : live;
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

/** Elements of what may be any of the candidates: where nothing differs, without the form in which they came. */
function keptElements(
  elements: readonly LiveElement[] | undefined,
  candidates: readonly DesiredResource[],
): readonly LiveElement[] | undefined {
  const declared = candidates.flatMap(({ fields: { elements: value } }) =>
    value === undefined ? [] : [value],
  );
  if (declared.length === 0) return undefined;
  const same = declared.every(
    (value) => !isUnknown(value) && sameElements(declaredElements(value), elements ?? []),
  );
  return same ? elements?.map(({ id, parts }) => ({ id, parts, raw: NOTHING })) : elements;
}

const NOTHING: LiveElement["raw"] = {};

/** All that a plan follows from, but for what is read. */
export interface RefreshOptions extends Omit<PlanInput, "live"> {
  /** Only the plan is needed: live values of test cases that are as declared are not kept. */
  readonly planOnly?: boolean;
}

export type Refreshed = Awaited<ReturnType<typeof refresh>>;

/** The project cut down to the targets of which anything can be in scope: the others are not read. */
export function desiredInScope(desired: Desired, scope: Scope, states: ReadonlyMap<string, State>): Desired {
  if (isEverything(scope)) return desired;
  const targets = desired.targets.filter((target) => {
    const orphans = states.get(target.key)?.bindings.keys() ?? [];
    return targetInScope(scope, [...resourcesOf(target).map((resource) => resource.address), ...orphans]);
  });
  return { ...desired, targets };
}

/** Plans from one request for all targets, and one for the test cases of each, side by side (design contract, section 2). */
export async function refresh(reader: Reader, options: RefreshOptions) {
  const desired = desiredInScope(options.desired, options.scope, options.states);
  const targets = await reader.listTargets();
  // A target that has another key by now, out of scope, must not seem to have left; nor be taken for one of its app.
  const own = new Set(desired.targets);
  const elsewhere = options.desired.targets.filter((target) => !own.has(target));
  const input = { ...options, desired, elsewhere };
  const testCases = await readTestCases(reader, input, liveTargets(input, targets));
  const whole: PlanInput = { ...input, live: { targets, testCases } };
  return { input: whole, planned: makePlan(whole) };
}

/** By target id. A function of its own, so that what only the reading needs is gone when the plan is made. */
async function readTestCases(
  reader: Reader,
  options: RefreshOptions,
  matches: ReturnType<typeof liveTargets>,
): Promise<ReadonlyMap<string, readonly LiveTestCase[]>> {
  const keepers = options.desired.targets.flatMap((target) => {
    const match = matches.get(target.key);
    return match === undefined ? [] : [[match.id, keeping(target, match.state, options)] as const];
  });
  const reads = [...new Map(keepers)].map(
    async ([id, keep]) => [id, await reader.listTestCases(id, keep)] as const,
  );
  return new Map(await sideBySide(reads));
}
