import type { Address } from "../model/address.ts";
import { compareAddresses } from "../model/address.ts";
import type { DesiredResource, DesiredTarget } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { LiveTarget } from "../model/live.ts";
import type { Change, Orphan, Plan, Summary } from "../model/plan.ts";
import type { State, StateEvent } from "../model/state.ts";
import { DELETED } from "../fields/test-case.ts";
import { applyEvents } from "../state/reduce.ts";
import { decideBatchGeneration } from "./batch-generation.ts";
import { decideEnvironment } from "./environment.ts";
import type { PlanInput } from "./inputs.ts";
import { matchEnvironments, matchTargets, matchTestCases } from "./match.ts";
import type { Match } from "./match.ts";
import { keyHolds } from "./memory.ts";
import { pendingMoves } from "./moves.ts";
import { countUnmanaged, disableOrphan, orphansOf, strayOrphans } from "./orphans.ts";
import { caution } from "./problem.ts";
import { recover } from "./recover.ts";
import { scopeTest } from "./scope.ts";
import type { Decision, Seen } from "./seen.ts";
import { decideTarget } from "./target.ts";
import { decideTestCase } from "./test-case.ts";
import { withNeeded } from "./needed.ts";

/** A plan, and what it saw on the way: an apply goes on from there. */
export interface Planned {
  readonly plan: Plan;
  /** By target key; a target that could not be matched has none. */
  readonly seen: ReadonlyMap<string, Seen>;
  /** By target key: moves and recovered creations, to be recorded before anything is applied. */
  readonly stateEvents: ReadonlyMap<string, readonly StateEvent[]>;
}

/**
 * The one function that decides on calls (design contract, sections 2 and 3):
 *
 * 1. state is brought up to date with `moved:` and with what interrupted creations made,
 * 2. each address finds its live resource,
 * 3. each resource is compared, field by field, and what differs becomes calls,
 * 4. what left the manifests is listed,
 * 5. the scope narrows it, and the result is counted.
 */
export function makePlan(input: PlanInput): Planned {
  const remembered = input.desired.targets.map((target) => ({ target, ...bringUpToDate(target, input) }));
  const states = new Map(
    remembered.flatMap(({ target, state }) => (state === undefined ? [] : [[target.key, state]])),
  );
  const targets = matchTargets(input.desired.targets, input.live.targets, states);
  const outlooks = remembered.map(({ target, diagnostics }) =>
    lookAt(target, diagnostics, targets.byAddress.get(target.address), states.get(target.key), input),
  );
  return {
    plan: assemble(input, outlooks, targets.problems),
    seen: new Map(outlooks.flatMap(({ seen }) => (seen === undefined ? [] : [[seen.target.key, seen]]))),
    stateEvents: new Map(remembered.map(({ target, events }) => [target.key, events])),
  };
}

/** The targets whose test cases a plan must read: those that are live, by key. */
export function liveTargets(
  input: Omit<PlanInput, "live">,
  targets: readonly LiveTarget[],
): ReadonlyMap<string, string> {
  const whole = { ...input, live: { targets, testCases: new Map() } };
  const states = new Map<string, State>();
  for (const target of input.desired.targets) {
    const { state } = bringUpToDate(target, whole);
    if (state !== undefined) states.set(target.key, state);
  }
  const matches = matchTargets(input.desired.targets, targets, states).byAddress;
  const found = new Map<string, string>();
  for (const target of input.desired.targets) {
    const match = matches.get(target.address);
    if (match?.found === true) found.set(target.key, match.id);
  }
  return found;
}

interface UpToDate {
  readonly state: State | undefined;
  readonly events: readonly StateEvent[];
  readonly diagnostics: readonly Diagnostic[];
}

function bringUpToDate(target: DesiredTarget, { states, live, fingerprints }: PlanInput): UpToDate {
  const before = states.get(target.key);
  if (before === undefined) return { state: undefined, events: [], diagnostics: [] };
  const moves = pendingMoves(target.moved, before);
  const moved = applyEvents(before, moves);
  if (fingerprints === undefined) return { state: moved, events: moves, diagnostics: [] };
  const { events, diagnostics } = recover(moved, live, fingerprints);
  return { state: applyEvents(moved, events), events: [...moves, ...events], diagnostics };
}

/** What one target comes to. */
interface Outlook {
  readonly target: DesiredTarget;
  /** Nothing where the target itself is unclear, so that nothing can be said of what is in it. */
  readonly seen: Seen | undefined;
  readonly changes: readonly Change[];
  readonly disables: readonly Change[];
  readonly orphans: readonly Orphan[];
  readonly unmanaged: number;
  readonly diagnostics: readonly Diagnostic[];
}

function lookAt(
  target: DesiredTarget,
  diagnostics: readonly Diagnostic[],
  match: Match<LiveTarget> | undefined,
  state: State | undefined,
  input: PlanInput,
): Outlook {
  const unclear = {
    target,
    seen: undefined,
    changes: [],
    disables: [],
    orphans: [],
    unmanaged: 0,
    diagnostics,
  };
  if (match === undefined) return unclear;
  const live = match.found ? match.live : undefined;
  const testCases = (input.live.testCases.get(live?.id ?? "") ?? []).filter(
    (testCase) => testCase.status !== DELETED,
  );
  const environments = matchEnvironments(target, live?.environments ?? [], state);
  const cases = matchTestCases(target, testCases, state);
  const seen: Seen = {
    target,
    live,
    testCases,
    state,
    fingerprints: input.fingerprints,
    environmentMatches: environments.byAddress,
    testCaseMatches: cases.byAddress,
  };
  const own = decideTarget(seen);
  if (live === undefined && own.change === undefined)
    return { ...unclear, diagnostics: [...diagnostics, ...own.diagnostics] };
  const decisions = [own, ...decideParts(seen, input)];
  const orphans = orphansOf(seen, declaredAddresses(target));
  const disable = input.disableRemoved || target.onRemove === "disable";
  return {
    target,
    seen,
    changes: decisions.flatMap((decision) => (decision.change === undefined ? [] : [decision.change])),
    disables: disable
      ? orphans.flatMap((orphan) => {
          const change = disableOrphan(seen, orphan);
          return change === undefined ? [] : [change];
        })
      : [],
    orphans,
    unmanaged: countUnmanaged(seen, orphans),
    diagnostics: [
      ...diagnostics,
      ...keyWarning(seen),
      ...removedWarnings(target, match, seen),
      ...environments.problems,
      ...cases.problems,
      ...decisions.flatMap((decision) => decision.diagnostics),
    ],
  };
}

