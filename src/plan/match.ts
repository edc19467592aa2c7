import { type Address, compareText } from "../model/address.ts";
import type { DesiredResource, DesiredTarget, Move } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { DELETED } from "../model/fields.ts";
import type { LiveEnvironment, LiveTarget, LiveTestCase } from "../model/live.ts";
import type { State, StateEvent } from "../model/state.ts";
import { isSensitive } from "../model/value.ts";
import { knownText, problem, sameUrl } from "./input.ts";

/**
 * Which live resource each address means (design contract, section 2): by the `id:` of the manifest, else by the
 * id in state, else by what the resource is called. One live resource never answers to two addresses: the ids that
 * are bound take theirs first, and what is then found twice is an error that lists the ids.
 */
export type Match<L> =
  | { readonly found: true; readonly id: string; readonly live: L }
  /** `removed`: the id it was bound to, which the service no longer lists. */
  | { readonly found: false; readonly removed?: string };

export interface Matches<L> {
  /** An address with a problem has no entry. */
  readonly byAddress: ReadonlyMap<Address, Match<L>>;
  readonly problems: readonly Diagnostic[];
}

/** How resources of a kind are told apart; the rest of matching is the same for all kinds. */
interface MatchRule<L> {
  readonly noun: string;
  readonly live: readonly L[];
  readonly idOf: (live: L) => string;
  readonly nameOf: (live: L) => string;
  /** Fields that the name is made of. */
  readonly names: readonly string[];
  /** Live resources that the declared one may mean when no id says so. */
  readonly candidates: (resource: DesiredResource) => readonly L[];
  /** How the user tells tasc which one is meant. */
  readonly remedy: string;
}

export function matchTargets(
  targets: readonly DesiredTarget[],
  live: readonly LiveTarget[],
  states: ReadonlyMap<string, State>,
): Matches<LiveTarget> {
  const byApp = new Groups(live, (target) => target.app);
  const declared = targets.filter(({ left }) => left !== true);
  const matches = matchAll(declared, (resource) => boundId(resource, states.get(resource.key)), {
    noun: "test target",
    live,
    idOf: (target) => target.id,
    nameOf: (target) => `app "${target.app}"`,
    names: ["app"],
    candidates: (resource) => byApp.of(knownText(resource, "app")),
    remedy: "Write the id of the one you mean as `id:` into the target.",
  });
  return { ...matches, byAddress: andLeft(matches.byAddress, targets, live, states) };
}

/** One that left is what state says, unless a declared one means it now: then it did not leave, but changed its key. */
function andLeft(
  declared: ReadonlyMap<Address, Match<LiveTarget>>,
  targets: readonly DesiredTarget[],
  live: readonly LiveTarget[],
  states: ReadonlyMap<string, State>,
): ReadonlyMap<Address, Match<LiveTarget>> {
  const left = targets.filter((target) => target.left);
  if (left.length === 0) return declared;
  const taken = matchedIds(declared);
  const all = new Map(declared);
  for (const target of left) {
    const id = boundId(target, states.get(target.key));
    const own = live.find((one) => one.id === id && !taken.has(one.id));
    all.set(target.address, own === undefined ? { found: false } : { found: true, id: own.id, live: own });
  }
  return all;
}

/** The ids of what was found. */
export function matchedIds(matches: ReadonlyMap<Address, Match<unknown>>): ReadonlySet<string> {
  return new Set([...matches.values()].flatMap((match) => (match.found ? [match.id] : [])));
}

export function matchEnvironments(
  target: DesiredTarget,
  live: readonly LiveEnvironment[],
  state: State | undefined,
): Matches<LiveEnvironment> {
  return matchAll(target.environments, (resource) => boundId(resource, state), {
    noun: "environment",
    live,
    idOf: (environment) => environment.id,
    nameOf: (environment) =>
      `${environment.type ?? "environment"} at ${environment.discoveryUrl ?? "no URL"}`,
    names: ["discoveryUrl"],
    candidates: (resource) => environmentCandidates(resource, live),
    remedy: "Write the id of the one you mean as `id:` into the environment.",
  });
}

function environmentCandidates(
  resource: DesiredResource,
  live: readonly LiveEnvironment[],
): readonly LiveEnvironment[] {
  if (resource.key === "default") return live.filter((environment) => environment.type === "DEFAULT");
  const url = knownText(resource, "discoveryUrl");
  return live.filter(
    (environment) =>
      environment.type === "ADDITIONAL" &&
      url !== undefined &&
      environment.discoveryUrl !== undefined &&
      sameUrl(environment.discoveryUrl, url),
  );
}

export function matchTestCases(
  target: DesiredTarget,
  all: readonly LiveTestCase[],
  state: State | undefined,
): Matches<LiveTestCase> {
  const live = all.filter((testCase) => testCase.status !== DELETED);
  const byName = lazy(() => new Groups(live, (testCase) => testCase.description));
  const byExternalId = lazy(() => new Groups(live, (testCase) => testCase.externalId ?? undefined));
  return matchAll(target.testCases, (resource) => boundId(resource, state), {
    noun: "test case",
    live,
    idOf: (testCase) => testCase.id,
    nameOf: (testCase) => `"${testCase.description ?? ""}"`,
    names: ["description"],
    candidates: (resource) => testCaseCandidates(resource, byName(), byExternalId()),
    remedy:
      "Write the id of the one you mean as `id:` into the test case, or give each test case a unique description.",
  });
}

