import { type Address, compareAddresses } from "../model/address.ts";
import { byAddress, resourcesOf } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { LiveTarget } from "../model/live.ts";
import type { Change, Method, Plan } from "../model/plan.ts";
import type { Policy } from "../model/settings.ts";
import type { State, StateEvent } from "../model/state.ts";
import { applyEvents } from "../state/events.ts";
import { attentionOf } from "./attention.ts";
import type { MatchedTarget } from "./matched-target.ts";
import type { PlanInput } from "./input.ts";
import { type Scope, scopeTest } from "./scope.ts";
import { lazy, matchTargets, pendingMoves } from "./match.ts";
import { recover, secretFields } from "./memory.ts";
import { forgetEvents, forgets, forgottenIn, undeclaredOrphans } from "./orphans.ts";
import { type TargetPlan, planTarget } from "./target-plan.ts";

/** A plan, and the data that it was made from, which an apply continues to use. */
export interface Planned {
  readonly plan: Plan;
  /** By target key; a target that could not be matched has no entry. */
  readonly matched: ReadonlyMap<string, MatchedTarget>;
  /** By target key: moves and recovered creations, to be recorded before anything is applied. */
  readonly stateEvents: ReadonlyMap<string, readonly StateEvent[]>;
  /** States before this plan, including those of targets that are no longer declared. */
  readonly states: readonly State[];
  /** The live data that was read for the plan. */
  readonly live: PlanInput["live"];
  /**
   * Only with `plan --base`: the matches of the base's manifests, with and without state, if valid
   * for the stage.
   */
  readonly base?: readonly Planned["matched"][] | "unreadable";
  /** Only with `plan --base`: the policies of the other stages of the base. */
  readonly baseStages?: ReadonlyMap<string, Policy> | undefined;
}

/**
 * Makes a plan. This is the only function that decides on calls (design contract, sections 2 and
 * 3):
 *
 * 1. state is updated with `moved:` and `removed:`, and with the results of interrupted creations,
 * 2. each address is matched with its live resource,
 * 3. each resource is compared field by field, and differences become calls,
 * 4. resources that left the manifests are listed,
 * 5. the result is narrowed to the scope and counted.
 */
export function makePlan(input: PlanInput): Planned {
  const { states, strays, events, forgotten, diagnostics } = bringUpToDate(input);
  const targets = matchTargets(input.desired.targets, input.live.targets, states, input.elsewhere);
  const secrets = secretFields([...input.states.values(), ...input.strays]);
  const targetPlans = input.desired.targets.map((target) =>
    planTarget(
      target,
      targets.byAddress.get(target.address),
      states.get(target.key),
      input,
      secrets,
    ),
  );
  return {
    plan: assemble({ ...input, strays }, targetPlans, targets.meant, forgotten, [
      ...targets.problems,
      ...diagnostics,
    ]),
    matched: matchedOf(targetPlans),
    stateEvents: events,
    states: [...input.states.values(), ...input.strays],
    live: input.live,
  };
}

/**
 * Returns the targets whose test cases a plan must read: the live ones, by key, each with its state
 * after moves.
 */
export function liveTargets(input: Omit<Refreshable, "live">, targets: readonly LiveTarget[]) {
  const { states } = bringUpToDate({ ...input, live: { targets, testCases: new Map() } });
  const matches = matchTargets(input.desired.targets, targets, states, input.elsewhere).byAddress;
  const found = new Map<string, { readonly id: string; readonly state: State | undefined }>();
  for (const { key, address, moved } of input.desired.targets) {
    const match = matches.get(address);
    const before = input.states.get(key);
    const state = before && applyEvents(before, pendingMoves(moved, before));
    if (match?.live !== undefined) found.set(key, { id: match.live.id, state });
  }
  return found;
}

/** The input that determines which live resource belongs to which address. */
type Refreshable = Pick<PlanInput, "desired" | "states" | "live" | "fingerprints" | "elsewhere"> &
  Partial<Pick<PlanInput, "strays">>;

/**
 * Applies moves, removals and the results of interrupted creations to the states; returns states
 * and events by target key. Removals are changes and not events, because they are reviewed.
 */
function bringUpToDate({ desired, states, strays = [], live, fingerprints }: Refreshable) {
  // The bound ids. Lazy, because only an unsettled creation needs them.
  const taken = lazy(() => {
    const bindings = [...states.values()].flatMap((state) => [...state.bindings.values()]);
    return new Set(bindings.map(({ id }) => id));
  });
  const current = new Map(states);
  const events = new Map<string, readonly StateEvent[]>();
  const diagnostics: Diagnostic[] = [];
  const forgotten: Change[] = [];
  const withoutRemoved = (state: State): State => {
    const addresses = forgottenIn(state, desired);
    for (const change of forgets(state, addresses)) forgotten.push(change);
    return applyEvents(state, forgetEvents(addresses));
  };
  for (const target of desired.targets) {
    const before = states.get(target.key);
    if (before === undefined) continue;
    const moves = pendingMoves(target.moved, before);
    const moved = withoutRemoved(applyEvents(before, moves));
    current.set(target.key, moved);
    events.set(target.key, moves);
    if (fingerprints === undefined || moved.intents.size === 0) continue;
    const resources = byAddress(resourcesOf(target));
    const found = recover(moved, { live, fingerprints, resources, taken: taken() });
    current.set(target.key, applyEvents(moved, found.events));
    events.set(target.key, [...moves, ...found.events]);
    diagnostics.push(...found.diagnostics);
  }
  return { states: current, strays: strays.map(withoutRemoved), events, forgotten, diagnostics };
}