function decideParts(seen: Seen, input: PlanInput): readonly Decision[] {
  return [
    ...seen.target.environments.map((resource) => decideEnvironment(seen, resource)),
    ...seen.target.testCases.map((resource) =>
      decideTestCase(seen, resource, input.rediscover.has(resource.address)),
    ),
    ...seen.target.batchGenerations.map((resource) =>
      decideBatchGeneration(seen, resource, input.run.has(resource.address)),
    ),
  ];
}

/** Every resource of a target, the target first. */
export function resourcesOf(target: DesiredTarget): readonly DesiredResource[] {
  return [target, ...target.environments, ...target.testCases, ...target.batchGenerations];
}

function declaredAddresses(target: DesiredTarget): ReadonlySet<Address> {
  return new Set(resourcesOf(target).map((resource) => resource.address));
}

function keyWarning({ target, state, fingerprints }: Seen): readonly Diagnostic[] {
  if (fingerprints === undefined || keyHolds(state, fingerprints)) return [];
  return [
    caution(
      "key-changed",
      target,
      "State was written with another key",
      "What state remembers of write-only fields was made with another API key or `state.fingerprintKey`, so these fields are sent once more. Prompts are recorded anew and not sent.",
    ),
  ];
}

function removedWarnings(target: DesiredTarget, match: Match<LiveTarget>, seen: Seen): readonly Diagnostic[] {
  const all: readonly (readonly [DesiredResource, Match<unknown> | undefined])[] = [
    [target, match],
    ...target.environments.map(
      (resource) => [resource, seen.environmentMatches.get(resource.address)] as const,
    ),
    ...target.testCases.map((resource) => [resource, seen.testCaseMatches.get(resource.address)] as const),
  ];
  return all.flatMap(([resource, found]) =>
    found === undefined || found.found || found.removed === undefined
      ? []
      : [
          caution(
            "removed-outside",
            resource,
            "Removed outside tasc",
            `It was ${found.removed}, which the service no longer lists. It is created again; take it out of the manifest if it is to stay away.`,
          ),
        ],
  );
}

function assemble(input: PlanInput, outlooks: readonly Outlook[], problems: readonly Diagnostic[]): Plan {
  const inScope = scopeTest(input.scope);
  const all = outlooks.flatMap((outlook) => outlook.changes);
  const { changes: needed, problems: left } = withNeeded(all, inScope, input.scope);
  const disables = outlooks
    .flatMap((outlook) => outlook.disables)
    .filter((change) => inScope(change.address));
  const changes = [...needed, ...disables].toSorted((a, b) => compareAddresses(a.address, b.address));
  const addresses = new Set(changes.map((change) => change.address));
  const orphaned = [
    ...outlooks.flatMap((outlook) => outlook.orphans),
    ...strayOrphans(input.strays, input.live.targets),
  ]
    .filter((orphan) => inScope(orphan.address))
    .toSorted((a, b) => compareAddresses(a.address, b.address));
  const diagnostics = [...problems, ...left, ...outlooks.flatMap((outlook) => outlook.diagnostics)]
    .filter(({ address }) => address === undefined || inScope(address) || addresses.has(address))
    .toSorted(byPlace);
  return {
    stage: input.desired.stage,
    baseUrl: input.baseUrl,
    summary: summarise(input, outlooks, changes, orphaned, diagnostics),
    changes,
    orphaned,
    diagnostics,
  };
}

function byPlace(a: Diagnostic, b: Diagnostic): number {
  if (a.address === undefined || b.address === undefined)
    return Number(a.address !== undefined) - Number(b.address !== undefined);
  return compareAddresses(a.address, b.address);
}

function summarise(
  input: PlanInput,
  outlooks: readonly Outlook[],
  changes: readonly Change[],
  orphaned: readonly Orphan[],
  diagnostics: readonly Diagnostic[],
): Summary {
  const inScope = scopeTest(input.scope);
  const busy = new Set<Address>(changes.map((change) => change.address));
  for (const { severity, address } of diagnostics)
    if (severity === "error" && address !== undefined) busy.add(address);
  const quiet = outlooks
    .filter((outlook) => outlook.seen !== undefined)
    .flatMap((outlook) => resourcesOf(outlook.target))
    .filter((resource) => inScope(resource.address) && !busy.has(resource.address));
  const count = (...actions: readonly Change["action"][]): number =>
    changes.filter((change) => actions.includes(change.action)).length;
  const calls = changes.flatMap((change) => change.calls);
  return {
    create: count("create"),
    update: count("update", "disable"),
    rediscover: count("rediscover"),
    unchanged: quiet.length,
    orphaned: orphaned.length,
    unmanaged: outlooks.reduce((sum, outlook) => sum + outlook.unmanaged, 0),
    calls: {
      POST: calls.filter((call) => call.method === "POST").length,
      PATCH: calls.filter((call) => call.method === "PATCH").length,
    },
  };
}
