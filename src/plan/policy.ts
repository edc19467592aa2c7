import { isDeepStrictEqual } from "node:util";
import { stricter } from "../manifest/trust.ts";
import { type Address, parseAddress, targetAddress, targetOf } from "../model/address.ts";
import { globTest } from "../model/glob.ts";
import { type DesiredTarget, byAddress, originOf } from "../model/desired.ts";
import { type Diagnostic, type Origin, oneLine } from "../model/diagnostic.ts";
import { DELETED } from "../model/fields.ts";
import { defined } from "../model/json.ts";
import type { Change, Orphan } from "../model/plan.ts";
import {
  POLICY_RULES,
  type Policy,
  type PolicyRule,
  type Rule,
  type Settings,
} from "../model/settings.ts";
import { isUnknown, reveal } from "../model/value.ts";
import { type GateVerdict, refusalLine } from "./passed-in.ts";
import { cached, groupBy } from "../model/collections.ts";
import { findingsOf } from "./attention.ts";
import { fewOf } from "./problem.ts";
import type { Planned } from "./plan.ts";
import { quarantineBreaches, reasonBreaches } from "./quarantine.ts";
import { isRediscovering } from "./staleness.ts";

/** A violation of a policy rule. */
interface Breach extends Pick<Diagnostic, "summary" | "detail" | "address"> {
  readonly origin: Origin | undefined;
}

/** Addresses in the state of another stage, with the policy of both stages. */
type BoundElsewhere = {
  readonly stage: string;
  readonly policy: Policy;
  readonly bound: readonly Orphan[];
};

/** A violation of a rule of the policy, built in or the project's own. */
export interface Violation extends Breach {
  /** The name that `--override-policy` takes. */
  readonly rule: string;
  /** Of the project's own rules. `warn`: it is told, and refuses nothing. */
  readonly level?: Rule["level"];
}

export interface PolicyInput extends Pick<
  Planned,
  "plan" | "matched" | "states" | "live" | "base"
> {
  readonly policy: Policy;
  /** Addresses that other stages have for live resources of this plan. */
  readonly elsewhere?: readonly BoundElsewhere[];
  /** Milliseconds since 1970. */
  readonly now: number;
  /** What another stage says, if `policy.passedIn` is set and must be judged. */
  readonly gate?: GateVerdict | undefined;
  /** Whether an address is in the plan's scope; required tags are checked only then. */
  readonly inScope: (address: Address) => boolean;
  /** Returns where `tasc.yaml` sets a rule. */
  readonly ruleOrigin: (rule: PolicyRule) => Origin | undefined;
}

/**
 * Returns the violations of the project's policy by a plan (design contract, section 8), rule by
 * rule.
 */
export function violationsOf(input: PolicyInput): readonly Violation[] {
  // Another stage may protect what this one does not.
  const isSet = (rule: PolicyRule) => rule === "protected" || input.policy[rule] !== undefined;
  return POLICY_RULES.filter(isSet).flatMap((rule) =>
    RULES[rule](input, input.ruleOrigin(rule)).map((breach) => ({ rule, ...breach })),
  );
}

/** The check of each rule. @param origin where `tasc.yaml` sets the rule */
const RULES: Readonly<
  Record<PolicyRule, (input: PolicyInput, origin: Origin | undefined) => readonly Breach[]>
