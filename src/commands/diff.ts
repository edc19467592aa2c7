import { EXIT, type ExitCode, type Given, flagOption, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { placesOf } from "../inspect/explain.ts";
import { diffStages, originsIn, redactStageDiff, renderStageDiff, stageDiffJson } from "../inspect/stages.ts";
import { scopeTest } from "../plan/input.ts";
import { openTwoStages } from "./two-stages.ts";

/** `tasc diff`: what two stages resolve differently. It calls nobody and changes nothing. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  const opened = await openTwoStages(given, world);
  if (!opened.ok) return opened.code;
  const { from, to, scope, console, reading } = opened.value;
  const all = flagOption(given, "all");
  const found = diffStages(from, to, all ? "all" : "promoted", scopeTest(scope));
  const placeOf = await placesOf(originsIn(found), reading.sources);
  const diff = redactStageDiff(found, console.redactor);
  if (textOption(given, "format") === "json") console.json(stageDiffJson(diff, placeOf));
  else
    console.data(
      renderStageDiff(diff, { style: console.style.stdout, width: console.columns, placeOf, all }),
    );
  const differs = diff.differences.length + diff.onlyFrom.length + diff.onlyTo.length > 0;
  return differs && flagOption(given, "detailedExitcode") ? EXIT.changes : EXIT.done;
}
