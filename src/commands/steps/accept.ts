import { rmSync } from "node:fs";
import { join } from "node:path";
import { readText, stepsFile } from "../../app/accepted-steps.ts";
import { survey } from "../../app/survey.ts";
import type { Session } from "../../app/session.ts";
import { type NewText, writeTexts } from "../../edit/edit-files.ts";
import { invalid } from "../../model/error.ts";
import { fewOf } from "../../plan/problem.ts";
import { scopeTest } from "../../plan/scope.ts";
import { fileText, reviewedCases } from "../../plan/steps.ts";
import { refuseLinks } from "../../files/output.ts";
import type { View } from "../../render/view.ts";
import { count } from "../../model/words.ts";
import { type OptionsOf, defineCommand } from "../command.ts";
import { inProject } from "../in-project.ts";
import { flag, list } from "../options.ts";
import { SERVICE } from "../shared-options.ts";

const OPTIONS = {
  addresses: list("[address...]", "test cases, as addresses or globs"),
  all: flag("--all", "accept the steps of all test cases, and remove files of those that are gone"),
  dryRun: flag("--dry-run", "show what would be written, and write nothing"),
  ...SERVICE,
};

// Without all secrets, one could not be recognized in a step, and it would be written to git.
export const command = defineCommand({
  group: "Review",
  summary: "write the steps on the service to files, to be reviewed in git",
  examples: {
    "tasc steps accept testCase.shop.pay": "accept the steps of one test case",
    "tasc steps accept --all --stage staging":
      "accept all, e.g. in a pipeline that opens a pull request",
  },
  options: OPTIONS,
  run: inProject(acceptSteps),
});

async function acceptSteps(session: Session, options: OptionsOf<typeof OPTIONS>): Promise<View> {
  const { addresses, all, dryRun } = options;
  const { root } = session;
  const { stage } = session.settings;
  if (all && addresses.length > 0)
    throw invalid("bad-arguments", "--all does not go with addresses", "Give one of the two.");
  const accepted = session.acceptedSteps({ keep: true });
  const { planned, request } = await survey(session, { only: addresses });
  const inScope = scopeTest(request.scope);
  const cases = reviewedCases(planned.matched).filter(({ resource }) => inScope(resource.address));
  if (!all && addresses.length === 0) {
    const open = cases.filter(
      ({ acceptance }) =>
        acceptance.state === "notAccepted" ||
        (acceptance.differences.length > 0 && acceptance.steps?.length !== 0),
    );
    const names = fewOf(
      open.map(({ resource }) => `  ${resource.address}`),
      "\n",
    );
    throw invalid(
      "bad-arguments",
      "Name the test cases whose steps you accept, or give --all",
      open.length === 0
        ? "All steps are as accepted."
        : `Not as accepted:\n${names}\nSee the differences:\ntasc steps`,
    );
  }
  const files = cases.flatMap(({ resource: { address }, acceptance: { steps = [] } }) => {
    if (steps.length === 0) return [];
    const own = accepted?.fileOf(address);
    const file = stepsFile(stage, address);
    const before = own === undefined ? undefined : readText(root, own);
    return [{ file, before, after: fileText(address, steps), own }];
  });
  const written = files.filter(({ file, before, after, own }) => after !== before || own !== file);
  const texts = written.map(({ file, before, after, own }): NewText => {
    return { file, bom: false, before: own === file ? before : undefined, after };
  });
  const removed = [
    ...written.flatMap(({ file, own }) => (own === undefined || own === file ? [] : [own])),
    ...(all ? (accepted?.strays ?? []) : []),
  ].toSorted();
  if (!dryRun) {
    writeTexts(root, texts);
    for (const file of removed) {
      refuseLinks(join(root, file), root, true);
      rmSync(join(root, file));
    }
  }
  const without = cases.filter(({ acceptance }) => acceptance.steps?.length === 0).length;
  return {
    json: { stage, written: written.map(({ file }) => file), removed, dryRun },
    text: [
      [
        ...written.map(({ file, own }) => `${own === file ? "~" : "+"} ${file}`),
        ...removed.map((file) => `- ${file}`),
      ],
      [
        written.length + removed.length === 0
          ? "Nothing to write: the files have the steps on the service."
          : `${dryRun ? "Would write" : "Wrote"} ${count(written.length, "file")} and ${dryRun ? "remove" : "removed"} ${removed.length}. Review them: git add -N steps/ && git diff steps/`,
        ...(without === 0 ? [] : [`Left out: ${count(without, "test case")} without steps.`]),
      ],
    ],
  };
}