> = {
  maxChanges({ plan: { changes }, policy: { maxChanges: most = Infinity } }, origin) {
    if (changes.length <= most) return [];
    const detail = `That is ${changes.length - most} too many. Apply them in steps with --only. Planned: ${listed(changes)}.`;
    return [{ summary: `${changes.length} planned, at most ${most} allowed`, detail, origin }];
  },

  /**
   * Managed test cases are declared live ones, and those that the plan disables because they left
   * the manifests.
   */
  maxDisabledPercent({ plan, matched, policy: { maxDisabledPercent: most = 100 } }, origin) {
    return [...matched.values()].flatMap(({ target, resources, matches }) => {
      const own = plan.changes.filter(({ address }) => targetOf(address) === target.key);
      const declared = target.testCases.filter(({ address }) => matches.get(address)?.live).length;
      const managed = declared + own.filter(({ address }) => !resources.has(address)).length;
      const disabled = own.filter(({ action }) => action === "disable");
      if (disabled.length * 100 <= most * managed) return [];
      const summary = `${Math.round((disabled.length / managed) * 1000) / 10} % disabled or switched off, at most ${most} % allowed`;
      const detail = `The plan disables or switches off ${disabled.length} of the ${managed} managed live test cases of ${target.key}: ${listed(disabled)}.`;
      return [{ summary, detail, address: target.address, origin }];
    });
  },

  protected: protectedHarms,

  /**
   * Checks the resolved configuration, because undeclared tags on the service can disappear at any
   * time.
   */
  requireTags({ matched, policy: { requireTags = [] }, inScope }) {
    const testCases = [...matched.values()].flatMap(({ target }) => target.testCases);
    return testCases.flatMap((resource) => {
      const { address, fields } = resource;
      const value = fields["tags"] ?? [];
      if (!inScope(address) || isUnknown(value)) return [];
      const tags = reveal(value);
      const missing = requireTags.filter((tag) => !Array.isArray(tags) || !tags.includes(tag));
      if (missing.length === 0) return [];
      const detail = `Every managed test case must have the tags ${oneLine(fewOf(requireTags))}. Add what is missing to its \`tags\`, or to \`defaults.testCases.tags\`; its own list replaces the default list.`;
      const origin = originOf(resource, ["tags"]);
      return [{ summary: `missing tags: ${fewOf(missing)}`, detail, address, origin }];
    });
  },

  /**
   * Counts the changes that make the service generate: they cost money and change what tests do.
   */
  maxGenerations({ plan, policy: { maxGenerations: most = Infinity } }, origin) {
    const generating = plan.changes.filter((change) => {
      const kind = parseAddress(change.address)?.kind;
      const isNew =
        change.action === "create" && (kind === "testCase" || kind === "batchGeneration");
      return isNew || isRediscovering(change);
    });
    if (generating.length <= most) return [];
    const detail = `Rediscoveries, new test cases and batch generations are counted: ${listed(generating)}.`;
    return [{ summary: `${generating.length} planned, at most ${most} allowed`, detail, origin }];
  },

  quarantine: ({ policy, ...input }) => quarantineBreaches(declaredIn(input), policy),

  offNeedsReason: (input) => reasonBreaches(declaredIn(input)),

  /** The other stage was asked before, because that takes calls. */
  passedIn: ({ policy: { passedIn: rule }, gate, matched }) => {
    if (rule === undefined || gate === undefined) return [];
    const refused = gate.refused.map((refusal): Breach => {
      const { address } = refusal;
      const resource = matched.get(targetOf(address))?.resources.get(address);
      const detail = `\`policy.passedIn\` asks for it in ${rule.stage}. Apply and run it there, then plan again.`;
      return {
        summary: refusalLine(refusal, rule),
        detail,
        address,
        origin: resource && originOf(resource),
      };
    });
    if (gate.open === undefined) return refused;
    const { why, addresses } = gate.open;
    const detail = `Without it, nobody knows whether these test cases have passed in ${rule.stage}: ${fewOf(addresses)}.`;
    return [...refused, { summary: `not judged: ${why}`, detail, origin: undefined }];
  },
};

const declaredIn = ({ matched, inScope, now }: Omit<PolicyInput, "policy">) => ({
  targets: [...matched.values()].map(({ target }) => target),
  inScope,
  now,
});

/** Returns the violations that the manifests alone show, for a command that makes no plan. */
export function manifestViolations(
  targets: readonly DesiredTarget[],
  policy: Policy,
  now: number,
): readonly Violation[] {
  const judged = { targets, inScope: () => true, now };
  const found: readonly (readonly [rule: PolicyRule, breaches: readonly Breach[]])[] = [
    ["quarantine", quarantineBreaches(judged, policy)],
    ["offNeedsReason", policy.offNeedsReason === true ? reasonBreaches(judged) : []],
  ];
  return found.flatMap(([rule, breaches]) => breaches.map((breach) => ({ rule, ...breach })));
}

/** An address and the id of its live resource. */
type Bound = Pick<Change, "address" | "id">;

/**
 * Returns a function that names a resource: with the glob that protects it, and whether one of the
 * trust file does.
 */
function namesUnder({ protected: globs = [], pinned = [] }: Policy) {
  const tests = globs.map((glob) => ({ glob, fits: globTest(glob) }));
  const kept = pinned.map((glob) => globTest(glob));
  return (address: Address, stage?: string) => {
    const glob = tests.find(({ fits }) => fits(address))?.glob;
    return { address, stage, glob, isPinned: kept.some((fits) => fits(address)) };
  };
}
type Name = ReturnType<ReturnType<typeof namesUnder>>;

