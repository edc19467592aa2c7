import type { Diagnostic } from "../model/diagnostic.ts";
import type { PolicyRule } from "../model/settings.ts";
import type { Violation } from "./policy.ts";

const CODES: Readonly<Record<PolicyRule, string>> = {
  maxChanges: "policy-max-changes",
  maxDisabledPercent: "policy-max-disabled-percent",
  protected: "policy-protected",
  requireTags: "policy-require-tags",
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
