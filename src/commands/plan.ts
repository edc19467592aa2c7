import { EXIT, type ExitCode, type Given, flagOption, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { hasErrors, locate } from "../manifest/document.ts";
import type { Plan } from "../model/plan.ts";
import type { PolicyRule } from "../model/settings.ts";
import { scopeTest } from "../plan/input.ts";
import type { Planned } from "../plan/plan.ts";
import type { Opened } from "./opening.ts";
import { surveySnapshot } from "./plan-snapshot.ts";
import { judge, overriddenRules } from "./policy.ts";
import { printPlan } from "./print-plan.ts";
import type { PlanRequest } from "./request.ts";
import { type SavedPlan, savePlan, toSavedPlan } from "./saved-plan.ts";
import { survey } from "./survey.ts";

/** `tasc plan`: reads manifests, state and service, and shows what an apply would do. It changes nothing. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  const snapshot = textOption(given, "snapshot");
  const looked = await (snapshot === undefined
    ? survey(given, world)
    : surveySnapshot(given, world, snapshot));
  if (!looked.ok) return looked.code;
  const { opened, request, planned } = looked.value;

  const { plan, saved } = await reviewable(planned, request, overriddenRules(given), opened);
  const out = textOption(given, "out");
  if (out !== undefined && !savePlan(out, await saved(world), opened, world)) return EXIT.failed;
  await printPlan(given, opened, plan, world);
  return exitCodeOf(plan, flagOption(given, "detailedExitcode"));
}

/** A plan as people review it: held against the policy, with its places; and, if it is wanted, fit to be saved. */
export async function reviewable(
  planned: Planned,
  request: PlanRequest,
  overridden: ReadonlySet<PolicyRule>,
  opened: Opened,
): Promise<{ readonly plan: Plan; readonly saved: (world: World) => Promise<SavedPlan> }> {
  const judged = judge(planned, opened, scopeTest(request.scope), overridden);
  const plan = await withPlaces(judged.planned.plan, opened);
  const verdict = { faulty: hasErrors(planned.plan.diagnostics), violated: judged.violated, overridden };
  const saved = (world: World): Promise<SavedPlan> =>
    toSavedPlan({ planned: { ...planned, plan } }, request, verdict, opened, world);
  return { plan, saved };
}

/** The plan with line and column in its diagnostics, and the manifests' own warnings among them. */
export async function withPlaces(plan: Plan, { project }: Opened): Promise<Plan> {
  const located = await locate(plan.diagnostics, project.sources);
  return { ...plan, diagnostics: [...project.diagnostics, ...located] };
}

/** What a plan's exit code is: errors win over changes. */
export function exitCodeOf(plan: Plan, detailed: boolean): ExitCode {
  if (hasErrors(plan.diagnostics)) return EXIT.failed;
  return detailed && plan.changes.length > 0 ? EXIT.changes : EXIT.done;
}