const isProtected = ({ glob }: Name): boolean => glob !== undefined;
const isPinned = (name: Name): boolean => name.isPinned;

function protectedHarms(input: PolicyInput, ruleOrigin: Origin | undefined): readonly Breach[] {
  const { plan, matched, policy, inScope, elsewhere = [] } = input;
  const own = namesUnder(policy);
  const theirs = elsewhere.flatMap(({ stage, policy: both, bound }) => {
    const nameOf = namesUnder(both);
    return bound.map(({ address, id }) => [id, nameOf(address, stage)] as const);
  });
  if ((policy.protected ?? []).length === 0 && !theirs.some(([, name]) => isProtected(name)))
    return [];
  const bound = boundIn(matched);
  const bases = input.base === "unreadable" ? [] : (input.base ?? []);
  const names = namesById(input, bases.flatMap(boundIn), own);
  for (const [id, name] of theirs) cached(names, id, (): Name[] => []).push(name);
  const harms = new Map<Address, { readonly id: string | undefined; readonly what: Set<string> }>();
  const add = ({ address, id }: Bound, harm: string): void => {
    cached(harms, address, () => ({ id, what: new Set<string>() })).what.add(harm);
  };
  const changes = byAddress(plan.changes);
  const orphaned = byAddress(plan.orphaned);
  /** A protected test case that runs in a changed environment. */
  const runsThere = new Map<Address, Name>();
  for (const finding of [...findingsOf(input).values()].flat()) {
    const { address, refused, concerns } = finding;
    if (address === undefined || refused === undefined) continue;
    const { id } = changes.get(address) ?? orphaned.get(address) ?? {};
    add(defined({ address, id }), refused);
    // All test cases of the target run there, so each of them protects it.
    const tested = concerns && matched.get(targetOf(address));
    const all = (tested?.target.testCases ?? []).flatMap((one) => [
      own(one.address),
      ...(names.get(tested?.matches.get(one.address)?.live?.id ?? "") ?? []),
    ]);
    const name = all.find(isPinned) ?? all.find(isProtected);
    if (name !== undefined) runsThere.set(address, name);
  }
  // An `id:` or a renamed target can leave a live resource without an address, although its old
  // address is declared.
  const forgotten = plan.changes.filter(({ action }) => action === "forget");
  const isForgotten = (address: Address): boolean => changes.get(address)?.action === "forget";
  const [meant, isListed] = [
    new Set([...bound, ...forgotten].map(({ id }) => id)),
    listedIds(input),
  ];
  for (const [id, all] of names) {
    const name = all.find((one) => isProtected(one) && inScope(one.address));
    if (name !== undefined && !meant.has(id) && isListed.has(id)) add({ ...name, id }, "orphaned");
  }
  // If only the base's manifests mean a target, its test cases were not read: everything declared
  // in it counts as orphaned.
  for (const { live, resources } of bases.flatMap((base) => [...base.values()]))
    if (live !== undefined && !input.live.testCases.has(live.id))
      for (const address of resources.keys())
        if (isProtected(own(address)) && inScope(address) && !isForgotten(address))
          add({ address, id: live.id }, "orphaned");
  // Under its new address, nothing would protect it from the next plan, or only a glob that
  // manifests can remove.
  for (const one of bound)
    for (const isKept of [isProtected, isPinned]) {
      const name = isKept(own(one.address)) ? undefined : names.get(one.id)?.find(isKept);
      if (name !== undefined)
        add(one, name.stage === undefined ? "renamed" : "taken from another stage");
    }

  const found = [...harms].flatMap(([address, { id, what }]): readonly Breach[] => {
    // The protection applies to the live resource, so a different key or target does not circumvent
    // it.
    const all = [
      own(address),
      ...((id === undefined ? undefined : names.get(id)) ?? []),
      ...(runsThere.has(address) ? [runsThere.get(address) ?? own(address)] : []),
    ];
    const {
      glob,
      stage,
      address: name,
    } = all.find(isPinned) ?? all.find(isProtected) ?? own(address);
    if (glob === undefined) return [];
    const known =
      (name === address
        ? ""
        : runsThere.get(address)?.address === name
          ? `: ${name} runs there`
          : ` as ${name}`) + (stage === undefined ? "" : ` in stage ${stage}`);
    const resource = matched.get(targetOf(address))?.resources.get(address);
    const noun = parseAddress(address)?.kind === "testCase" ? "test case" : "resource";
    const back = resource
      ? ""
      : isForgotten(address)
        ? " Declare it again in place of its entry in `removed:`."
        : ` Restore it in the manifest, or remove it from state:\ntasc state rm ${address}`;
    return [
      {
        summary: `this ${noun} would be ${[...what].join(" and ")}`,
        detail: `\`${oneLine(glob)}\` of \`policy.protected\` protects it${known}.${back}`,
        address,
        origin: resource && originOf(resource),
      },
    ];
  });
  const nameless =
    input.base === "unreadable" ? bound.filter(({ address }) => inScope(address)) : [];
  if (nameless.length === 0) return found;
  // A new stage or another folder would leave every live resource without the address that protects
  // it.
  const summary = `the base has no valid manifests for stage ${plan.stage}, so it is unknown what it protects`;
  const detail = `Any of these live resources may have had a protected address: ${listed(nameless)}.`;
  return [{ summary, detail, origin: ruleOrigin }, ...found];
}

