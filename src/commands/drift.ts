import { planMeta } from "../app/plan.ts";
import { type Survey, survey } from "../app/survey.ts";
import type { Session } from "../app/session.ts";
import { type Drift, driftOf, driftView, hasDrifted } from "../inspect/drift.ts";
import { locate } from "../manifest/problem.ts";
import { type Diagnostic, warning } from "../model/diagnostic.ts";
import { EXIT } from "../model/error.ts";
import { endingHint, overWarnings } from "../plan/quarantine.ts";
import type { View } from "../render/view.ts";
import { SERVICE, SCOPE, MISSING_SECRETS, VERBOSE } from "./shared-options.ts";
import { type OptionsOf, defineCommand } from "./command.ts";
import { inProject } from "./in-project.ts";

const OPTIONS = { ...SCOPE, ...MISSING_SECRETS, ...VERBOSE, ...SERVICE };

export const command = defineCommand({
  group: "Review",
  summary: "show changes made on the service since the last apply",
  examples: {
    "tasc drift --stage production": "exit with 2 on drift, e.g. in a nightly job",
    "tasc drift --only 'testCase.shop.*' --format json": "print drift as JSON",
  },
  options: OPTIONS,
  run: inProject(drift),
});

async function drift(session: Session, options: OptionsOf<typeof OPTIONS>): Promise<View> {
  // Without the key nothing would be found, and "no drift" would be untrue.
  session.requireFingerprintKey("Drift cannot be detected");
  const { host, project, settings, source } = session;
  const { planned, request, remembered } = await survey(session, options);
  const raw = driftOf(planned, request.scope);
  const drifted: Drift = { ...raw, problems: await locate(raw.problems, project.sources) };
  const { targets } = remembered.desired;
  // Counts bindings, because a state with only folders comes from an import.
  const unapplied = targets.filter(
    ({ key }) => (remembered.states.get(key)?.bindings.size ?? 0) === 0,
  );
  const over = await locate(overWarnings(targets, host.now()), project.sources);
  host.warn([...drifted.problems, ...neverApplied(unapplied), ...over], source);
  const hint = endingHint(targets, host.now());
  if (hint !== undefined) host.say?.("info", hint);
  const view = driftView(drifted, {
    stage: settings.stage,
    baseUrl: settings.baseUrl,
    meta: planMeta(host),
    verbose: options.verbose,
    applied: targets.length === 0 || unapplied.length < targets.length,
  });
  const exitCode = hasDrifted(drifted) ? EXIT.changes : EXIT.done;
  return { ...view, exitCode: drifted.problems.length > 0 ? EXIT.failed : exitCode };
}

/**
 * Warns about targets without state: a nightly job on a stage without state would never find any
 * drift.
 */
function neverApplied(targets: Survey["remembered"]["desired"]["targets"]): readonly Diagnostic[] {
  const [first, ...others] = targets;
  if (first === undefined) return [];
  const names = targets.map(({ key }) => key).join(", ");
  const found = warning(
    "no-state",
    "Nothing was applied yet, so there is no drift to report",
    `State has nothing of ${names} in this stage. If it was applied, \`state:\` names another place.`,
  );
  return [others.length === 0 ? { ...found, address: first.address } : found];
}
