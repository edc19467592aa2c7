import { EXIT, type ExitCode, type Given, flagOption, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import {
  type TargetReport,
  redactReport,
  renderReport,
  renderReportJunit,
  reportJson,
} from "../inspect/reports.ts";
import type { Read } from "../look/look.ts";
import type { Failure } from "../service/request.ts";
import { refusedByService } from "./connect.ts";
import { sayError } from "./diagnostics.ts";
import { type ManagedService, withManagedService } from "./managed-service.ts";
import { consoleFor } from "./opening.ts";

/** `tasc reports show ID`: one report with its results. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  const id = given.args[0] ?? "";
  const json = textOption(given, "format") === "json";
  if (json && flagOption(given, "junit")) {
    sayError(consoleFor(given, world, []), "--junit and --format json are two forms; choose one");
    return EXIT.invalid;
  }
  if (!/^[\w-]+$/.test(id)) {
    sayError(consoleFor(given, world, []), "That is no id of a report", "`tasc reports list` shows them.");
    return EXIT.invalid;
  }
  return await withManagedService(given, world, (service) => show(given, service, id));
}

async function show(given: Given, service: ManagedService, id: string): Promise<ExitCode> {
  const { console, addressOf, targets } = service;
  const found = await findReport(service, id);
  if (!found.ok) return refusedByService(console, found.failure);
  if (found.value === undefined) {
    sayError(
      console,
      `There is no report ${id}`,
      `Looked for in ${targets.map(({ key }) => key).join(", ") || "no target"}. Those that there are:\n  tasc reports list`,
    );
    return EXIT.failed;
  }
  const { target } = found.value;
  const shown = { target, report: redactReport(found.value.report, console.redactor) };
  if (flagOption(given, "junit")) console.writer.document(renderReportJunit(shown, addressOf));
  else if (textOption(given, "format") === "json") console.json(reportJson(shown, addressOf));
  else console.data(renderReport(shown, addressOf, console.style.stdout));
  return EXIT.done;
}

/** The path of a report names its target, so each managed one is asked until one has it. */
async function findReport(
  { client, targets }: ManagedService,
  id: string,
): Promise<Read<TargetReport | undefined, Failure>> {
  for (const target of targets) {
    const report = await client.getReport(target.id, id);
    if (report.ok) return { ok: true, value: { target: target.key, report: report.value } };
    if (!isAbsent(report.failure)) return report;
  }
  return { ok: true, value: undefined };
}

/** An id that is none of theirs a service may also call a bad one. */
function isAbsent(failure: Failure): boolean {
  return failure.kind === "status" && [400, 404, 410, 422].includes(failure.status);
}
