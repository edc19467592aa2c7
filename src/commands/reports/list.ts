import type { Session } from "../../app/session.ts";
import * as reports from "../../inspect/reports.ts";
import { warning } from "../../model/diagnostic.ts";
import { sideBySide } from "../../model/live.ts";
import type { View } from "../../render/view.ts";
import type { ReadReports } from "../../service/reports.ts";
import { managedTargets } from "../managed-targets.ts";
import { READING, TARGET } from "../shared-options.ts";
import { whole } from "../options.ts";
import { type OptionsOf, defineCommand } from "../command.ts";
import { inProject } from "../in-project.ts";

const OPTIONS = {
  ...TARGET,
  limit: whole("--limit <n>", "maximum number of reports per target; default: all", 1),
  ...READING,
};

export const command = defineCommand({
  group: "Service",
  summary: "list test reports, newest first",
  examples: {
    "tasc reports list --limit 10": "list the ten newest reports of each managed target",
    "tasc reports list --format json": "print reports as JSON",
  },
  options: OPTIONS,
  run: inProject(listReports),
});

async function listReports(
  session: Session,
  { target, limit = Number.MAX_SAFE_INTEGER }: OptionsOf<typeof OPTIONS>,
): Promise<View> {
  const { targets, secrets } = await managedTargets(session, target);
  const all = await sideBySide(
    targets.map(async (one) => ({
      ...one,
      ...(await reports.newestReports(session.client().allReports(one.id), limit)),
    })),
  );
  const cut = all.filter(({ end }) => WHY_CUT[end] !== undefined);
  // The service says that there is more but does not return it. Users who rely on the list must
  // know.
  session.host.warn(
    cut.map(({ key, end }) =>
      warning(
        "reports-incomplete",
        `The list of reports of target ${key} ends here, but there may be more`,
        `The service says that there is another page, but ${WHY_CUT[end]}`,
      ),
    ),
  );
  const found = all.flatMap((one) =>
    one.reports.map((report) => reports.reportOf(one, report, secrets)),
  );
  return reports.reportsView(found, cut.length === 0);
}

const WHY_CUT: { readonly [K in ReadReports["end"]]?: string } = {
  "nothing-new": "the page brought no new report.",
  "too-many": "there were too many pages already.",
  "no-key": "gave no key to ask for it.",
};
