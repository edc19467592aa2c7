import { survey } from "../../app/survey.ts";
import type { Session } from "../../app/session.ts";
import { stepsView } from "../../inspect/steps.ts";
import { EXIT } from "../../model/error.ts";
import { scopeTest } from "../../plan/scope.ts";
import { reviewedCases } from "../../plan/steps.ts";
import type { View } from "../../render/view.ts";
import { type OptionsOf, defineCommand } from "../command.ts";
import { inProject } from "../in-project.ts";
import { choice, flag, list } from "../options.ts";
import { READING } from "../shared-options.ts";

const OPTIONS = {
  addresses: list("[address...]", "test cases, as addresses or globs; default: all"),
  format: choice("--format <format>", "output format", ["text", "json", "markdown"]),
  verbose: flag("--verbose", "show all steps, in words"),
  detailedExitcode: flag("--detailed-exitcode", "exit with 2 if steps are not as accepted"),
  ...READING,
};

export const command = defineCommand({
  group: "Review",
  summary: "compare the live steps with those that were accepted",
  examples: {
    "tasc steps": "list the test cases whose steps are not as accepted, with the differences",
    "tasc steps testCase.shop.pay --verbose": "show all steps of one test case",
    "tasc steps --stage production --detailed-exitcode": "exit with 2 if any steps differ",
  },
  options: OPTIONS,
  run: inProject(showSteps),
});

async function showSteps(session: Session, options: OptionsOf<typeof OPTIONS>): Promise<View> {
  const { addresses, verbose, detailedExitcode } = options;
  const accepted = session.acceptedSteps({ keep: true });
  const { planned, request } = await survey(session, { only: addresses });
  const inScope = scopeTest(request.scope);
  const cases = reviewedCases(planned.matched).filter(({ resource }) => inScope(resource.address));
  session.host.warn(accepted?.warnings ?? [], session.source);
  const view = stepsView(cases, { stage: session.settings.stage, verbose });
  const isOther = cases.some(({ acceptance: { state } }) =>
    ["weakened", "changed", "selectorOnly", "notAccepted"].includes(state),
  );
  return { ...view, exitCode: detailedExitcode && isOther ? EXIT.changes : EXIT.done };
}
