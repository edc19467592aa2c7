import { missingKeyOf } from "../app/passed-in.ts";
import { planMeta } from "../app/plan.ts";
import type { ProjectOptions } from "../app/project.ts";
import { withSession } from "../app/session.ts";
import { stageStatus } from "../app/status.ts";
import type { StageStatus } from "../inspect/status.ts";
import { EXIT, type ExitCode, TascError, invalid } from "../model/error.ts";
import { sideBySide } from "../model/live.ts";
import { statusView } from "../inspect/status-view.ts";
import type { View } from "../render/view.ts";
import { type OptionsOf, defineCommand } from "./command.ts";
import type { Context } from "./context.ts";
import { stageNames, worstOf } from "./each-stage.ts";
import { choice, flag, whole } from "./options.ts";
import { READING } from "./shared-options.ts";

const OPTIONS = {
  allStages: flag("--all-stages", "show all stages side by side"),
  last: whole("--last <n>", "results of each test case to show; default: 20", 1),
  format: choice("--format <format>", "output format", [
    "text",
    "json",
    "html",
    "markdown",
    "github",
  ]),
  ...READING,
};

export const command = defineCommand({
  group: "Service",
  summary: "show what runs, what fails and what needs somebody",
  examples: {
    "tasc status": "show the suite of one stage",
    "tasc status --all-stages --format html > status.html": "publish one page for all stages",
  },
  options: OPTIONS,
  run: status,
});

async function status(options: OptionsOf<typeof OPTIONS>, context: Context): Promise<View> {
  const { host } = context;
  const { last = 20, allStages, stage } = options;
  if (allStages && stage !== undefined)
    throw invalid("bad-arguments", "--all-stages goes without --stage");
  const found = allStages
    ? await sideBySide(
        (await stageNames(options, host)).stages.map((one) =>
          readStage(one, options, context, last),
        ),
      )
    : [
        await withSession(options, host, async (session) => ({
          code: EXIT.done,
          status: await stageStatus(session, last),
        })),
      ];
  const view = statusView(
    found.map((one) => one.status),
    { createdAt: planMeta(host).createdAt, env: host.env },
  );
  return { ...view, exitCode: worstOf(found.map(({ code }) => code)) };
}

/** Reads one of several stages. One whose key is missing is shown as such. */
async function readStage(
  stage: string,
  options: ProjectOptions,
  { host }: Context,
  last: number,
): Promise<{ readonly code: ExitCode; readonly status: StageStatus }> {
  const needs = { needsApiKey: false, allowMissingSecrets: true };
  try {
    return await withSession(
      { ...options, stage },
      host,
      async (session) => {
        const key = missingKeyOf(session);
        const error = `not read: ${key} is not set`;
        if (key !== undefined) return { code: EXIT.done, status: { stage, error, targets: [] } };
        return { code: EXIT.done, status: await stageStatus(session, last) };
      },
      needs,
    );
  } catch (error) {
    if (!(error instanceof TascError)) throw error;
    return { code: EXIT[error.reason], status: { stage, error: error.message, targets: [] } };
  }
}
