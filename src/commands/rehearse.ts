import { rehearsalView, rehearse } from "../app/rehearse.ts";
import { type SavedPlan, readPlanFile, withSavedPlan } from "../app/saved-plan.ts";
import { type Session, withSession } from "../app/session.ts";
import { EXIT, type ExitCode } from "../model/error.ts";
import type { Context } from "./context.ts";
import type { OptionsOf } from "./table.ts";

/** `tasc rehearse [PLAN]`: plans and applies on a local copy of the service. */
export async function run(options: OptionsOf<"rehearse">, { host, console }: Context): Promise<ExitCode> {
  const work = async (session: Session, saved?: SavedPlan): Promise<ExitCode> => {
    const rehearsal = await rehearse(session, { ...options, saved });
    console.show(rehearsalView(rehearsal), options.format);
    return rehearsal.isOk ? EXIT.done : EXIT.failed;
  };
  return options.file === undefined
    ? withSession(options, host, (session) => work(session))
    : withSavedPlan(readPlanFile(options.file, host), options, host, work);
}
