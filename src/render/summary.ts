import type { PlanJson, Summary } from "../model/plan.ts";
import { count, list } from "./words.ts";

/** The one line that scripts look for; its parts never leave, so that each can be found. */
export function planLine(summary: Summary): string {
  const { create, update, rediscover, disable, unchanged, calls, followUps } = summary;
  const more = followUps === 0 ? "" : `, up to ${followUps} more after discoveries`;
  return (
    `Plan: ${create} to create, ${update} to update, ${rediscover} to rediscover, ${disable} to disable,` +
    ` ${unchanged} unchanged (${calls.POST} POST, ${calls.PATCH} PATCH${more})`
  );
}

/** What stands on the service beside the plan; `undefined` if nothing does. */
export function besidesLine({ orphaned, unmanaged }: Summary): string | undefined {
  const parts = [
    orphaned === 0 ? [] : [`${orphaned} orphaned`],
    unmanaged === 0 ? [] : [`${unmanaged} unmanaged`],
  ].flat();
  return parts.length === 0 ? undefined : `Besides: ${list(parts)}`;
}

export function hasErrors(plan: PlanJson): boolean {
  return plan.diagnostics.some((diagnostic) => diagnostic.severity === "error");
}

/** Errors and warnings by number: `2 errors, 1 warning`. */
export function diagnosticCounts(plan: Pick<PlanJson, "diagnostics">): string {
  const errors = plan.diagnostics.filter(({ severity }) => severity === "error").length;
  const warnings = plan.diagnostics.length - errors;
  return [errors === 0 ? [] : [count(errors, "error")], warnings === 0 ? [] : [count(warnings, "warning")]]
    .flat()
    .join(", ");
}
