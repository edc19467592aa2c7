import { type Address, parseAddress, targetAddress } from "../model/address.ts";
import { globTest } from "../model/glob.ts";
import { originOf } from "../model/desired.ts";
import type { Diagnostic, Origin } from "../model/diagnostic.ts";
import { DELETED } from "../model/fields.ts";
import type { Change, Plan } from "../model/plan.ts";
import type { Policy, PolicyRule } from "../model/settings.ts";
import { isUnknown, reveal } from "../model/value.ts";
import { targetOf } from "./input.ts";
import type { Planned } from "./plan.ts";
import { isRediscovering } from "./staleness.ts";

/** A rule of the policy that a plan breaks, with what it is about. */
export interface Violation {
  readonly rule: PolicyRule;
  readonly summary: string;
  readonly detail: string;
  readonly address?: Address;
  readonly origin?: Origin;
}

export interface PolicyInput extends Pick<Planned, "plan" | "matched" | "states" | "live" | "base"> {
  readonly policy: Policy;
  /** Whether the plan is about an address; its tags are asked for only then. */
  readonly inScope: (address: Address) => boolean;
  /** Where `tasc.yaml` sets a rule. */
  readonly ruleOrigin: (rule: PolicyRule) => Origin | undefined;
}

/** Where a plan goes past the project's policy (design contract, section 8), rule by rule. */
export function violationsOf(input: PolicyInput): readonly Violation[] {
  return [
    ...tooManyChanges(input),
    ...tooManyDisabled(input),
    ...protectedAddresses(input),
    ...missingTags(input),
    ...tooManyGenerations(input),
  ];
}

function tooManyChanges({ plan, policy, ruleOrigin }: PolicyInput): readonly Violation[] {
  const { maxChanges } = policy;
  const amount = plan.changes.length;
  if (maxChanges === undefined || amount <= maxChanges) return [];
  const addresses = plan.changes.map(({ address }) => address);
  return [
    {
      rule: "maxChanges",
      summary: `${amount} planned, at most ${maxChanges} allowed`,
      detail: `That is ${amount - maxChanges} too many. Apply them in steps with --only. Planned: ${listed(addresses)}.`,
      ...at(ruleOrigin("maxChanges")),
    },
  ];
}

/** Managed are the live cases that are declared, and those that the plan disables because they no longer are. */
function tooManyDisabled({ plan, matched, policy, ruleOrigin }: PolicyInput): readonly Violation[] {
  const { maxDisabledPercent } = policy;
  if (maxDisabledPercent === undefined) return [];
  return [...matched.values()].flatMap(({ target, resources, matches }) => {
    const own = plan.changes.filter(({ address }) => targetOf(address) === target.key);
    const declared = target.testCases.filter(({ address }) => matches.get(address)?.live).length;
    const managed = declared + own.filter(({ address }) => !resources.has(address)).length;
    const disabled = own.filter(({ action }) => action === "disable");
    if (disabled.length * 100 <= maxDisabledPercent * managed) return [];
    const share = Math.round((disabled.length / managed) * 1000) / 10;
    const addresses = disabled.map(({ address }) => address);
    return [
      {
        rule: "maxDisabledPercent" as const,
        summary: `${share} % disabled or switched off, at most ${maxDisabledPercent} % allowed`,
        detail: `The plan disables or switches off ${disabled.length} of the ${managed} managed live test cases of ${target.key}: ${listed(addresses)}.`,
        address: target.address,
        ...at(ruleOrigin("maxDisabledPercent")),
      },
    ];
  });
}

