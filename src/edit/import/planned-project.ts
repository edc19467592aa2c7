import { resolveProject } from "../../manifest/load.ts";
import { type Address, KINDS, type Kind, targetAddress, targetOf } from "../../model/address.ts";
import {
  type Desired,
  type DesiredResource,
  type DesiredTarget,
  resourcesOf,
} from "../../model/desired.ts";
import type { LiveResource } from "../../model/live.ts";
import { type State, type StateEvent, emptyState } from "../../model/state.ts";
import type { MatchedTarget } from "../../plan/matched-target.ts";
import type { PlanInput } from "../../plan/input.ts";
import { type NamedKind, type Names, liveNames, matchedIds, namesOf } from "../../plan/match.ts";
import { type Planned, makePlan } from "../../plan/plan.ts";
import { applyEvents } from "../../state/events.ts";
import type { Manifests } from "../manifests.ts";
import type { ImportSources } from "./request.ts";

/** Events that the state of a target must learn, by target key. */
export type Learnt = ReadonlyMap<string, readonly StateEvent[]>;

/** The project at one step of an import, with its plan. */
export interface PlannedProject extends Planned {
  readonly manifests: Manifests;
  readonly input: PlanInput;
  /**
   * Without events that state already knows: an existing binding keeps what is recorded with it.
   */
  readonly learnt: Learnt;
  /**
   * By id of the live target. A formerly declared target gets its old key; only state knows it, and
   * nothing is matched.
   */
  readonly known: ReadonlyMap<string, KnownTarget>;
}

interface KnownTarget {
  readonly key: string;
  readonly state: State | undefined;
  readonly matched?: MatchedTarget;
}

/**
 * Plans what manifests declare, as if state had already learnt some events.
 *
 * Manifests and live data decide. A binding of an address that this stage does not declare may come
 * from an import that was undone with git, so it only suggests a key, see `knownResources`.
 */
export function planProject(
  sources: ImportSources,
  manifests: Manifests,
  learning: Learnt = new Map(),
  desired = desiredIn(sources.desired.stage, sources, manifests) ?? sources.desired,
): PlannedProject {
  const { states, base } = sources;
  const trusted = new Set(sources.desired.targets.flatMap(addressesIn));
  const news = (key: string, state: State | undefined): readonly StateEvent[] =>
    learning.get(key)?.filter((event) => isNews(event, state)) ?? [];
  const learnt = new Map([...learning.keys()].map((key) => [key, news(key, states.get(key))]));
  const declared = new Map<string, State>();
  for (const { key } of desired.targets) {
    const known = states.get(key);
    const before = known && {
      ...known,
      bindings: new Map([...known.bindings].filter(([address]) => trusted.has(address))),
    };
    const events = news(key, before);
    if (before === undefined && events.length === 0) continue;
    declared.set(key, applyEvents(before ?? emptyState(desired.stage, key, base.baseUrl), events));
  }
  const keys = new Set(desired.targets.map(({ key }) => key));
  const strays = [...states.values()].filter(({ target }) => !keys.has(target));
  const input = { ...base, desired, states: declared, strays };
  const planned = makePlan(input);
  const known = new Map<string, KnownTarget>();
  for (const state of strays) {
    const id = state.bindings.get(targetAddress(state.target))?.id;
    if (id !== undefined) known.set(id, { key: state.target, state });
  }
  for (const [key, matched] of planned.matched)
    if (matched.live !== undefined)
      known.set(matched.live.id, { key, state: states.get(key), matched });
  return { manifests, input, learnt, known, ...planned };
}

/** Returns the addresses of a target, and those that its resources had before they were moved. */
function addressesIn(target: DesiredTarget): readonly Address[] {
  const own = resourcesOf(target).map(({ address }) => address);
  return [...own, ...target.moved.map(({ from }) => from)];
}

/** Whether an event tells a state anything. */
function isNews(event: StateEvent, state: State | undefined): boolean {
  if (event.type === "folder") return state?.folders.get(event.name) !== event.id;
  return event.type !== "bound" || state?.bindings.get(event.address)?.id !== event.id;
}

