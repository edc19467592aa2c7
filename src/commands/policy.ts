import { type Given, listOption } from "../cli/options.ts";
import { settingsLayers } from "../manifest/settings.ts";
import type { Address } from "../model/address.ts";
import { originIn } from "../model/desired.ts";
import { POLICY_RULES, type PolicyRule } from "../model/settings.ts";
import type { Planned } from "../plan/plan.ts";
import { policyDiagnostics, violationsOf } from "../plan/policy.ts";
import type { Opened } from "./opening.ts";

/** What came of holding a plan against the project's policy. */
export interface Judged {
  /** The plan, with what the policy has to say among its diagnostics. */
  readonly planned: Planned;
  /** The rules that it breaks, overridden or not. */
  readonly violated: ReadonlySet<PolicyRule>;
}

/** `--override-policy`, which the command line has checked already. */
export function overriddenRules(given: Given): ReadonlySet<PolicyRule> {
  return new Set(listOption(given, "overridePolicy").filter(isPolicyRule));
}

export function isPolicyRule(text: string): text is PolicyRule {
  return POLICY_RULES.some((rule) => rule === text);
}

/** Holds a plan against the project's policy. */
export function judge(
  planned: Planned,
  { project }: Opened,
  inScope: (address: Address) => boolean,
  overridden: ReadonlySet<PolicyRule>,
): Judged {
  const { policy, stage } = project.settings;
  const layers = settingsLayers(project.project, stage);
  const violations = violationsOf({
    plan: planned.plan,
    seen: planned.seen,
    states: planned.states,
    policy,
    inScope,
    ruleOrigin: (rule) => originIn(layers, ["policy", rule]),
  });
  const diagnostics = [...planned.plan.diagnostics, ...policyDiagnostics(violations, overridden)];
  return {
    planned: { ...planned, plan: { ...planned.plan, diagnostics } },
    violated: new Set(violations.map(({ rule }) => rule)),
  };
}

/** The rules that refuse a plan: those that it breaks and nobody overrides. */
export function refusingRules(
  violated: ReadonlySet<PolicyRule>,
  overridden: ReadonlySet<PolicyRule>,
): readonly PolicyRule[] {
  return [...violated].filter((rule) => !overridden.has(rule));
}