function protectedAddresses(input: PolicyInput): readonly Violation[] {
  const { plan, matched, policy, inScope } = input;
  const globs = (policy.protected ?? []).map((glob) => ({ glob, fits: globTest(glob) }));
  if (globs.length === 0) return [];
  const names = namesById(input);
  const isProtected = (name: Address): boolean => globs.some(({ fits }) => fits(name));
  const bound = boundIn(matched);
  const renamed = bound.filter(
    ([address, id]) => names.get(id)?.some(isProtected) === true && !isProtected(address),
  );
  const [meant, isListed] = [new Set(bound.map(([, id]) => id)), listedIds(input)];
  // An `id` or a target of another name can leave a live resource without a name, though its address is declared.
  const released = [...names].flatMap(([id, all]) => {
    const address = all.find((name) => isProtected(name) && inScope(name));
    return address === undefined || meant.has(id) || !isListed.has(id) ? [] : [{ address, id }];
  });
  // Of a target that only the base's manifests mean, no test case was read: all that they declare of it is let go.
  const unread = basesOf(input)
    .flatMap((base) => [...base.values()])
    .flatMap(({ live, resources }) =>
      live === undefined || input.live.testCases.has(live.id)
        ? []
        : [...resources.keys()].flatMap((address) =>
            isProtected(address) && inScope(address) ? [{ address, id: live.id }] : [],
          ),
    );
  const orphaned = [...plan.orphaned, ...released, ...unread];
  const nameless = input.base === "unreadable" ? bound.filter(([address]) => inScope(address)) : [];
  const harms = harmed({ ...plan, orphaned }, matched, renamed).flatMap(({ address, id, harms }) => {
    // Another key, or another target's, is no way around a protection: what counts is the live resource.
    const all = [address, ...((id === undefined ? undefined : names.get(id)) ?? [])];
    const name = all.find(isProtected);
    const glob = globs.find(({ fits }) => name !== undefined && fits(name))?.glob;
    if (glob === undefined) return [];
    const resource = matched.get(targetOf(address))?.resources.get(address);
    const back =
      resource === undefined
        ? ` Restore it in the manifest, or remove it from state:\ntasc state rm ${address}`
        : "";
    return [
      {
        rule: "protected" as const,
        summary: `this ${parseAddress(address)?.kind === "testCase" ? "test case" : "resource"} would be ${harms.join(" and ")}`,
        detail: `\`${glob}\` protects it in tasc.yaml${name === address ? "" : ` as ${name}`}.${back}`,
        address,
        ...at(resource && originOf(resource)),
      },
    ];
  });
  return nameless.length === 0 ? harms : [namelessViolation(nameless, input), ...harms];
}

/** A new stage, or another folder, would leave every live resource without the name that protects it. */
function namelessViolation(
  nameless: readonly (readonly [Address, id: string])[],
  { plan, ruleOrigin }: PolicyInput,
): Violation {
  const addresses = nameless.map(([address]) => address);
  return {
    rule: "protected",
    summary: `the base has no valid manifests for stage ${plan.stage}, so it is unknown what it protects`,
    detail: `Any of these live resources may have had a protected address: ${listed(addresses)}.`,
    ...at(ruleOrigin("protected")),
  };
}

function basesOf({ base = [] }: PolicyInput): readonly Planned["matched"][] {
  return base === "unreadable" ? [] : base;
}

/**
 * Every address that some state, or the base of the manifests, binds to a live resource is a name of it. What the state
 * of a target that nothing declares any more calls it counts until a declared target's state has a name for it.
 */
function namesById(input: PolicyInput): ReadonlyMap<string, readonly Address[]> {
  const { states, matched } = input;
  const names = new Map<string, Address[]>();
  const add = (address: Address, id: string): unknown => names.set(id, [...(names.get(id) ?? []), address]);
  for (const { target, bindings } of states) {
    const known = matched.get(target)?.target;
    const isDeclared = known !== undefined && known.left !== true;
    for (const [address, { id }] of bindings) if (isDeclared || !names.has(id)) add(address, id);
  }
  for (const [address, id] of basesOf(input).flatMap(boundIn)) add(address, id);
  return names;
}

/** Ids that are live; of a target that was not read, since its address now means another one, all that state knows. */
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

/** The live resources of all declared addresses. */
function boundIn(matched: PolicyInput["matched"]): readonly (readonly [Address, id: string])[] {
  return [...matched.values()].flatMap(({ matches }) =>
    [...matches].flatMap(([address, { live }]) => (live === undefined ? [] : [[address, live.id] as const])),
  );
}

interface Harmed {
  readonly address: Address;
  readonly id: string | undefined;
  readonly harms: readonly string[];
}

