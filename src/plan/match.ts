import { type Address, type Kind, compareText } from "../model/address.ts";
import {
  type DesiredResource,
  type DesiredTarget,
  type Move,
  knownText,
} from "../model/desired.ts";
import { type Diagnostic, oneLine } from "../model/diagnostic.ts";
import type { LiveEnvironment, LiveResource, LiveTarget, LiveTestCase } from "../model/live.ts";
import type { State, StateEvent } from "../model/state.ts";
import { isSensitive } from "../model/value.ts";
import { serviceNoun } from "../model/words.ts";
import { fewOf, problem } from "./problem.ts";
import { normalUrl } from "./normalise.ts";

/**
 * The live resource of an address (design contract, section 2), found by the `id:` of the manifest,
 * then by the id in state, then by name. Matches by id come first. A live resource never belongs to
 * two addresses: if two claim it, that is an error that names them. Several candidates for one
 * address are an error that lists their ids.
 */
export interface Match<L extends LiveResource = LiveResource> {
  /** Absent if the resource does not exist yet. */
  readonly live?: L;
  /** The id that the address was bound to, if the service no longer lists it. */
  readonly removed?: string;
}

/** The match of each address; an address with a problem has no entry. */
export type Matches<L extends LiveResource = LiveResource> = Map<Address, Match<L>>;

/**
 * The names by which a resource is matched if it has no id; they must be unique among live
 * resources.
 */
export interface Names {
  readonly name: string | undefined;
  /** Takes precedence over the name. */
  readonly externalId: string | undefined;
}

export const NAMED_BY = {
  target: "app",
  environment: "discoveryUrl",
  testCase: "description",
} as const;

/** Returns the names that a manifest declares. */
export function namesOf(resource: DesiredResource): Names {
  const { kind } = resource;
  if (kind === "batchGeneration") return { name: undefined, externalId: undefined };
  return namesIn(kind, knownText(resource, NAMED_BY[kind]), knownText(resource, "externalId"));
}

/** The kinds of resource that the service lists. */
export type NamedKind = keyof typeof NAMED_BY;

/** Returns the names that the service shows. */
export function liveNames(kind: NamedKind, live: LiveResource): Names {
  return namesIn(kind, live[NAMED_BY[kind]], live.externalId ?? undefined);
}

function namesIn(kind: Kind, name: string | undefined, externalId: string | undefined): Names {
  return {
    name: kind === "environment" && name !== undefined ? normalUrl(name) : name,
    externalId,
  };
}

/**
 * Normalises accents and white space, which a service may change in a name: tasc must recognise
 * what it created.
 */
export function levelName(name: string): string {
  // Normalising a run of accents takes quadratic time, so names with a long run are left as they
  // are.
  return (/\p{M}{31}/u.test(name) ? name : name.normalize("NFC")).replace(/\s+/g, " ").trim();
}

/** The part of matching that depends on the kind of resource. */
interface MatchRule<L extends LiveResource> {
  readonly live: readonly L[];
  readonly shownAs: (live: L) => string;
  /** Returns the live resources that a declared one may mean if it has no id. */
  readonly candidates: (resource: DesiredResource) => readonly L[];
  /** Advice on how to say which live resource is meant. */
  readonly remedy: string;
}

/**
 * Matches the declared targets. @param others declared targets that are out of scope
 * @returns the matches by address, and in `meant` the ids of all live targets that a declared one
 * means or may mean
 */
export function matchTargets(
  targets: readonly DesiredTarget[],
  live: readonly LiveTarget[],
  states: ReadonlyMap<string, State>,
  others: readonly DesiredTarget[] = [],
): {
  readonly byAddress: Matches<LiveTarget>;
  readonly meant: ReadonlySet<string>;
  readonly problems: readonly Diagnostic[];
} {
  const byAddress: Matches<LiveTarget> = new Map();
  const byApp = byNames(live, ({ app }) => app);
  const declared = [...targets, ...others].filter(({ left }) => left !== true);
  const problems = matchAll(byAddress, declared, ({ key }) => states.get(key), {
    live,
    shownAs: ({ app }) => `app "${oneLine(app)}"`,
    candidates: (resource) => byApp(namesOf(resource).name),
    remedy: "Write the id of the one you mean as `id:` into the target.",
  });
  const unclear = declared.filter(({ address }) => !byAddress.has(address));
  const candidates = unclear.flatMap((target) => byApp(namesOf(target).name));
  const meant = new Set([...matchedIds(byAddress), ...candidates.map(({ id }) => id)]);
  // A removed target is found by state, unless a declared target means it now: then only its key
  // has changed.
  for (const target of targets) {
    if (!target.left) continue;
    const id = boundId(target, states.get(target.key));
    const own = live.find((one) => one.id === id && !meant.has(one.id));
    byAddress.set(target.address, own === undefined ? {} : { live: own });
  }
  return { byAddress, meant, problems };
}