/**
 * Returns what manifests declare in a stage; in stages other than the imported one, secrets may be
 * missing.
 */
export function desiredIn(
  stage: string,
  { reading, resolve, desired }: ImportSources,
  { documents }: Manifests,
): Desired | undefined {
  const options =
    stage === desired.stage
      ? resolve
      : { ...resolve, allowMissingSecrets: true, needsApiKey: false };
  return resolveProject({ ...reading, documents }, { ...options, stage }).resolved?.desired;
}

/** Returns the keys of a target's declared test cases, by live id. */
export function caseKeysIn(matched: MatchedTarget | undefined): Map<string, string> {
  return new Map(
    matched?.target.testCases.flatMap(({ address, key }) => {
      const id = matched.matches.get(address)?.live?.id;
      return id === undefined ? [] : [[id, key] as const];
    }),
  );
}

export type KnownResources = ReturnType<typeof knownResources>;

/**
 * Returns what manifests and state say about addresses. The planner's matches decide which live
 * resource each one means.
 */
export function knownResources({ manifests, input, known, matched }: PlannedProject) {
  const declared = new Set(
    manifests.targets.flatMap((key) => manifests.addressesOf(key, ...KINDS)),
  );
  const taken = new Set<string>([
    ...declared,
    ...input.strays.map(({ target }) => targetAddress(target)),
    ...(input.desired.removed ?? []).map(({ address }) => address),
  ]);
  const managed = new Set<string>();
  const remembered = new Map<string, Address>();
  for (const { key, state, matched: own } of known.values()) {
    for (const id of own === undefined ? [] : matchedIds(own.matches)) managed.add(id);
    const moved = (own?.target.moved ?? []).flatMap(({ from, to }) => [from, to]);
    const reserved = new Set([...moved, ...(state?.intents.keys() ?? [])]);
    for (const [address, { id }] of state?.bindings ?? []) {
      taken.add(address);
      const isFree =
        address === targetAddress(key) || !(declared.has(address) || reserved.has(address));
      if (isFree && !managed.has(id)) remembered.set(id, address);
    }
    for (const address of reserved) taken.add(address);
  }
  const unclear = input.desired.targets.flatMap((target): readonly DesiredResource[] => {
    const own = matched.get(target.key);
    return own === undefined
      ? [target]
      : resourcesOf(target).filter(({ address }) => !own.matches.has(address));
  });
  const ids = new Set<string | undefined>();
  const names = new Set<string>();
  for (const resource of unclear) {
    const { kind, key, id, address } = resource;
    const target = targetOf(address);
    const state = matched.get(target)?.state ?? input.states.get(target);
    ids.add(id).add(state?.bindings.get(address)?.id);
    const type = key === "default" ? "DEFAULT" : undefined;
    for (const name of namesWithin(kind, target, namesOf(resource), type)) names.add(name);
  }
  return {
    /** The live ids of resources that manifests declare. */
    managed,
    /** By live id, the addresses of resources that only state binds. */
    remembered,
    /** In any stage. */
    declared,
    /** Addresses that are already in use, in lower case. */
    taken: new Set([...taken].map((address) => address.toLowerCase())),
    /** Whether a live resource may be a declared one whose match is unclear. */
    isDoubtful: (kind: NamedKind, target: string, live: LiveResource) =>
      ids.has(live.id) ||
      namesWithin(kind, target, liveNames(kind, live), live.type).some((name) => names.has(name)),
  };
}

/** Returns what may identify a resource; the DEFAULT environment has its type as its name. */
function namesWithin(
  kind: Kind,
  target: string,
  { name, externalId }: Names,
  type: string | null | undefined,
): readonly string[] {
  const all = [name, externalId, kind === "environment" ? type : undefined];
  const owner = kind === "target" ? "" : target;
  return all.flatMap((one) => (one === undefined || one === null ? [] : `${kind} ${owner} ${one}`));
}
