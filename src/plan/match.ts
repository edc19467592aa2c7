import { type Address, type Kind, compareText } from "../model/address.ts";
import type { DesiredResource, DesiredTarget, Move } from "../model/desired.ts";
import { type Diagnostic, oneLine } from "../model/diagnostic.ts";
import type { LiveEnvironment, LiveResource, LiveTarget, LiveTestCase } from "../model/live.ts";
import type { State, StateEvent } from "../model/state.ts";
import { isSensitive } from "../model/value.ts";
import { serviceNoun } from "../render/words.ts";
import { fewOf, knownText, normalUrl, problem } from "./input.ts";

/**
 * Which live resource each address means (design contract, section 2): by the `id:` of the manifest, else by the
 * id in state, else by what the resource is called. One live resource never answers to two addresses: the ids that
 * are bound take theirs first, and what is then found twice is an error that lists the ids.
 */
export interface Match<L extends LiveResource = LiveResource> {
  /** Nothing for what is yet to be made. */
  readonly live?: L;
  /** The id it was bound to, which the service no longer lists. */
  readonly removed?: string;
}

/** What was found for each address; one with a problem has no entry. */
export type Matches<L extends LiveResource = LiveResource> = Map<Address, Match<L>>;

/** What a resource is found by where no id tells which one it is; no two live ones may share it. */
export interface Names {
  readonly name: string | undefined;
  /** Counts before the name. */
  readonly externalId: string | undefined;
}

export const NAMED_BY = { target: "app", environment: "discoveryUrl", testCase: "description" } as const;

/** The names that a manifest declares. */
export function namesOf(resource: DesiredResource): Names {
  const { kind } = resource;
  if (kind === "batchGeneration") return { name: undefined, externalId: undefined };
  return namesIn(kind, knownText(resource, NAMED_BY[kind]), knownText(resource, "externalId"));
}

/** Kinds that the service lists. */
export type NamedKind = keyof typeof NAMED_BY;

/** The names that the service shows. */
export function liveNames(kind: NamedKind, live: LiveResource): Names {
  return namesIn(kind, live[NAMED_BY[kind]], live.externalId ?? undefined);
}

function namesIn(kind: Kind, name: string | undefined, externalId: string | undefined): Names {
  return { name: kind === "environment" && name !== undefined ? normalUrl(name) : name, externalId };
}

/** A name without what a service may change of it as it takes it: what its POST made must be known by it. */
export function levelName(name: string): string {
  // The time to put accents in order grows with the square of their number.
  return (/\p{M}{31}/u.test(name) ? name : name.normalize("NFC")).replace(/\s+/g, " ").trim();
}

/** How resources of a kind are told apart; the rest of matching is the same for all kinds. */
interface MatchRule<L extends LiveResource> {
  readonly live: readonly L[];
  readonly shownAs: (live: L) => string;
  /** Live resources that the declared one may mean when no id says so. */
  readonly candidates: (resource: DesiredResource) => readonly L[];
  /** How the user tells tasc which one is meant. */
  readonly remedy: string;
}

/**
 * @param others what is declared beside them, out of scope
 * @returns the live targets by address, and the ids of all that a declared one means or may mean
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
  // One that left is what state says, unless a declared one means it now: then it did not leave, but changed its key.
  for (const target of targets) {
    if (!target.left) continue;
    const id = boundId(target, states.get(target.key));
    const own = live.find((one) => one.id === id && !meant.has(one.id));
    byAddress.set(target.address, own === undefined ? {} : { live: own });
  }
  return { byAddress, meant, problems };
}

/** The ids of what was found. */
export function matchedIds(matches: ReadonlyMap<Address, Match>): ReadonlySet<string> {
  return new Set([...matches.values()].flatMap(({ live }) => live?.id ?? []));
}

/** @param found is added to @returns what is wrong */
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
    shownAs: ({ type = "environment", discoveryUrl = "no URL" }) => oneLine(`${type} at ${discoveryUrl}`),
    candidates: (resource) =>
      resource.key === "default"
        ? live.filter(({ type }) => type === "DEFAULT")
        : byUrl()(namesOf(resource).name),
    remedy: "Write the id of the one you mean as `id:` into the environment.",
  });
}

/** The same. @param live without those that count as gone */
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
      // A case with an external id of its own is another one, however alike the names.
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

  const bind = (resource: DesiredResource, live: L): void => {
    found.set(resource.address, { live });
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

  // Those found by id are taken: a name must not reach them a second time.
  const taken = new Set(unbound.length === 0 ? [] : claims.keys());
  for (const resource of unbound) {
    const candidates = rule.candidates(resource).filter(({ id }) => !taken.has(id));
    const [only] = candidates;
    const removed = boundId(resource, stateOf(resource));
    if (candidates.length > 1) problems.push(ambiguous(resource, candidates, stateOf(resource), rule));
    else if (only !== undefined) bind(resource, only);
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

/** Where one item stands twice, another may have been left out, and would be created a second time. */
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
  const mayShowSecret = new Set(bound.flatMap((one) => (one.secrets?.includes(namedBy) ? [one.id] : [])));
  const list = candidates
    .map((live) => `  ${live.id}${hidden || mayShowSecret.has(live.id) ? "" : `  ${shownAs(live)}`}`)
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

/** Looks resources up by name; those without one are found by none. */
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

/** Made when it is first asked for. */
export function lazy<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/**
 * `moved:` as changes to state: each binding that still stands under its old address goes to the new one. A move that
 * is done, or whose new address is bound already, changes nothing, so it may stay in the manifest.
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
    // All the way: what was left at a may follow when b has long gone on to c.
    let to = from;
    for (let step = next.get(to); step !== undefined && !bound.has(step); step = next.get(to)) to = step;
    if (to === from) continue;
    bound.delete(from);
    bound.add(to);
    events.push({ type: "moved", from, to });
  }
  return events;
}

/** Of a chain a → b → c the last link comes first, since b must have left before a arrives there. */
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
