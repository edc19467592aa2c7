import { type ProjectOptions, openProject } from "../../app/project.ts";
import { EXIT } from "../../model/error.ts";
import type { View } from "../../render/view.ts";
import type { Context } from "../context.ts";
import { forEachStage, stageNames } from "../each-stage.ts";
import { defineCommand } from "../command.ts";

export const command = defineCommand({
  group: "Stages",
  summary: "list the stages, without calling the service",
  examples: { "tasc stages": "list the stages; * marks the default" },
  options: {},
  run: stages,
});

async function stages(options: ProjectOptions, { host }: Context): Promise<View> {
  const { chosen } = await stageNames(options, host);
  const found = await forEachStage(options, host, async (one) => {
    const needs = { needsApiKey: false, allowMissingSecrets: true };
    const { settings, desired } = (await openProject(one, host, needs)).project;
    return {
      baseUrl: settings.baseUrl,
      targets: desired.targets.length,
      testCases: desired.targets.reduce((sum, { testCases }) => sum + testCases.length, 0),
    };
  });
  const failures = found.flatMap((of) => ("failure" in of ? [of.failure] : []));
  if (failures[0] !== undefined && failures.length === found.length) throw failures[0];
  const json = found.map(({ stage, ...of }) => ({
    stage,
    chosen: stage === chosen,
    ...("value" in of ? of.value : { error: of.failure.message }),
  }));
  const rows = json.map(({ stage, chosen: isChosen, ...of }) => [
    isChosen ? `${stage} *` : stage,
    ...("error" in of
      ? [of.error, "", ""]
      : [of.baseUrl, String(of.targets), String(of.testCases)]),
  ]);
  return {
    json: { stages: json },
    text: [[{ headings: ["stage", "service", "targets", "test cases"], rows }]],
    exitCode: failures.length === 0 ? EXIT.done : EXIT.invalid,
  };
}