/** Returns the ids of all matched live resources. */
export function matchedIds(matches: ReadonlyMap<Address, Match>): ReadonlySet<string> {
  return new Set([...matches.values()].flatMap(({ live }) => live?.id ?? []));
}

/** Matches the environments of a target. @param found receives the matches @returns the problems */
export function matchEnvironments(
  target: DesiredTarget,
  live: readonly LiveEnvironment[],
  state: State | undefined,
  found: Matches,
): readonly Diagnostic[] {
  const additional = live.filter(({ type }) => type === "ADDITIONAL");
  const byUrl = lazy(() => byNames(additional, (one) => liveNames("environment", one).name));
  return matchAll(found, target.environments, () => state, {
    live,
    shownAs: ({ type = "environment", discoveryUrl = "no URL" }) =>
      oneLine(`${type} at ${discoveryUrl}`),
    candidates: (resource) =>
      resource.key === "default"
        ? live.filter(({ type }) => type === "DEFAULT")
        : byUrl()(namesOf(resource).name),
    remedy: "Write the id of the one you mean as `id:` into the environment.",
  });
}

/**
 * Matches the test cases of a target.
 * @param live without deleted ones
 * @param found receives the matches
 */
export function matchTestCases(
  target: DesiredTarget,
  live: readonly LiveTestCase[],
  state: State | undefined,
  found: Matches,
): readonly Diagnostic[] {
  const byName = lazy(() => byNames(live, ({ description }) => description));
  const byExternalId = lazy(() => byNames(live, ({ externalId }) => externalId ?? undefined));
  return matchAll(found, target.testCases, () => state, {
    live,
    shownAs: ({ description = "" }) => `"${oneLine(description)}"`,
    candidates: (resource) => {
      const { name, externalId } = namesOf(resource);
      const named = byName()(name);
      if (externalId === undefined) return named;
      const same = byExternalId()(externalId);
      // A live test case with another external id is a different one, even if the names are equal.
      return same.length > 0 ? same : named.filter((one) => (one.externalId ?? null) === null);
    },
    remedy:
      "Write the id of the one you mean as `id:` into the test case, or give each test case a unique description.",
  });
}

function boundId(resource: DesiredResource, state: State | undefined): string | undefined {
  return state?.bindings.get(resource.address)?.id;
}

function matchAll<L extends LiveResource, R extends DesiredResource<NamedKind>>(
  found: Matches<L>,
  resources: readonly R[],
  stateOf: (resource: R) => State | undefined,
  rule: MatchRule<L>,
): readonly Diagnostic[] {
  const byId = new Map<string, L>();
  for (const live of rule.live) byId.set(live.id, live);
  const problems: Diagnostic[] = [];
  const claims = new Map<string, DesiredResource>();
  const contested = new Map<string, readonly DesiredResource[]>();

  const bind = (resource: DesiredResource, live: L, removed?: string): void => {
    found.set(resource.address, removed === undefined ? { live } : { live, removed });
    const first = claims.get(live.id);
    if (first === undefined) claims.set(live.id, resource);
    else contested.set(live.id, [...(contested.get(live.id) ?? [first]), resource]);
  };

  const unbound: R[] = [];
  for (const resource of resources) {
    const id = resource.id ?? boundId(resource, stateOf(resource));
    const live = id === undefined ? undefined : byId.get(id);
    if (live !== undefined) bind(resource, live);
    else if (resource.id === undefined) unbound.push(resource);
    else problems.push(unlisted(resource, resource.id));
  }

  // Resources found by id must not be matched again by name.
  const taken = new Set(unbound.length === 0 ? [] : claims.keys());
  for (const resource of unbound) {
    const candidates = rule.candidates(resource).filter(({ id }) => !taken.has(id));
    const [only] = candidates;
    const removed = boundId(resource, stateOf(resource));
    if (candidates.length > 1)
      problems.push(ambiguous(resource, candidates, stateOf(resource), rule));
    else if (only !== undefined) bind(resource, only, removed);
    else if (byId.size < rule.live.length) problems.push(listTorn(resource));
    else found.set(resource.address, removed === undefined ? {} : { removed });
  }

  for (const [id, claimants] of contested) {
    for (const resource of claimants) {
      found.delete(resource.address);
      problems.push(claimedTwice(resource, id, claimants, rule.remedy));
    }
  }
  return problems;
}