/** Combines the plans of all targets, narrowed to the scope, sorted and counted. */
function assemble(
  input: PlanInput,
  targetPlans: readonly TargetPlan[],
  meant: ReadonlySet<string>,
  forgotten: readonly Change[],
  problems: readonly Diagnostic[],
): Plan {
  const inScope = scopeTest(input.scope);
  const all = [...targetPlans.flatMap((one) => one.changes), ...forgotten];
  const needed = withNeeded(all, inScope, input.scope);
  const changes = needed.changes.toSorted(sortedByAddress);
  const changed = new Set(changes.map(({ address }) => address));

  const strays = undeclaredOrphans(input.strays, input.live.targets, meant);
  const orphans = [...targetPlans.flatMap((one) => one.orphans), ...strays];
  const orphaned = orphans.filter(({ address }) => inScope(address)).toSorted(sortedByAddress);

  // Diagnostics without an address come first.
  const diagnostics = [
    ...problems,
    ...needed.problems,
    ...targetPlans.flatMap((one) => one.diagnostics),
  ]
    .filter(({ address }) => address === undefined || inScope(address) || changed.has(address))
    .toSorted((a, b) =>
      a.address === undefined || b.address === undefined
        ? Number(a.address !== undefined) - Number(b.address !== undefined)
        : compareAddresses(a.address, b.address),
    );

  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const held = targetPlans.flatMap((one) => one.held).filter(inScope);
  const busy = new Set([...[...changes, ...errors].map(({ address }) => address), ...held]);
  const calls = changes.flatMap((change) => change.calls);
  const sent = (wanted: Method): number => calls.filter(({ method }) => method === wanted).length;
  const count = (action: Change["action"]): number =>
    changes.filter((change) => change.action === action).length;
  let unchanged = 0;
  for (const { matched } of targetPlans)
    for (const address of matched?.resources.keys() ?? [])
      if (inScope(address) && !busy.has(address)) unchanged++;
  const matched = matchedOf(targetPlans);
  return {
    stage: input.desired.stage,
    baseUrl: input.baseUrl,
    summary: {
      create: count("create"),
      update: count("update"),
      rediscover: count("rediscover"),
      disable: count("disable"),
      forget: count("forget"),
      held: held.length,
      calls: { POST: sent("POST"), PATCH: sent("PATCH") },
      followUps: changes.reduce((sum, change) => sum + change.followUps.length, 0),
      unchanged,
      orphaned: orphaned.length,
      unmanaged: targetPlans.reduce((sum, one) => sum + one.unmanaged, 0),
    },
    changes,
    attention: attentionOf(
      {
        plan: { changes, orphaned, diagnostics },
        matched,
        held: new Set(held),
        now: input.now,
      },
      inScope,
    ),
    orphaned,
    diagnostics,
  };
}

function matchedOf(targetPlans: readonly TargetPlan[]): Planned["matched"] {
  return new Map(
    targetPlans.flatMap(({ matched }) =>
      matched === undefined ? [] : [[matched.target.key, matched]],
    ),
  );
}

function sortedByAddress(
  a: { readonly address: Address },
  b: { readonly address: Address },
): number {
  return compareAddresses(a.address, b.address);
}

/**
 * Returns the changes in scope and the creations that they need. With `--only`, these are included,
 * because a change cannot refer to a target, environment or prerequisite that does not exist.
 * Resources left out by `--exclude` are not created, and a change that needs one is a problem.
 */
function withNeeded(all: readonly Change[], inScope: (address: Address) => boolean, scope: Scope) {
  const changes = byAddress(all);
  const allowed = scopeTest({ only: [], exclude: scope.exclude });
  const kept = new Set(all.filter((change) => inScope(change.address)));
  const problems: Diagnostic[] = [];
  // The set grows during the loop, so that prerequisites of prerequisites are included, too.
  for (const { address, dependsOn } of kept)
    for (const needed of dependsOn) {
      const change = changes.get(needed);
      if (!allowed(needed))
        problems.push({
          severity: "error",
          code: "needs-excluded",
          address,
          summary: `Needs ${needed}, which --exclude leaves out`,
          detail: `${needed} does not exist yet, and ${address} cannot be created without it. Exclude both or neither.`,
        });
      else if (change === undefined)
        problems.push({
          severity: "error",
          code: "needs-problem",
          address,
          summary: `Needs ${needed}, which cannot be created`,
          detail: `Fix ${needed} first; ${address} cannot be created without it.`,
        });
      else kept.add(change);
    }
  return { changes: [...kept], problems };
}
