import { type DesiredTarget, byAddress, resourcesOf } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { LiveTarget } from "../model/live.ts";
import type { Plan } from "../model/plan.ts";
import type { State, StateEvent } from "../model/state.ts";
import { applyEvents } from "../state/events.ts";
import { assemble } from "./assemble.ts";
import type { PlanInput } from "./inputs.ts";
import { matchTargets } from "./match.ts";
import { pendingMoves } from "./moves.ts";
import { lookAt } from "./outlook.ts";
import { recover } from "./recover.ts";
import type { Seen } from "./seen.ts";

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
  const remembered = bringAllUpToDate(input);
  const states = statesOf(remembered);
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
  const remembered = bringAllUpToDate({ ...input, live: { targets, testCases: new Map() } });
  const matches = matchTargets(input.desired.targets, targets, statesOf(remembered)).byAddress;
  const found = new Map<string, string>();
  for (const target of input.desired.targets) {
    const match = matches.get(target.address);
    if (match?.found === true) found.set(target.key, match.id);
  }
  return found;
}

interface UpToDate {
  readonly target: DesiredTarget;
  readonly state: State | undefined;
  readonly events: readonly StateEvent[];
  readonly diagnostics: readonly Diagnostic[];
}

function bringAllUpToDate(input: PlanInput): readonly UpToDate[] {
  const taken = takenIds(input.states);
  return input.desired.targets.map((target) => bringUpToDate(target, input, taken));
}

function bringUpToDate(
  target: DesiredTarget,
  { states, live, fingerprints }: PlanInput,
  taken: Set<string>,
): UpToDate {
  const before = states.get(target.key);
  if (before === undefined) return { target, state: undefined, events: [], diagnostics: [] };
  const moves = pendingMoves(target.moved, before);
  const moved = applyEvents(before, moves);
  if (fingerprints === undefined || moved.intents.size === 0)
    return { target, state: moved, events: moves, diagnostics: [] };
  const resources = byAddress(resourcesOf(target));
  const { events, diagnostics } = recover(moved, { live, fingerprints, resources, taken });
  return { target, state: applyEvents(moved, events), events: [...moves, ...events], diagnostics };
}

/** Ids that addresses have; collected only where some creation is open, as nothing else asks for them. */
function takenIds(states: ReadonlyMap<string, State>): Set<string> {
  const all = [...states.values()];
  if (all.every((state) => state.intents.size === 0)) return new Set();
  return new Set(all.flatMap((state) => [...state.bindings.values()].map((binding) => binding.id)));
}

function statesOf(remembered: readonly UpToDate[]): ReadonlyMap<string, State> {
  return new Map(
    remembered.flatMap(({ target, state }) => (state === undefined ? [] : [[target.key, state]])),
  );
}
