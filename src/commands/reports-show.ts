import { type Session, withSession } from "../app/session.ts";
import { type TargetReport, reportView } from "../inspect/reports.ts";
import { EXIT, type ExitCode, stop } from "../model/error.ts";
import { ServiceError } from "../service/describe-failure.ts";
import type { Failure } from "../service/request.ts";
import type { Context } from "./context.ts";
import { type ManagedTargets, managedTargets } from "./managed.ts";
import type { OptionsOf } from "./table.ts";

/** `tasc reports show ID`: one report with its results. */
export async function run(options: OptionsOf<"reports show">, { host, console }: Context): Promise<ExitCode> {
  const { id, format, junit, target } = options;
  if (format === "json" && junit)
    throw stop("invalid", "bad-option", "--junit and --format json cannot be combined; choose one");
  if (!/^[\w-]+$/.test(id))
    throw stop("invalid", "bad-id", "This is not the id of a report", "List them:\n  tasc reports list");
  return withSession(options, host, async (session) => {
    const managed = await managedTargets(session, target);
    const report = await findReport(session, managed, id);
    console.show(reportView(report, managed.addressOf), junit ? "junit" : format);
    return EXIT.done;
  });
}

/** The path of a report names its target, so each managed one is asked until one has it. */
async function findReport(session: Session, { targets }: ManagedTargets, id: string): Promise<TargetReport> {
  for (const target of targets) {
    try {
      return { target: target.key, report: await session.client().getReport(target.id, id) };
    } catch (error) {
      if (!(error instanceof ServiceError) || !isAbsent(error.failure)) throw error;
    }
  }
  const searched = targets.map(({ key }) => key).join(", ") || "no target";
  throw stop(
    "failed",
    "unknown-report",
    `There is no report ${id}`,
    `Searched in ${searched}. List the reports:\n  tasc reports list`,
  );
}

/** An id that it does not know, a service may also call a bad one. */
function isAbsent(failure: Failure): boolean {
  return failure.kind === "status" && [400, 404, 410, 422].includes(failure.status);
}
