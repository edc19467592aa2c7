import { type Session, withSession } from "../app/session.ts";
import { type ReadReports, type TargetReport, newestReports, reportsView } from "../inspect/reports.ts";
import { compareText } from "../model/address.ts";
import { EXIT, type ExitCode } from "../model/error.ts";
import type { Context } from "./context.ts";
import { managedTargets } from "./managed.ts";
import { sideBySide } from "../model/live.ts";
import type { OptionsOf } from "./table.ts";

/** `tasc reports list`: the reports of managed targets, newest first. */
export async function run(options: OptionsOf<"reports list">, { host, console }: Context): Promise<ExitCode> {
  return withSession(options, host, async (session) => {
    const { target, limit = Number.MAX_SAFE_INTEGER } = options;
    const { targets } = await managedTargets(session, target);
    const all = await sideBySide(
      targets.map(async ({ key, id }) => ({
        key,
        read: await newestReports(session.client().allReports(id), limit),
      })),
    );
    const reports: TargetReport[] = [];
    let complete = true;
    for (const { key, read } of all) {
      const { end } = read;
      if (end !== "end" && end !== "limit") {
        complete = false;
        warnOfEnd(key, end, session);
      }
      reports.push(...read.reports.map((report) => ({ target: key, report })));
    }
    console.show(reportsView(reports.toSorted(newestFirst), complete), options.format);
    return EXIT.done;
  });
}

function newestFirst(a: TargetReport, b: TargetReport): number {
  return (
    compareText(b.report.createdAt ?? "", a.report.createdAt ?? "") || compareText(a.report.id, b.report.id)
  );
}

/** The service says that there is more and does not give it: whoever counts on the list must know. */
function warnOfEnd(target: string, end: ReadReports["end"], { host }: Session): void {
  const details: Readonly<Record<string, string>> = {
    "nothing-new": "The service says that there is another page, but the page brought no new report.",
    "too-many": "The service says that there is another page, but there were too many pages already.",
  };
  const detail =
    details[end] ?? "The service says that there is another page, but gave no key to ask for it.";
  host.warn([
    {
      severity: "warning",
      code: "reports-incomplete",
      summary: `The list of reports of target ${target} ends here, but there may be more`,
      detail,
    },
  ]);
}
