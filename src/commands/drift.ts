import { EXIT, type ExitCode, type Given, flagOption, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import {
  type Drift,
  driftJson,
  driftOf,
  hasDrifted,
  redactDrift,
  renderDriftText,
} from "../inspect/drift.ts";
import { locate } from "../manifest/document.ts";
import type { DesiredTarget } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { planExtras } from "../render/json.ts";
import { sayDiagnostics } from "./diagnostics.ts";
import { planMeta } from "./plan-meta.ts";
import { type Survey, survey } from "./survey.ts";

/** `tasc drift`: what the service changed since the last apply. It changes nothing. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  const looked = await survey(given, world);
  if (!looked.ok) return looked.code;
  const { opened, planned, input } = looked.value;
  const { console, project } = opened;
  const found = redactDrift(driftOf(planned, input.scope), console.redactor);
  const drift: Drift = { ...found, problems: await locate(found.problems, project.sources) };
  const { stage, baseUrl } = project.settings;
  const meta = { ...planMeta(world), stage, baseUrl };
  const { targets } = input.desired;
  const unapplied = targets.filter((target) => !isApplied(target, looked.value));
  sayDiagnostics(console, [...drift.problems, ...neverApplied(unapplied)], project.sources);
  if (textOption(given, "format") === "json") console.json(driftJson(drift, meta));
  else
    console.data(
      renderDriftText(drift, planExtras(planned.plan), meta, {
        style: console.style.stdout,
        width: console.columns,
        verbose: flagOption(given, "verbose"),
        applied: targets.length === 0 || unapplied.length < targets.length,
      }),
    );
  if (drift.problems.length > 0) return EXIT.failed;
  return hasDrifted(drift) ? EXIT.changes : EXIT.done;
}

/** A night job that looks at a stage without state would else find no drift for ever. */
function neverApplied(targets: readonly DesiredTarget[]): readonly Diagnostic[] {
  const [first] = targets;
  if (first === undefined) return [];
  const names = targets.map(({ key }) => key).join(", ");
  return [
    {
      severity: "warning",
      code: "no-state",
      ...(targets.length === 1 ? { address: first.address } : {}),
      summary: "Nothing was applied yet, so nothing can have drifted",
      detail: `State has nothing of ${names} in this stage. If it was applied, \`state:\` names another place.`,
    },
  ];
}

/** Without a binding: folders alone are what an import has learnt. */
function isApplied({ key }: DesiredTarget, { states }: Survey): boolean {
  return (states.get(key)?.bindings.size ?? 0) > 0;
}
