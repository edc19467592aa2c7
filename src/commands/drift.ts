import { planMeta, survey, type Survey } from "../app/plan.ts";
import { withSession } from "../app/session.ts";
import { driftOf, driftView, hasDrifted } from "../inspect/drift.ts";
import { locate } from "../manifest/problem.ts";
import type { DesiredTarget } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { EXIT, type ExitCode } from "../model/error.ts";

import type { Context } from "./context.ts";
import type { OptionsOf } from "./table.ts";

/** `tasc drift`: what the service changed since the last apply. It changes nothing. */
export async function run(options: OptionsOf<"drift">, { host, console }: Context): Promise<ExitCode> {
  return withSession(options, host, async (session) => {
    const found = await survey(session, options);
    const { planned, request, remembered } = found;
    const raw = driftOf(planned, request.scope);
    const drift = { ...raw, problems: await locate(raw.problems, session.project.sources) };
    const { targets } = remembered.desired;
    const unapplied = targets.filter((target) => !isApplied(target, found));
    const problems = [...drift.problems, ...neverApplied(unapplied)];
    console.diagnostics(problems, session.source);
    const { stage, baseUrl } = session.settings;
    const view = driftView(drift, {
      stage,
      baseUrl,
      meta: planMeta(host),
      verbose: options.verbose,
      applied: targets.length === 0 || unapplied.length < targets.length,
    });
    console.show(view, options.format);
    if (drift.problems.length > 0) return EXIT.failed;
    return hasDrifted(drift) ? EXIT.changes : EXIT.done;
  });
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
      summary: "Nothing was applied yet, so there is no drift to report",
      detail: `State has nothing of ${names} in this stage. If it was applied, \`state:\` names another place.`,
    },
  ];
}

/** Without a binding: folders alone are what an import has learnt. */
function isApplied({ key }: DesiredTarget, { remembered }: Survey): boolean {
  return (remembered.states.get(key)?.bindings.size ?? 0) > 0;
}
