import { type Address, parseAddress, targetAddress, targetOf } from "../model/address.ts";
import { cached, groupBy } from "../model/collections.ts";
import { byAddress, originOf } from "../model/desired.ts";
import { type Origin, oneLine } from "../model/diagnostic.ts";
import { DELETED } from "../model/fields.ts";
import { globTest } from "../model/glob.ts";
import type { Orphan } from "../model/plan.ts";
import type { Policy } from "../model/settings.ts";
import { findingsOf } from "./attention.ts";
import type { Planned } from "./plan.ts";
import { type Breach, fewOf } from "./problem.ts";

/*
 * `policy.protected` names addresses, and protects the live resources that these mean: whoever
 * changes an address, a target or the state must not lose the protection by it. So each live
 * resource has several names, and each of them can protect it.
 */

/** A plan, with what is needed to tell what of it is protected. */
export interface ProtectedPlan extends Pick<
  Planned,
  "plan" | "matched" | "states" | "live" | "base"
> {
  readonly policy: Policy;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Addresses that other stages have for live resources of this plan, with both policies. */
  readonly elsewhere?: readonly {
    readonly stage: string;
    readonly policy: Policy;
    readonly bound: readonly Orphan[];
  }[];
  /** Whether an address is in the plan's scope; required tags are checked only then. */
  readonly inScope: (address: Address) => boolean;
}

/** An address that means, or has meant, a live resource. */
interface Name {
  readonly address: Address;
  /** Undefined in the stage of the plan. */
  readonly stage: string | undefined;
  /** The glob that protects it. */
  readonly glob: string | undefined;
  /** Whether one of the trust file does, which the manifests cannot remove. */
  readonly isPinned: boolean;
}

/** A way in which a plan would harm a resource, protected or not. */
interface Harm {
  readonly address: Address;
  /** Of the live resource. */
  readonly id: string | undefined;
  /** The words after "this test case would be". */
  readonly what: string;
  /** For what all test cases of a target run on: the protected test case among them. */
  readonly testCase?: Name | undefined;
}

/**
 * Returns what a plan would do to protected resources.
 * @param origin where `tasc.yaml` sets the rule
 */
export function protectedBreaches(
  input: ProtectedPlan,
  origin: Origin | undefined,
): readonly Breach[] {
  const names = namesIn(input);
  if (names === undefined) return [];
  const harms = [
    ...harmedByChanges(input, names),
    ...harmedWithoutAddress(input, names),
    ...harmedWithTarget(input, names),
    ...harmedByNewAddress(names),
  ];
  const breaches = [...groupBy(harms, ({ address }) => address).values()].flatMap((own) =>
    breachOf(own, input, names),
  );
  return [...unknownProtection(input, names, origin), ...breaches];
}

type Names = NonNullable<ReturnType<typeof namesIn>>;

/** Finds the names of all live resources; undefined if none of them is protected. */
function namesIn(input: ProtectedPlan) {
  const { policy, elsewhere = [], matched, base = [] } = input;
  const own = namesUnder(policy);
  const theirs = elsewhere.flatMap(({ stage, policy: both, bound }) => {
    const nameOf = namesUnder(both);
    return bound.map(({ address, id }) => [id, nameOf(address, stage)] as const);
  });
  if ((policy.protected ?? []).length === 0 && !theirs.some(([, name]) => isProtected(name)))
    return undefined;
  const bases = base === "unreadable" ? [] : base;
  const byId = namesById(input, bases.flatMap(boundIn), own);
  for (const [id, name] of theirs) cached(byId, id, (): Name[] => []).push(name);
  return {
    /** The name of an address of this stage. */
    own,
    /** All names of a live resource. */
    byId: byId as ReadonlyMap<string, readonly Name[]>,
    /** The declared addresses that have a live resource. */
    bound: boundIn(matched),
    bases,
    /** Addresses that `removed:` names. */
    forgotten: new Map(
      input.plan.changes.flatMap(({ address, action, id }) =>
        action === "forget" ? [[address, id] as const] : [],
      ),
    ),
  };
}

