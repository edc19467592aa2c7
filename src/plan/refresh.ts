import type { Address } from "../model/address.ts";
import {
  type Desired,
  type DesiredResource,
  type DesiredTarget,
  resourcesOf,
} from "../model/desired.ts";
import { type LiveElement, type LiveTestCase, type Reader, sideBySide } from "../model/live.ts";
import type { Binding, State } from "../model/state.ts";
import { isUnknown } from "../model/value.ts";
import { declaredElements, sameElements } from "./elements.ts";
import { generationTrouble, hasSteps } from "./generation.ts";
import type { PlanInput } from "./input.ts";
import { type Scope, isEverything, targetInScope } from "./scope.ts";
import { byNames, lazy, namesOf } from "./match.ts";
import { memoryOf } from "./memory.ts";
import { liveTargets, makePlan } from "./plan.ts";
import { hiddenIfAsDeclared } from "./kinds/test-case.ts";
import { recordedAddresses } from "../state/edit.ts";
import { reviewed } from "./steps.ts";

/**
 * Makes the function that reduces a live test case to the data that a plan needs. Elements are nine
 * tenths of a list. A plan needs them only if they are declared, and their raw form only if they
 * differ, so the rest is dropped while the list is read. Without this, all data of a service with
 * 100,000 test cases would have to fit into memory.
 *
 * Most test cases are as declared. This is checked only once, while the answer is read. If their
 * values are not needed, only the data that distinguishes them from others is then kept, whether an
 * id or a name will match them: without state, the values of 100,000 test cases took 250 MiB.
 */
export function keeping(
  target: DesiredTarget,
  state: State | undefined,
  { fingerprints, rediscover, needs = "values", whole, steps }: RefreshOptions,
): (live: LiveTestCase) => LiveTestCase {
  const bound = boundResources(target, state);
  // The result of an interrupted creation is known only when all test cases have been read.
  const isSettled = state === undefined || state.intents.size === 0;
  // The test case that it created may have another name than the one declared now.
  const isOpen = [...(state?.intents.keys() ?? [])].some((address) =>
    address.startsWith("testCase."),
  );
  const byName = lazy(() => byNames(target.testCases, (resource) => namesOf(resource).name));
  const byExternalId = lazy(() =>
    byNames(target.testCases, (resource) => namesOf(resource).externalId),
  );
  // A new test case may have the elements of an orphan, which then looks renamed.
  const compares = target.testCases.some(({ fields }) => fields["elements"] !== undefined);
  return (live) => {
    const own = bound.get(live.id);
    // A bound test case cannot belong to another address, even if the names are equal.
    const candidates = own
      ? [own]
      : [...byName()(live.description), ...byExternalId()(live.externalId ?? undefined)];
    const [first, ...others] = candidates;
    // An id that state has for another address may be that of an orphan.
    const mayMean =
      own ?? (others.every((other) => other === first) && !bound.has(live.id) ? first : undefined);
    const only = own ?? (isSettled ? mayMean : undefined);
    const acceptance = only && reviewed(steps, only, live);
    if (mayMean !== undefined && isSettled) {
      const { address } = mayMean;
      const memory = memoryOf(address, live.id, { state, fingerprints });
      const hidden = hiddenIfAsDeclared(mayMean, live, memory);
      if (hidden !== undefined && !generationTrouble(mayMean, live, memory)) {
        const mayDrop = needs === "plan" || (needs === "records" && !isOnRecord(memory.binding));
        if (mayDrop && !rediscover.has(address) && whole?.has(address) !== true) {
          const id = own?.id ?? memory.binding?.id ?? live.id;
          return unchanged(id, live, mayMean, { hidden, acceptance });
        }
        if (own !== undefined)
          return {
            ...withSharedPrompt(live, own),
            elements: keptElements(live.elements, [own]),
            hasSteps: hasSteps(live),
            asDeclared: own,
            acceptance,
          };
      }
    }
    const mayBeAny =
      only === undefined &&
      (isOpen ||
        (bound.has(live.id) && compares) ||
        (steps !== undefined && candidates.length > 0));
    return {
      ...live,
      elements: mayBeAny ? live.elements : keptElements(live.elements, candidates),
      hasSteps: hasSteps(live),
      ...(acceptance && { acceptance }),
    };
  };
}