function unlisted(resource: DesiredResource, id: string): Diagnostic {
  const noun = serviceNoun(resource.kind);
  return problem(
    "id-not-listed",
    resource,
    `The service lists no ${noun} with the id ${id}`,
    `The manifest binds it by \`id: ${id}\`. Correct the id, or remove the line so that the ${noun} is matched by name or created.`,
    ["id"],
  );
}

/**
 * Makes the error for a list with a repeated item: it may lack another item, which would then be
 * created again.
 */
function listTorn(resource: DesiredResource): Diagnostic {
  const noun = serviceNoun(resource.kind);
  return problem(
    "listed-twice",
    resource,
    `The service lists a ${noun} twice, and this one not at all`,
    `A list with repetitions may leave others out, so tasc does not create the ${noun}: it may exist. Plan again; if it stays so, tell those who run the service.`,
  );
}

function ambiguous<L extends LiveResource>(
  resource: DesiredResource<NamedKind>,
  candidates: readonly L[],
  state: State | undefined,
  { shownAs, remedy }: MatchRule<L>,
): Diagnostic {
  const namedBy = NAMED_BY[resource.kind];
  const hidden = isSensitive(resource.fields[namedBy] ?? null);
  const bound = [...(state?.bindings.values() ?? [])];
  const mayShowSecret = new Set(
    bound.flatMap((one) => (one.secrets?.includes(namedBy) ? [one.id] : [])),
  );
  const list = candidates
    .map(
      (live) => `  ${live.id}${hidden || mayShowSecret.has(live.id) ? "" : `  ${shownAs(live)}`}`,
    )
    .toSorted(compareText);
  return problem(
    "ambiguous-match",
    resource,
    `${candidates.length} live ${serviceNoun(resource.kind)}s fit`,
    `All of these match the declaration:\n${fewOf(list, "\n")}\n${remedy}`,
  );
}

function claimedTwice(
  resource: DesiredResource,
  id: string,
  claimants: readonly DesiredResource[],
  remedy: string,
): Diagnostic {
  const noun = serviceNoun(resource.kind);
  const others = claimants.filter((other) => other !== resource).map((other) => other.address);
  return problem(
    "claimed-twice",
    resource,
    `The ${noun} ${id} is also bound to ${fewOf(others)}`,
    `One live ${noun} cannot have two addresses. ${remedy}`,
  );
}

/** Makes a lookup of resources by name. Resources without a name are never found. */
export function byNames<L>(
  items: readonly L[],
  nameOf: (item: L) => string | undefined,
): (name: string | undefined) => readonly L[] {
  const known = new Map<string | undefined, L[]>();
  for (const item of items) {
    const name = nameOf(item);
    if (name !== undefined && known.get(name)?.push(item) === undefined) known.set(name, [item]);
  }
  return (name) => known.get(name) ?? [];
}

/** Delays `make` until the first call, and then keeps its result. */
export function lazy<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/**
 * Returns the changes to state for `moved:`: records that are still under an old address go to the
 * new one. A move that is done, or whose new address is in use already, changes nothing, so it may
 * stay in the manifest.
 */
export function pendingMoves(moves: readonly Move[], state: State): readonly StateEvent[] {
  if (moves.length === 0) return [];
  const bound = new Set<Address>([
    ...state.bindings.keys(),
    ...state.batchGenerations.keys(),
    ...state.intents.keys(),
  ]);
  const events: StateEvent[] = [];
  const next = new Map(moves.map(({ from, to }) => [from, to]));
  for (const { from } of lastLinksFirst(moves)) {
    if (!bound.has(from)) continue;
    // Follow the whole chain: a record left at a must go to c if b moved on to c long ago.
    let to = from;
    for (let step = next.get(to); step !== undefined && !bound.has(step); step = next.get(to))
      to = step;
    if (to === from) continue;
    bound.delete(from);
    bound.add(to);
    events.push({ type: "moved", from, to });
  }
  return events;
}

/**
 * Sorts moves: of a chain a → b → c the last one comes first, because b must be free before a moves
 * there.
 */
function lastLinksFirst(moves: readonly Move[]): readonly Move[] {
  const byFrom = new Map(moves.map((move) => [move.from, move]));
  const seen = new Set<Address>();
  return moves.flatMap((start) => {
    const chain: Move[] = [];
    for (let move = byFrom.get(start.from); move !== undefined && !seen.has(move.from);) {
      seen.add(move.from);
      chain.push(move);
      move = byFrom.get(move.to);
    }
    return chain.toReversed();
  });
}