function namesUnder({ protected: globs = [], pinned = [] }: Policy) {
  const tests = globs.map((glob) => ({ glob, fits: globTest(glob) }));
  const kept = pinned.map((glob) => globTest(glob));
  return (address: Address, stage?: string): Name => {
    const glob = tests.find(({ fits }) => fits(address))?.glob;
    return { address, stage, glob, isPinned: kept.some((fits) => fits(address)) };
  };
}

const isProtected = ({ glob }: Name): boolean => glob !== undefined;
const isPinned = (name: Name): boolean => name.isPinned;

/** Returns the name whose protection is the hardest to remove, if any protects. */
function strongest(names: readonly Name[]): Name | undefined {
  return names.find(isPinned) ?? names.find(isProtected);
}

/**
 * Returns the names of each live resource in this stage, by id: addresses in any state, and in the
 * base's manifests. One in the state of an undeclared target counts only if no declared target's
 * state has an address for the id.
 */
function namesById(
  { states, matched }: ProtectedPlan,
  base: readonly Orphan[],
  nameOf: (address: Address) => Name,
): Map<string, Name[]> {
  const names = new Map<string, Name[]>();
  const add = (address: Address, id: string) =>
    cached(names, id, (): Name[] => []).push(nameOf(address));
  for (const { target, bindings } of states) {
    const known = matched.get(target)?.target;
    const isDeclared = known !== undefined && known.left !== true;
    for (const [address, { id }] of bindings) if (isDeclared || !names.has(id)) add(address, id);
  }
  for (const { address, id } of base) add(address, id);
  return names;
}

/** Returns what attention finds in the changes, and which protected test cases run there. */
function harmedByChanges(input: ProtectedPlan, { own, byId }: Names): readonly Harm[] {
  const { plan, matched } = input;
  const changes = byAddress(plan.changes);
  const orphaned = byAddress(plan.orphaned);
  return [...findingsOf(input).values()].flat().flatMap((finding): readonly Harm[] => {
    const { address, refused, concerns } = finding;
    if (address === undefined || refused === undefined) return [];
    const planned = changes.get(address) ?? orphaned.get(address);
    // What was found without a change, such as weakened steps, may be outside of the scope.
    if (planned === undefined && !input.inScope(address)) return [];
    const { id } = planned ?? {};
    // All test cases of the target run there, so each of them protects it.
    const tested = concerns && matched.get(targetOf(address));
    const running = (tested?.target.testCases ?? []).flatMap((one) => [
      own(one.address),
      ...(byId.get(tested?.matches.get(one.address)?.live?.id ?? "") ?? []),
    ]);
    return [{ address, id, what: refused, testCase: strongest(running) }];
  });
}

/**
 * Returns live resources that no declared address means any more. An `id:` or a renamed target can
 * cause that although their old address is declared.
 */
function harmedWithoutAddress(input: ProtectedPlan, names: Names): readonly Harm[] {
  const { byId, bound, forgotten } = names;
  const meant = new Set([...bound.map(({ id }) => id), ...forgotten.values()]);
  const isListed = listedIds(input);
  return [...byId].flatMap(([id, all]) => {
    const name = all.find((one) => isProtected(one) && input.inScope(one.address));
    const isLost = name !== undefined && !meant.has(id) && isListed.has(id);
    return isLost ? [{ address: name.address, id, what: "orphaned" }] : [];
  });
}

/**
 * Returns what is declared in targets that only the base's manifests mean. Their test cases were
 * not read, so everything in them counts as orphaned.
 */
function harmedWithTarget({ live: read, inScope }: ProtectedPlan, names: Names): readonly Harm[] {
  const { own, bases, forgotten } = names;
  const isHarmed = (address: Address): boolean =>
    isProtected(own(address)) && inScope(address) && !forgotten.has(address);
  return bases
    .flatMap((base) => [...base.values()])
    .flatMap(({ live, resources }): readonly Harm[] =>
      live === undefined || read.testCases.has(live.id)
        ? []
        : [...resources.keys()]
            .filter(isHarmed)
            .map((address) => ({ address, id: live.id, what: "orphaned" })),
    );
}

