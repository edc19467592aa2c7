import { forEachStage, stageNames } from "../app/stages.ts";
import { EXIT, type ExitCode } from "../model/error.ts";
import type { Context } from "./context.ts";
import type { OptionsOf } from "./table.ts";

/** `tasc stages`: what the project has in each stage. It calls nothing. */
export async function run(options: OptionsOf<"stages">, { host, console }: Context): Promise<ExitCode> {
  const { stages, chosen } = await stageNames(options, host);
  const project = { ...options, allowMissingSecrets: true };
  const found = await forEachStage(
    stages,
    project,
    host,
    async ({ settings, desired: { targets } }) => ({
      baseUrl: settings.baseUrl,
      targets: targets.length,
      testCases: targets.reduce((sum, { testCases }) => sum + testCases.length, 0),
    }),
    false,
  );
  const [first] = found;
  if (first !== undefined && "failure" in first && found.every((of) => "failure" in of)) throw first.failure;
  const json = found.map(({ stage, ...of }) => ({
    stage,
    chosen: stage === chosen,
    ...("value" in of ? of.value : { error: of.failure.message }),
  }));
  const rows = found.map(({ stage, ...of }) => [
    stage === chosen ? `${stage} *` : stage,
    ...("value" in of
      ? [of.value.baseUrl, String(of.value.targets), String(of.value.testCases)]
      : [of.failure.message, "", ""]),
  ]);
  const headings = ["stage", "service", "targets", "test cases"];
  console.show({ json: { stages: json }, text: [[{ headings, rows }]] }, options.format);
  return found.every((of) => "value" in of) ? EXIT.done : EXIT.invalid;
}