function testCaseCandidates(
  resource: DesiredResource,
  byName: Groups<LiveTestCase>,
  byExternalId: Groups<LiveTestCase>,
): readonly LiveTestCase[] {
  const externalId = knownText(resource, "externalId");
  const named = byName.of(knownText(resource, "description"));
  if (externalId === undefined) return named;
  const same = byExternalId.of(externalId);
  // A case with an external id of its own is another one, however alike the names.
  return same.length > 0 ? same : named.filter((testCase) => (testCase.externalId ?? null) === null);
}

function boundId(resource: DesiredResource, state: State | undefined): string | undefined {
  return state?.bindings.get(resource.address)?.id;
}

function matchAll<L>(
  resources: readonly DesiredResource[],
  stateId: (resource: DesiredResource) => string | undefined,
  kind: MatchRule<L>,
): Matches<L> {
  const byId = new Map(kind.live.map((live) => [kind.idOf(live), live]));
  const problems: Diagnostic[] = [];
  const found = new Map<Address, Match<L>>();
  const claims = new Map<string, DesiredResource>();
  const contested = new Map<string, DesiredResource[]>();

  const bind = (resource: DesiredResource, live: L): void => {
    const id = kind.idOf(live);
    found.set(resource.address, { found: true, id, live });
    const first = claims.get(id);
    if (first === undefined) claims.set(id, resource);
    else addTo(contested, id, first, resource);
  };

  const unbound: DesiredResource[] = [];
  for (const resource of resources) {
    const id = resource.id ?? stateId(resource);
    const live = id === undefined ? undefined : byId.get(id);
    if (live !== undefined) bind(resource, live);
    else if (resource.id === undefined) unbound.push(resource);
    else problems.push(unlisted(resource, resource.id, kind));
  }

  // Those found by id are taken: a name must not reach them a second time.
  const taken = new Set(claims.keys());
  for (const resource of unbound) {
    const candidates = kind.candidates(resource).filter((live) => !taken.has(kind.idOf(live)));
    const [only] = candidates;
    const removed = stateId(resource);
    if (candidates.length > 1) problems.push(ambiguous(resource, candidates, kind));
    else if (only !== undefined) bind(resource, only);
    else found.set(resource.address, removed === undefined ? { found: false } : { found: false, removed });
  }

  for (const [id, claimants] of contested) {
    for (const resource of claimants) {
      found.delete(resource.address);
      problems.push(claimedTwice(resource, id, claimants, kind));
    }
  }
  return { byAddress: found, problems };
}

function unlisted<L>(resource: DesiredResource, id: string, kind: MatchRule<L>): Diagnostic {
  return problem(
    "id-not-listed",
    resource,
    `The service lists no ${kind.noun} with the id ${id}`,
    `The manifest binds it by \`id: ${id}\`. Correct the id, or remove the line so that the ${kind.noun} is matched by name or created.`,
    ["id"],
  );
}

function ambiguous<L>(resource: DesiredResource, candidates: readonly L[], kind: MatchRule<L>): Diagnostic {
  const hidden = kind.names.some((name) => isSensitive(resource.fields[name] ?? null));
  const list = candidates
    .map((live) => `  ${kind.idOf(live)}${hidden ? "" : `  ${kind.nameOf(live)}`}`)
    .toSorted(compareText)
    .join("\n");
  return problem(
    "ambiguous-match",
    resource,
    `${candidates.length} live ${kind.noun}s fit`,
    `All of these match the declaration:\n${list}\n${kind.remedy}`,
  );
}

function claimedTwice<L>(
  resource: DesiredResource,
  id: string,
  claimants: readonly DesiredResource[],
  kind: MatchRule<L>,
): Diagnostic {
  const others = claimants.filter((other) => other !== resource).map((other) => other.address);
  return problem(
    "claimed-twice",
    resource,
    `The ${kind.noun} ${id} is also bound to ${others.join(", ")}`,
    `One live ${kind.noun} cannot have two addresses. ${kind.remedy}`,
  );
}

/** Live resources by a name that mostly one of them has: only where several do, a list of them is made and kept. */
class Groups<L> {
  readonly #first = new Map<string, L>();
  readonly #all = new Map<string, L[]>();

  constructor(items: readonly L[], nameOf: (item: L) => string | undefined) {
    for (const item of items) {
      const name = nameOf(item);
      if (name === undefined) continue;
      const first = this.#first.get(name);
      if (first === undefined) this.#first.set(name, item);
      else addTo(this.#all, name, first, item);
    }
  }

  of(name: string | undefined): readonly L[] {
    if (name === undefined) return [];
    const first = this.#first.get(name);
    return first === undefined ? [] : (this.#all.get(name) ?? [first]);
  }
}

/** Adds one more under a name that so far one alone had, or several. */
function addTo<T>(lists: Map<string, T[]>, name: string, first: T, next: T): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [first, next]);
  else list.push(next);
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
  const bound = new Set<Address>([
    ...state.bindings.keys(),
    ...state.batchGenerations.keys(),
    ...state.intents.keys(),
  ]);
  const events: StateEvent[] = [];
  const ordered = lastLinksFirst(moves);
  for (let done = -1; done < events.length;) {
    done = events.length;
    for (const { from, to } of ordered) {
      if (!bound.has(from) || bound.has(to)) continue;
      bound.delete(from);
      bound.add(to);
      events.push({ type: "moved", from, to });
    }
  }
  return events;
}

/**
 * Of a chain a → b → c the last link comes first, since b must have left before a arrives there. What was left at a
 * when b had long gone on to c goes all the way in further turns.
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
