import { readSavedPlan } from "../app/saved-plan.ts";
import { rehearsalView, rehearse } from "../app/rehearse.ts";
import { withSession } from "../app/session.ts";
import { EXIT, type ExitCode } from "../model/error.ts";
import type { Context } from "./context.ts";
import type { RehearseOptions } from "./table.ts";

/** `tasc rehearse [PLAN]`: plans and applies on a local copy of the service. */
export async function run(options: RehearseOptions, { host, console }: Context): Promise<ExitCode> {
  const saved = options.file === undefined ? undefined : readSavedPlan(options.file, host);
  const project = { ...options, stage: options.stage ?? saved?.plan.stage };
  return withSession(project, host, async (session) => {
    const rehearsal = await rehearse(session, { ...options, saved });
    console.show(rehearsalView(rehearsal), options.format);
    return rehearsal.isOk ? EXIT.done : EXIT.failed;
  });
}