/**
 * Returns the names of each live resource in this stage, by id: addresses in any state, and in the
 * base's manifests. One in the state of an undeclared target counts only if no declared target's
 * state has an address for the id.
 */
function namesById(
  { states, matched }: PolicyInput,
  base: ReturnType<typeof boundIn>,
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

/**
 * Returns all live ids. If a target was not read, because its address now means another one, all
 * ids in its state count.
 */
function listedIds({ live, states, matched }: PolicyInput): ReadonlySet<string> {
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
function boundIn(matched: PolicyInput["matched"]) {
  return [...matched.values()].flatMap(({ matches }) =>
    [...matches].flatMap(([address, { live }]) =>
      live === undefined ? [] : [{ address, id: live.id }],
    ),
  );
}

const listed = (all: readonly Bound[]): string => fewOf(all.map(({ address }) => address));

/**
 * Returns which settings allow more than before, in any stage: rules of the policy, and base URLs,
 * which say where API keys are sent. Limits of a trust file are part of both, so what it pins is not
 * loosened.
 */
export function loosenedSettings(before: Settings, after: Settings): readonly string[] {
  const policies = (all: Settings) => new Map([[all.stage, all.policy], ...all.otherPolicies]);
  const urls = (all: Settings) => new Map([[all.stage, all.baseUrl], ...all.otherBaseUrls]);
  const now = policies(after);
  const rules = [...policies(before)].flatMap(([stage, was]) => {
    const own = stricter(now.get(stage) ?? {}, {});
    const { onRemove: _, pinned: __, ...strictest } = stricter(own, was);
    const kept = new Map<string, unknown>(Object.entries(own));
    const looser = Object.entries(strictest).filter(
      ([rule, value]) => !isDeepStrictEqual(value, kept.get(rule)),
    );
    return looser.map(([rule]) => ({ rule, stage }));
  });
  const moved = [...urls(before)].flatMap(([stage, was]) => {
    const is = urls(after).get(stage);
    return is === undefined || is === was ? [] : [`service.baseUrl of ${stage}: ${was} → ${is}`];
  });
  const byRule = [...groupBy(rules, ({ rule }) => rule)].map(
    ([rule, own]) => `policy.${rule} of ${own.map(({ stage }) => stage).join(", ")}`,
  );
  return [...byRule, ...moved];
}

/** Returns violations as diagnostics: errors, or warnings if `--override-policy` allows them. */
export function policyDiagnostics(
  violations: readonly Violation[],
  overridden: ReadonlySet<string>,
): readonly Diagnostic[] {
  return violations.map(({ rule, level, summary, detail, ...about }) => {
    const told = level === "warn";
    const through = told || overridden.has(rule);
    const remedy = told
      ? "The rule only warns."
      : through
        ? `Allowed by --override-policy ${rule}.`
        : `If this is intended, add --override-policy ${rule}`;
    return {
      ...defined(about),
      code:
        level === undefined
          ? `policy-${rule.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
          : "policy-rule",
      severity: through ? ("warning" as const) : ("error" as const),
      summary: `${through ? "Policy" : "Blocked by policy"} "${rule}": ${summary}`,
      detail: `${detail}\n${remedy}`,
    };
  });
}

/** Returns the rules that refuse a plan: those that are violated and not overridden. */
export function refusingRules(violations: readonly Violation[], overridden: readonly string[]) {
  return violations.flatMap(({ rule, level }) =>
    level === "warn" || overridden.includes(rule) ? [] : rule,
  );
}
