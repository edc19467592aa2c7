import { type Given, listOption, textOption } from "../cli/options.ts";
import { locate } from "../manifest/document.ts";
import type { PolicyRule } from "../model/settings.ts";
import type { Planned } from "../plan/plan.ts";
import type { Console } from "./console.ts";
import { sayDiagnostics, sayError } from "./diagnostics.ts";
import type { Opened } from "./opening.ts";
import { judge, overriddenRules, refusingRules } from "./policy.ts";
import type { SavedPlan } from "./saved-plan.ts";

/** Whether a saved plan had errors when it was made, or the policy refused it, which then stands; that is said. */
export function refusedWhenMade(given: Given, saved: SavedPlan, console: Console): boolean {
  if (saved.verdict.faulty) {
    sayError(
      console,
      "Nothing was applied: the plan has errors",
      "`tasc show` prints it with them. Mend what they tell of, and plan again.",
    );
    return true;
  }
  const refusing = refusingRules(saved.verdict.violated, allOverridden(given, saved));
  if (refusing.length === 0) return false;
  sayError(
    console,
    `Nothing was applied: the policy refused this plan when it was made (${refusing.join(", ")})`,
    `\`tasc show\` prints it with the reasons. To let it through all the same, add:\n${refusing.map((rule) => `--override-policy ${rule}`).join(" ")}`,
  );
  return true;
}

/**
 * Whether the policy of now refuses what is left to do of a saved plan; what it finds is said. Only what was reviewed
 * is judged, as changes elsewhere do not spoil a saved plan.
 */
export async function refusedByPolicy(
  given: Given,
  saved: SavedPlan,
  planned: Planned,
  opened: Opened,
): Promise<boolean> {
  const overridden = allOverridden(given, saved);
  const addresses = new Set(saved.plan.changes.map(({ address }) => address));
  const orphans = new Set(saved.plan.orphaned.map(({ address }) => address));
  const orphaned = planned.plan.orphaned.filter(({ address }) => orphans.has(address));
  const silent = { ...planned, plan: { ...planned.plan, orphaned, diagnostics: [] } };
  const judged = judge(silent, opened, (address) => addresses.has(address), overridden);
  const { sources } = opened.project;
  sayDiagnostics(opened.console, await locate(judged.planned.plan.diagnostics, sources), sources);
  if (refusingRules(judged.violated, overridden).length === 0) return false;
  sayError(opened.console, "Nothing was applied: the policy refuses this plan");
  return true;
}

/** What was overridden when the plan was made, and reviewed with it, and what is overridden now. */
function allOverridden(given: Given, saved: SavedPlan): ReadonlySet<PolicyRule> {
  return new Set([...saved.verdict.overridden, ...overriddenRules(given)]);
}

/** A saved plan also carries what it was narrowed to; an option that says otherwise would not be obeyed. */
export function contradicts(given: Given, { plan, request }: SavedPlan, console: Console): boolean {
  const carried: readonly (readonly [string, readonly string[]])[] = [
    ["stage", [plan.stage]],
    ["only", request.scope.only],
    ["exclude", request.scope.exclude],
    ["run", [...request.run]],
    ["rediscover", [...request.rediscover]],
  ];
  const found = carried.filter(([name, values]) => {
    const stage = textOption(given, name);
    const wanted = stage === undefined ? listOption(given, name) : [stage];
    return wanted.length > 0 && !sameTexts(wanted, values);
  });
  for (const [name] of found)
    sayError(
      console,
      `--${name} says otherwise than the saved plan`,
      `A saved plan is applied as it was reviewed, on its stage and with its narrowing. Leave the option out, or make a plan with it:\ntasc plan --${name} … --out FILE`,
    );
  return found.length > 0;
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  const [left, right] = [new Set(a), new Set(b)];
  return left.size === right.size && a.every((text) => right.has(text));
}
