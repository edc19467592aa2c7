import { openTwoStages } from "../app/two-stages.ts";
import { placesIn } from "../manifest/problem.ts";
import { diffStages, stageDiffView } from "../inspect/stages.ts";
import { EXIT, type ExitCode } from "../model/error.ts";
import { scopeTest } from "../plan/input.ts";
import type { Context } from "./context.ts";
import type { OptionsOf } from "./table.ts";

/** `tasc diff`: what two stages resolve differently. It calls nothing and changes nothing. */
export async function run(options: OptionsOf<"diff">, { host, console }: Context): Promise<ExitCode> {
  const { from, to, scope, reading } = await openTwoStages(options, host);
  const diff = diffStages(from, to, options.all ? "all" : "promoted", scopeTest(scope));
  const placeOf = await placesIn(reading.sources);
  console.show(stageDiffView(diff, placeOf, options.all), options.format);
  const differs = diff.differences.length + diff.onlyFrom.length + diff.onlyTo.length > 0;
  return differs && options.detailedExitcode ? EXIT.changes : EXIT.done;
}
