import { ENVIRONMENTS, TEST_CASES } from "../manifest/tables/kinds.ts";
import type { Section } from "../manifest/tables/kinds.ts";
import type { Document } from "../manifest/document.ts";
import { parseAddress, targetAddress } from "../model/address.ts";
import type { Address } from "../model/address.ts";
import type { Desired, DesiredResource, DesiredTarget } from "../model/desired.ts";
import type { LiveTarget } from "../model/live.ts";
import type { State } from "../model/state.ts";
import { normalise } from "../plan/compare.ts";
import { knownText } from "../plan/declared.ts";
import type { Match } from "../plan/match.ts";
import { valueIn } from "./paths.ts";
import type { Planned } from "../plan/plan.ts";
import { resourcesOf } from "../model/desired.ts";

/**
 * What manifests and state say already of the live targets, so that an import adds only what is new and takes no key
 * that means something else. What a manifest means is for the planner's matches alone to say.
 */
export interface Known {
  /** Target keys that are taken, in lower case. */
  readonly targetKeys: ReadonlySet<string>;
  /** By id of the live target. */
  readonly targets: ReadonlyMap<string, KnownTarget>;
  /** Live targets that a declared one may mean, which is not clear: they are left alone. */
  readonly isDoubtful: (live: LiveTarget) => boolean;
}

export interface KnownTarget {
  readonly key: string;
  /** Whether a manifest declares it; else only state knows it. */
  readonly declared: boolean;
  readonly state: State | undefined;
  readonly environments: KnownParts;
  readonly testCases: KnownParts;
  /** Test case → the key of its prerequisite, as declared. */
  readonly prerequisites: ReadonlyMap<string, string>;
}

/** The environments of a target, or its test cases. */
export interface KnownParts {
  /** Live id → key, of what manifests mean. */
  readonly managed: ReadonlyMap<string, string>;
  /** Live id → key, of what state binds and no manifest declares any more. */
  readonly remembered: ReadonlyMap<string, string>;
  /** Keys that manifests declare. */
  readonly declared: ReadonlySet<string>;
  /** Keys that mean something already, in lower case. */
  readonly taken: ReadonlySet<string>;
  /** Fields for which the target has defaults. */
  readonly defaults: ReadonlySet<string>;
  /** Whether one of these ids or names may be what a declared resource means, which is not clear. */
  readonly isDoubtful: (id: string, names: readonly (string | null | undefined)[]) => boolean;
}

export interface KnownSources {
  readonly desired: Desired;
  readonly documents: readonly Document[];
  /** A plan of what the manifests declare, against all that is live. */
  readonly planned: Planned;
  readonly states: ReadonlyMap<string, State>;
  /** States of targets that no manifest declares. */
  readonly strays: readonly State[];
}

export function whatIsKnown(sources: KnownSources): Known {
  const { desired, planned, states, strays } = sources;
  const doubtful = desired.targets.filter(({ key }) => !planned.seen.has(key));
  const ids = new Set(doubtful.flatMap((target) => idsOf(target, states.get(target.key))));
  const apps = new Set(doubtful.flatMap((target) => knownText(target, "app") ?? []));
  const keys = [...desired.targets.map(({ key }) => key), ...strays.map(({ target }) => target)];
  return {
    targetKeys: new Set(keys.map((key) => key.toLowerCase())),
    targets: new Map([...strayTargets(strays), ...declaredTargets(sources)]),
    isDoubtful: (live) => ids.has(live.id) || apps.has(live.app),
  };
}

function declaredTargets(sources: KnownSources): readonly (readonly [string, KnownTarget])[] {
  return sources.desired.targets.flatMap((target) => {
    const seen = sources.planned.seen.get(target.key);
    if (seen?.live === undefined) return [];
    const state = seen.state;
    const documents = sources.documents.filter(({ value }) => value["target"] === target.key);
    const parts = <L>(
      section: Section,
      resources: readonly DesiredResource[],
      matches: ReadonlyMap<Address, Match<L>>,
    ): KnownParts => ({
      ...partsOf(section, resources, matches, state, target),
      defaults: defaultsOf(documents, sources.desired.stage, section),
    });
    const known: KnownTarget = {
      key: target.key,
      declared: true,
      state,
      environments: parts(ENVIRONMENTS, target.environments, seen.environmentMatches),
      testCases: parts(TEST_CASES, target.testCases, seen.testCaseMatches),
      prerequisites: prerequisitesOf(target),
    };
    return [[seen.live.id, known] as const];
  });
}