/**
 * Whether records tell more of a test case than its declared values, so that an apply compares them
 * with what the service shows.
 */
function isOnRecord({ generating, failed, locators, secrets }: Partial<Binding> = {}): boolean {
  return (generating ?? failed ?? locators ?? secrets) !== undefined;
}

/**
 * Keeps only the id, names and statuses, and shares strings that the manifest and state have in
 * memory anyway.
 */
function unchanged(
  id: string,
  { description, externalId, status, runStatus }: LiveTestCase,
  asDeclared: DesiredResource<"testCase">,
  { hidden, acceptance }: Pick<LiveTestCase, "hidden" | "acceptance">,
): LiveTestCase {
  const { description: name, externalId: other } = asDeclared.fields;
  return {
    id,
    description: description === name ? name : description,
    externalId: externalId === other ? other : externalId,
    status,
    runStatus,
    asDeclared,
    ...(hidden && { hidden }),
    ...(acceptance && { acceptance }),
  };
}

/**
 * Shares the manifest's equal prompt, because the prompt is most of the data that is kept of a test
 * case.
 */
function withSharedPrompt(live: LiveTestCase, { fields }: DesiredResource): LiveTestCase {
  const declared = fields["discovery.prompt"];
  const { discovery } = live;
  return discovery !== undefined &&
    discovery.freePrompt === declared &&
    typeof declared === "string"
    ? { ...live, discovery: { ...discovery, freePrompt: declared } }
    : live;
}

/**
 * Returns test cases by the id in the manifest or state. The id of two test cases, which matching
 * handles, and that of an undeclared one have no test case.
 */
function boundResources(
  { testCases }: DesiredTarget,
  state: State | undefined,
): ReadonlyMap<string, DesiredResource<"testCase"> | undefined> {
  const bound = new Map<string, DesiredResource<"testCase"> | undefined>();
  for (const resource of testCases) {
    const id = resource.id ?? state?.bindings.get(resource.address)?.id;
    if (id !== undefined) bound.set(id, bound.has(id) ? undefined : resource);
  }
  for (const { id } of state?.bindings.values() ?? []) if (!bound.has(id)) bound.set(id, undefined);
  return bound;
}

/**
 * Returns the elements to keep if a test case may be any of the candidates; without raw data if
 * nothing differs.
 */
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

/** The input of a plan, except the live data. */
export interface RefreshOptions extends Omit<PlanInput, "live"> {
  /**
   * What is needed of test cases that are as declared: their values, which is the default, or no
   * more than a plan, or an apply for its records, must know.
   */
  readonly needs?: "values" | "records" | "plan";
  /** Addresses of test cases whose values are needed in any case. */
  readonly whole?: ReadonlySet<Address>;
}

export type Refreshed = Awaited<ReturnType<typeof refresh>>;

/** Reduces the project to the targets that have something in scope: the others are not read. */
export function desiredInScope(
  desired: Desired,
  scope: Scope,
  states: ReadonlyMap<string, State>,
): Desired {
  if (isEverything(scope)) return desired;
  const targets = desired.targets.filter((target) => {
    const state = states.get(target.key);
    return targetInScope(scope, [
      ...resourcesOf(target).map((resource) => resource.address),
      ...(state === undefined ? [] : recordedAddresses(state)),
    ]);
  });
  return { ...desired, targets };
}

/**
 * Plans from one request for all targets and one per target for test cases, concurrently (design
 * contract, section 2).
 */
export async function refresh(reader: Reader, options: RefreshOptions) {
  const desired = desiredInScope(options.desired, options.scope, options.states);
  const targets = await reader.listTargets();
  // If a target now has another key that is out of scope, it must not count as removed or match a
  // target with its app.
  const own = new Set(desired.targets);
  const elsewhere = options.desired.targets.filter((target) => !own.has(target));
  const input = { ...options, desired, elsewhere };
  const testCases = await readTestCases(reader, input, liveTargets(input, targets));
  const whole: PlanInput = { ...input, live: { targets, testCases } };
  return { input: whole, planned: makePlan(whole) };
}

/**
 * Returns test cases by target id. A separate function, so that data needed only here is freed
 * before planning.
 */
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
