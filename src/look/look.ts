import { type Desired, resourcesOf } from "../model/desired.ts";
import type { LiveTarget, LiveTestCase } from "../model/live.ts";
import type { State } from "../model/state.ts";
import { type PlanInput, type Scope, targetInScope } from "../plan/input.ts";
import { type Planned, liveTargets, makePlan } from "../plan/plan.ts";
import { retaining } from "./retain.ts";

/** What a look at the service needs to read; the client gives it, or a snapshot. */
export interface Reader<F> {
  listTargets(): Promise<Read<readonly LiveTarget[], F>>;
  /** @param keep what to hold on to of each test case as it comes */
  listTestCases(
    targetId: string,
    keep: (testCase: LiveTestCase) => LiveTestCase,
  ): Promise<Read<readonly LiveTestCase[], F>>;
}

export type Read<T, F> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: F };

/** All that a plan follows from, but for what is read. */
export type LookOptions = Omit<PlanInput, "live">;

export interface Look {
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
export async function look<F>(reader: Reader<F>, options: LookOptions): Promise<Read<Look, F>> {
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
  { desired, states }: LookOptions,
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