/**
 * Returns live resources whose new address protects them less: nothing would protect them from the
 * next plan, or only a glob that manifests can remove.
 */
function harmedByNewAddress({ own, byId, bound }: Names): readonly Harm[] {
  return bound.flatMap(({ address, id }) =>
    [isProtected, isPinned].flatMap((isKept) => {
      const name = isKept(own(address)) ? undefined : byId.get(id)?.find(isKept);
      if (name === undefined) return [];
      return [
        { address, id, what: name.stage === undefined ? "renamed" : "taken from another stage" },
      ];
    }),
  );
}

/** Makes one breach of all that a plan would do to an address, if that is protected. */
function breachOf(
  harms: readonly Harm[],
  { matched }: ProtectedPlan,
  { own, byId, forgotten }: Names,
): readonly Breach[] {
  const [first] = harms;
  if (first === undefined) return [];
  const { address, id } = first;
  const testCase = harms.findLast((harm) => harm.testCase !== undefined)?.testCase;
  // The protection applies to the live resource, so a different key or target does not circumvent
  // it.
  const all = [own(address), ...(byId.get(id ?? "") ?? []), ...(testCase ? [testCase] : [])];
  const { glob, stage, address: name } = strongest(all) ?? own(address);
  if (glob === undefined) return [];
  const known =
    name === address ? "" : testCase?.address === name ? `: ${name} runs there` : ` as ${name}`;
  const place = stage === undefined ? "" : ` in stage ${stage}`;
  const resource = matched.get(targetOf(address))?.resources.get(address);
  const noun = parseAddress(address)?.kind === "testCase" ? "test case" : "resource";
  const back = resource
    ? ""
    : forgotten.has(address)
      ? " Declare it again in place of its entry in `removed:`."
      : ` Restore it in the manifest, or remove it from state:\ntasc state rm ${address}`;
  const what = [...new Set(harms.map((harm) => harm.what))].join(" and ");
  return [
    {
      summary: `this ${noun} would be ${what}`,
      detail: `\`${oneLine(glob)}\` of \`policy.protected\` protects it${known}${place}.${back}`,
      address,
      origin: resource && originOf(resource),
    },
  ];
}

/**
 * Refuses a plan whose base cannot be read: a new stage or another folder would leave every live
 * resource without the address that protects it.
 */
function unknownProtection(
  { base, plan, inScope }: ProtectedPlan,
  { bound }: Names,
  origin: Origin | undefined,
): readonly Breach[] {
  const nameless = base === "unreadable" ? bound.filter(({ address }) => inScope(address)) : [];
  if (nameless.length === 0) return [];
  const summary = `the base has no valid manifests for stage ${plan.stage}, so it is unknown what it protects`;
  const addresses = fewOf(nameless.map(({ address }) => address));
  const detail = `Any of these live resources may have had a protected address: ${addresses}.`;
  return [{ summary, detail, origin }];
}

/**
 * Returns all live ids. If a target was not read, because its address now means another one, all
 * ids in its state count.
 */
function listedIds({ live, states, matched }: ProtectedPlan): ReadonlySet<string> {
  const ids = new Set(
    live.targets.flatMap(({ id, environments }) => [id, ...environments.map((one) => one.id)]),
  );
  for (const testCases of live.testCases.values())
    for (const { id, status } of testCases) if (status !== DELETED) ids.add(id);
  for (const { target, bindings } of states) {
    const own = bindings.get(targetAddress(target))?.id ?? "";
    if (matched.has(target) && ids.has(own) && !live.testCases.has(own))
      for (const { id } of bindings.values()) ids.add(id);
  }
  return ids;
}

/** Returns all declared addresses that have a live resource, with its id. */
function boundIn(matched: ProtectedPlan["matched"]): readonly Orphan[] {
  return [...matched.values()].flatMap(({ matches }) =>
    [...matches].flatMap(([address, { live }]) =>
      live === undefined ? [] : [{ address, id: live.id }],
    ),
  );
}
