import { EXIT, type ExitCode, type Given, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import {
  type ReadReports,
  type TargetReport,
  newestReports,
  renderReports,
  reportsJson,
} from "../inspect/reports.ts";
import { compareText } from "../model/address.ts";
import { refusedByService } from "./connect.ts";
import type { Console } from "./console.ts";
import { sayDiagnostics, sayError } from "./diagnostics.ts";
import { type ManagedService, withManagedService } from "./managed-service.ts";
import { consoleFor } from "./opening.ts";

/** `tasc reports list`: the reports of managed targets, newest first. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  const limit = limitOf(given);
  if (limit !== undefined)
    return await withManagedService(given, world, (service) => list(given, service, limit));
  sayError(consoleFor(given, world, []), "--limit takes a whole number from 1 up");
  return EXIT.invalid;
}

function limitOf(given: Given): number | undefined {
  const text = textOption(given, "limit");
  if (text === undefined) return Number.MAX_SAFE_INTEGER;
  return /^[1-9]\d{0,9}$/.test(text) ? Number(text) : undefined;
}

async function list(
  given: Given,
  { client, console, targets }: ManagedService,
  limit: number,
): Promise<ExitCode> {
  const all = await Promise.all(
    targets.map(async ({ key, id }) => ({ key, read: await newestReports(client.allReports(id), limit) })),
  );
  const reports: TargetReport[] = [];
  let complete = true;
  for (const { key, read } of all) {
    if (!read.ok) return refusedByService(console, read.failure);
    sayEnd(key, read.value.end, console);
    complete &&= read.value.end === "end" || read.value.end === "limit";
    reports.push(...read.value.reports.map((report) => ({ target: key, report })));
  }
  const sorted = reports.toSorted(newestFirst);
  if (textOption(given, "format") === "json") console.json(reportsJson(sorted, complete));
  else console.data(renderReports(sorted, console.style.stdout));
  return EXIT.done;
}

function newestFirst(a: TargetReport, b: TargetReport): number {
  return (
    compareText(b.report.createdAt ?? "", a.report.createdAt ?? "") || compareText(a.report.id, b.report.id)
  );
}

/** The service says that there is more and does not give it: whoever counts on the list must know. */
function sayEnd(target: string, end: ReadReports["end"], console: Console): void {
  if (end === "end" || end === "limit") return;
  const detail =
    end === "nothing-new"
      ? "The service says that there is another page, and the page that it gave brought no report that was not known."
      : "The service says that there is another page, and gave no key to ask for it.";
  sayDiagnostics(console, [
    {
      severity: "warning",
      code: "reports-incomplete",
      summary: `The list of reports of target ${target} ends here, though there may be more`,
      detail,
    },
  ]);
}
