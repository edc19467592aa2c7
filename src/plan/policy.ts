import { type Address, parseAddress } from "../model/address.ts";
import { globTest } from "../model/glob.ts";
import { originOf } from "../model/desired.ts";
import type { Diagnostic, Origin } from "../model/diagnostic.ts";
import type { Change, Plan } from "../model/plan.ts";
import type { Policy, PolicyRule } from "../model/settings.ts";
import type { StateEvent } from "../model/state.ts";
import { Secret, isUnknown, reveal } from "../model/value.ts";
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

export interface PolicyInput extends Pick<Planned, "plan" | "seen" | "stateEvents"> {
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
      summary: `Policy maxChanges: ${amount} planned, at most ${maxChanges} allowed`,
      detail: `That is ${amount - maxChanges} too many. Make them in steps with --only. Planned are ${listed(addresses)}.`,
      ...at(ruleOrigin("maxChanges")),
    },
  ];
}

/** Managed are the live cases that are declared, and those that the plan disables because they no longer are. */
function tooManyDisabled({ plan, seen, policy, ruleOrigin }: PolicyInput): readonly Violation[] {
  const { maxDisabledPercent } = policy;
  if (maxDisabledPercent === undefined) return [];
  return [...seen.values()].flatMap(({ target, resources, testCaseMatches }) => {
    const own = plan.changes.filter(({ address }) => targetOf(address) === target.key);
    const declared = [...testCaseMatches.values()].filter(({ found }) => found).length;
    const managed = declared + own.filter(({ address }) => !resources.has(address)).length;
    const disabled = own.filter(isDisabling);
    if (disabled.length * 100 <= maxDisabledPercent * managed) return [];
    const share = Math.round((disabled.length / managed) * 1000) / 10;
    const addresses = disabled.map(({ address }) => address);
    return [
      {
        rule: "maxDisabledPercent" as const,
        summary: `Policy maxDisabledPercent: ${share} % disabled or switched off, at most ${maxDisabledPercent} % allowed`,
        detail: `The plan does this to ${disabled.length} of the ${managed} managed live test cases of ${target.key}: ${listed(addresses)}.`,
        address: target.address,
        ...at(ruleOrigin("maxDisabledPercent")),
      },
    ];
  });
}

/** Whether a live test case goes out of use: its status to DISABLED, or its run status to OFF. */
function isDisabling({ address, calls }: Change): boolean {
  if (parseAddress(address)?.kind !== "testCase") return false;
  return calls.some(
    ({ method, body }) =>
      method === "PATCH" && (means(body["status"], "DISABLED") || means(body["runStatus"], "OFF")),
  );
}

function means(value: unknown, text: string): boolean {
  return value === text || (value instanceof Secret && value.reveal() === text);
}

function protectedAddresses({ plan, seen, stateEvents, policy }: PolicyInput): readonly Violation[] {
  const globs = (policy.protected ?? []).map((glob) => ({ glob, fits: globTest(glob) }));
  if (globs.length === 0) return [];
  const former = formerNames([...stateEvents.values()].flat());
  return [...harmed(plan)].flatMap(([address, harm]) => {
    const names = [address, ...(former.get(address) ?? [])];
    const glob = globs.find(({ fits }) => names.some(fits))?.glob;
    if (glob === undefined) return [];
    const resource = seen.get(targetOf(address))?.resources.get(address);
    const back =
      resource === undefined
        ? ` Put it back into the manifest, or let tasc forget it:\ntasc state rm ${address}`
        : "";
    return [
      {
        rule: "protected" as const,
        summary: `Policy protected: it would be ${harm.join(" and ")}`,
        detail: `\`${glob}\` protects it in tasc.yaml.${back}`,
        address,
        ...at(resource && originOf(resource)),
      },
    ];
  });
}

/** By address, what it was called before this plan: a move is no way around a protection. */
function formerNames(events: readonly StateEvent[]): ReadonlyMap<Address, readonly Address[]> {
  const former = new Map<Address, readonly Address[]>();
  for (const event of events)
    if (event.type === "moved") former.set(event.to, [event.from, ...(former.get(event.from) ?? [])]);
  return former;
}

/** What a plan does to addresses that a protected one must not suffer. */
function harmed({ changes, orphaned }: Plan): ReadonlyMap<Address, readonly string[]> {
  const harms = new Map<Address, readonly string[]>();
  const add = (address: Address, harm: string): void => {
    harms.set(address, [...(harms.get(address) ?? []), harm]);
  };
  for (const change of changes) {
    if (change.action !== "create" && isDisabling(change)) add(change.address, "disabled");
    if (isRediscovering(change)) add(change.address, "rediscovered");
  }
  for (const { address } of orphaned) add(address, "orphaned");
  return harms;
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
      summary: `Policy maxGenerations: ${generating.length} planned, at most ${maxGenerations} allowed`,
      detail: `Rediscoveries, new test cases and batch generations count: ${listed(generating.map(({ address }) => address))}.`,
      ...at(ruleOrigin("maxGenerations")),
    },
  ];
}

/** By the resolved configuration: what the service has besides may go at any time. */
function missingTags({ seen, policy, inScope }: PolicyInput): readonly Violation[] {
  const { requireTags = [] } = policy;
  if (requireTags.length === 0) return [];
  return [...seen.values()].flatMap(({ target }) =>
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
          summary: `Policy requireTags: it lacks ${missing.join(", ")}`,
          detail: `Every managed test case must carry ${requireTags.join(", ")}. Add what is missing to its \`tags\`, or to \`defaults.testCases.tags\`; a list of its own replaces that of the defaults.`,
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

/** Violations as a plan lists them: errors, or warnings where `--override-policy` lets them through. */
export function policyDiagnostics(
  violations: readonly Violation[],
  overridden: ReadonlySet<PolicyRule>,
): readonly Diagnostic[] {
  return violations.map(({ rule, detail, ...about }) => {
    const through = overridden.has(rule);
    const remedy = through
      ? `It is let through by --override-policy ${rule}.`
      : `If it is meant, add --override-policy ${rule}`;
    return {
      ...about,
      severity: through ? ("warning" as const) : ("error" as const),
      code: CODES[rule],
      detail: `${detail}\n${remedy}`,
    };
  });
}