/** A target that was declared once gets its key again, and so do its parts. */
function strayTargets(strays: readonly State[]): readonly (readonly [string, KnownTarget])[] {
  return strays.flatMap((state) => {
    const id = state.bindings.get(targetAddress(state.target))?.id;
    if (id === undefined) return [];
    const parts = (section: Section): KnownParts => ({
      ...partsOf(section, [], new Map(), state, undefined),
      defaults: new Set<string>(),
    });
    const known: KnownTarget = {
      key: state.target,
      declared: false,
      state,
      environments: parts(ENVIRONMENTS),
      testCases: parts(TEST_CASES),
      prerequisites: new Map(),
    };
    return [[id, known] as const];
  });
}

/** Of a target that nothing knows. */
export const NOTHING_KNOWN: KnownParts = {
  managed: new Map(),
  remembered: new Map(),
  declared: new Set(),
  taken: new Set(),
  defaults: new Set(),
  isDoubtful: () => false,
};

function partsOf<L>(
  { kind }: Section,
  resources: readonly DesiredResource[],
  matches: ReadonlyMap<Address, Match<L>>,
  state: State | undefined,
  target: DesiredTarget | undefined,
): Omit<KnownParts, "defaults"> {
  const managed = new Map<string, string>();
  for (const { address, key } of resources) {
    const match = matches.get(address);
    if (match?.found === true) managed.set(match.id, key);
  }
  const declared = new Set(resources.map(({ key }) => key));
  const bound = [...(state?.bindings ?? [])].flatMap(([address, { id }]) => {
    const parts = parseAddress(address);
    return parts?.kind === kind ? [{ id, key: parts.key }] : [];
  });
  const moved = (target?.moved ?? []).flatMap(({ from, to }) => [from, to]);
  const others = [...moved, ...(state?.intents.keys() ?? [])].flatMap((address) => {
    const parts = parseAddress(address);
    return parts?.kind === kind ? [parts.key] : [];
  });
  const free = bound.filter(({ id, key }) => !declared.has(key) && !others.includes(key) && !managed.has(id));
  return {
    managed,
    declared,
    remembered: new Map(free.map(({ id, key }) => [id, key])),
    taken: new Set([...declared, ...bound.map(({ key }) => key), ...others].map((key) => key.toLowerCase())),
    isDoubtful: doubts(
      resources.filter(({ address }) => !matches.has(address)),
      state,
    ),
  };
}

/**
 * What unclear resources may mean: live ones of their ids, or with one of their names. The DEFAULT environment has its
 * type for a name.
 */
function doubts(resources: readonly DesiredResource[], state: State | undefined): KnownParts["isDoubtful"] {
  const ids = new Set(resources.flatMap((resource) => idsOf(resource, state)));
  const names = new Set(
    resources.flatMap((resource) => [
      ...["description", "externalId", "discoveryUrl"].flatMap((field) =>
        plainName(knownText(resource, field)),
      ),
      ...(resource.kind === "environment" && resource.key === "default" ? ["DEFAULT"] : []),
    ]),
  );
  return (id, ownNames) =>
    ids.has(id) || ownNames.some((name) => plainName(name).some((one) => names.has(one)));
}

/** URLs are names of environments, and may be written in several ways. */
function plainName(name: string | null | undefined): readonly string[] {
  if (name === null || name === undefined) return [];
  const normal = normalise("url", name);
  return typeof normal === "string" ? [normal] : [];
}

function idsOf({ address, id }: DesiredResource, state: State | undefined): readonly string[] {
  return [id, state?.bindings.get(address)?.id].filter((one) => one !== undefined);
}

/** The fields that a target's documents set by default, for all stages or for this one. */
function defaultsOf(
  documents: readonly Document[],
  stage: string,
  { name, fields }: Section,
): ReadonlySet<string> {
  const set = fields.filter(({ path }) =>
    documents.some(({ value }) =>
      [[], ["stages", stage]].some(
        (start) => valueIn(value, [...start, "defaults", name, ...path]) !== undefined,
      ),
    ),
  );
  return new Set(set.map((field) => field.name));
}

function prerequisitesOf(target: DesiredTarget): ReadonlyMap<string, string> {
  const pairs = resourcesOf(target).flatMap(({ kind, key, fields }): [string, string][] => {
    const wanted = fields["discovery.prerequisite"];
    return kind === "testCase" && typeof wanted === "string" ? [[key, wanted]] : [];
  });
  return new Map(pairs);
}