/** What a plan does to live resources that a protected one must not suffer. */
function harmed(
  { changes, orphaned }: Plan,
  matched: PolicyInput["matched"],
  renamed: readonly (readonly [Address, id: string])[],
): readonly Harmed[] {
  const harms = new Map<Address, { id: string | undefined; harms: string[] }>();
  const add = (address: Address, id: string | undefined, harm: string): void => {
    const known = harms.get(address);
    if (known === undefined) harms.set(address, { id, harms: [harm] });
    else if (!known.harms.includes(harm)) known.harms.push(harm);
  };
  for (const change of changes) {
    const { address, id } = change;
    if (change.action === "disable" || (change.action !== "create" && leavesEnabled(change, matched)))
      add(address, id, "disabled");
    if (isRediscovering(change)) add(address, id, "rediscovered");
    if (change.calls.some(({ body }) => isEmptyList(body["elements"])))
      add(address, id, "left without steps");
  }
  for (const { address, id } of orphaned) add(address, id, "orphaned");
  // Under its new name nothing would protect it from the next plan.
  for (const [address, id] of renamed) add(address, id, "renamed");
  return [...harms].map(([address, harm]) => ({ address, ...harm }));
}

/** What runs of a test case is not said of the other statuses, so none of them is as good as ENABLED. */
function leavesEnabled({ address, calls }: Change, matched: PolicyInput["matched"]): boolean {
  const status = matched.get(targetOf(address))?.matches.get(address)?.live?.status;
  if (status !== "ENABLED") return false;
  return calls.some(({ method, body }) => method === "PATCH" && body["status"] !== undefined);
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** What makes the service generate costs money, and changes what tests do. */
function tooManyGenerations({ plan, policy, ruleOrigin }: PolicyInput): readonly Violation[] {
  const { maxGenerations } = policy;
  const generating = plan.changes.filter((change) => {
    const kind = parseAddress(change.address)?.kind;
    const isNew = change.action === "create" && (kind === "testCase" || kind === "batchGeneration");
    return isNew || isRediscovering(change);
  });
  if (maxGenerations === undefined || generating.length <= maxGenerations) return [];
  return [
    {
      rule: "maxGenerations",
      summary: `${generating.length} planned, at most ${maxGenerations} allowed`,
      detail: `Rediscoveries, new test cases and batch generations are counted: ${listed(generating.map(({ address }) => address))}.`,
      ...at(ruleOrigin("maxGenerations")),
    },
  ];
}

/** By the resolved configuration: anything else on the service may go at any time. */
function missingTags({ matched, policy, inScope }: PolicyInput): readonly Violation[] {
  const { requireTags = [] } = policy;
  if (requireTags.length === 0) return [];
  return [...matched.values()].flatMap(({ target }) =>
    target.testCases.flatMap((resource) => {
      const { address, fields } = resource;
      const value = fields["tags"] ?? [];
      if (!inScope(address) || isUnknown(value)) return [];
      const tags = reveal(value);
      const missing = requireTags.filter((tag) => !Array.isArray(tags) || !tags.includes(tag));
      if (missing.length === 0) return [];
      return [
        {
          rule: "requireTags" as const,
          summary: `missing tags: ${missing.join(", ")}`,
          detail: `Every managed test case must have the tags ${requireTags.join(", ")}. Add what is missing to its \`tags\`, or to \`defaults.testCases.tags\`; its own list replaces the default list.`,
          address,
          ...at(originOf(resource, ["tags"])),
        },
      ];
    }),
  );
}

function at(origin: Origin | undefined): { readonly origin?: Origin } {
  return origin === undefined ? {} : { origin };
}

/** Addresses that a sentence names. */
const MOST_NAMED = 20;

function listed(addresses: readonly Address[]): string {
  const more = addresses.length - MOST_NAMED;
  const named = addresses.slice(0, more > 0 ? MOST_NAMED : undefined).join(", ");
  return more > 0 ? `${named} and ${more} more` : named;
}

const CODES: Readonly<Record<PolicyRule, string>> = {
  maxChanges: "policy-max-changes",
  maxDisabledPercent: "policy-max-disabled-percent",
  protected: "policy-protected",
  requireTags: "policy-require-tags",
  maxGenerations: "policy-max-generations",
};

/** Violations as a plan lists them: errors, or warnings where `--override-policy` allows them. */
export function policyDiagnostics(
  violations: readonly Violation[],
  overridden: ReadonlySet<PolicyRule>,
): readonly Diagnostic[] {
  return violations.map(({ rule, summary, detail, ...about }) => {
    const through = overridden.has(rule);
    const remedy = through
      ? `Allowed by --override-policy ${rule}.`
      : `If this is intended, add --override-policy ${rule}`;
    return {
      ...about,
      severity: through ? ("warning" as const) : ("error" as const),
      code: CODES[rule],
      summary: `${through ? "Policy" : "Blocked by policy"} "${rule}": ${summary}`,
      detail: `${detail}\n${remedy}`,
    };
  });
}
