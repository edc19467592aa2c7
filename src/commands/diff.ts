import { diffStages, stageDiffView } from "../inspect/stages.ts";
import { placesIn } from "../manifest/problem.ts";
import { EXIT } from "../model/error.ts";
import { scopeTest } from "../plan/scope.ts";
import type { View } from "../render/view.ts";
import type { Context } from "./context.ts";
import { openTwoStages } from "./two-stages.ts";
import { SCOPE, TWO_STAGES } from "./shared-options.ts";
import { flag } from "./options.ts";
import { type OptionsOf, defineCommand } from "./command.ts";

const OPTIONS = {
  ...TWO_STAGES,
  all: flag("--all", "compare all fields, not only those that promote copies"),
  detailedExitcode: flag("--detailed-exitcode", "exit with 2 when the stages differ"),
  ...SCOPE,
};

export const command = defineCommand({
  group: "Stages",
  summary: "show how two stages differ, without calling the service",
  examples: {
    "tasc diff --from staging --to production": "show what promote would copy",
    "tasc diff --from staging --to production --all --format json":
      "print the differences in all fields as JSON",
  },
  options: OPTIONS,
  run: diff,
});

async function diff(options: OptionsOf<typeof OPTIONS>, { host }: Context): Promise<View> {
  const { from, to, scope, reading } = await openTwoStages(options, host);
  const found = diffStages(from, to, options.all ? "all" : "promoted", scopeTest(scope));
  const differs = found.differences.length + found.onlyFrom.length + found.onlyTo.length > 0;
  const view = stageDiffView(found, await placesIn(reading.sources), options.all);
  return { ...view, exitCode: differs && options.detailedExitcode ? EXIT.changes : EXIT.done };
}
