import { isDeepStrictEqual } from "node:util";
import { stricter } from "../manifest/trust.ts";
import { parseAddress, targetOf } from "../model/address.ts";
import { groupBy } from "../model/collections.ts";
import { type DesiredTarget, originOf } from "../model/desired.ts";
import { type Diagnostic, type Origin, oneLine } from "../model/diagnostic.ts";
import { defined } from "../model/json.ts";
import type { Change } from "../model/plan.ts";
import {
  POLICY_RULES,
  type Policy,
  type PolicyRule,
  type Rule,
  type Settings,
} from "../model/settings.ts";
import { isUnknown, reveal } from "../model/value.ts";
import { type GateVerdict, refusalLine } from "./passed-in.ts";
import { type Breach, fewOf } from "./problem.ts";
import { type ProtectedPlan, protectedBreaches } from "./protection.ts";
import { quarantineBreaches, reasonBreaches } from "./quarantine.ts";
import { isRediscovering } from "./staleness.ts";

/** A violation of a rule of the policy, built in or the project's own. */
export interface Violation extends Breach {
  /** The name that `--override-policy` takes. */
  readonly rule: string;
  /** Of the project's own rules. `warn`: it is told, and refuses nothing. */
  readonly level?: Rule["level"];
}

export interface PolicyInput extends ProtectedPlan {
  /** What another stage says, if `policy.passedIn` is set and must be judged. */
  readonly gate?: GateVerdict | undefined;
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

  protected: protectedBreaches,

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

const listed = (all: readonly Change[]): string => fewOf(all.map(({ address }) => address));

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
    // Another stage's results are neither more nor less strict, but nobody chose them before.
    const gate = was.passedIn?.stage ?? own.passedIn?.stage;
    const looser = Object.entries(strictest).filter(
      ([rule, value]) =>
        !isDeepStrictEqual(value, kept.get(rule)) ||
        (rule === "passedIn" && own.passedIn?.stage !== gate),
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
