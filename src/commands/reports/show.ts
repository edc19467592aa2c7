import type { Session } from "../../app/session.ts";
import * as reports from "../../inspect/reports.ts";
import { invalid, failed } from "../../model/error.ts";
import type { View } from "../../render/view.ts";
import { ServiceError } from "../../service/failure.ts";
import { managedTargets } from "../managed-targets.ts";
import { READING, TARGET } from "../shared-options.ts";
import { argument, flag } from "../options.ts";
import { type OptionsOf, defineCommand } from "../command.ts";
import { inProject } from "../in-project.ts";

const OPTIONS = {
  id: argument("<id>", "id of the report"),
  ...TARGET,
  junit: flag("--junit", "print the report in JUnit format"),
  ...READING,
};

export const command = defineCommand({
  group: "Service",
  summary: "show one report with its results",
  examples: {
    "tasc reports show 0b9f8b0e-6d0c-4b55-9f1d-3b1c2a7e9d10": "show results by address",
    "tasc reports show 0b9f8b0e-6d0c-4b55-9f1d-3b1c2a7e9d10 --junit > report.xml":
      "save the report for CI",
  },
  options: OPTIONS,
  run: inProject(showReport),
});

async function showReport(session: Session, options: OptionsOf<typeof OPTIONS>): Promise<View> {
  const { id, format, junit, target } = options;
  if (format === "json" && junit)
    throw invalid("bad-option", "--junit and --format json cannot be combined; choose one");
  if (!/^[\w-]+$/.test(id))
    throw invalid("bad-id", "This is not the id of a report", "List them:\n  tasc reports list");
  const { targets, addressOf, secrets } = await managedTargets(session, target);
  // The path of a report contains its target, so each managed target is asked until one has the
  // report.
  for (const one of targets)
    try {
      const report = reports.reportOf(one, await session.client().getReport(one.id, id), secrets);
      const view = reports.reportView(report, addressOf);
      return junit ? { ...view, format: "junit" } : view;
    } catch (error) {
      const failure = error instanceof ServiceError ? error.failure : undefined;
      // A service may also answer that an unknown id is invalid.
      if (failure?.kind !== "status" || ![400, 404, 410, 422].includes(failure.status)) throw error;
    }
  const searched = targets.map(({ key }) => key).join(", ") || "no target";
  throw failed(
    "unknown-report",
    `There is no report ${id}`,
    `Searched in ${searched}. List the reports:\n  tasc reports list`,
  );
}
