import { EXIT, type ExitCode, type Given } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { sayError } from "./diagnostics.ts";
import { consoleFor } from "./opening.ts";
import { printPlanJson } from "./print-plan.ts";
import { readSavedPlan } from "./saved-plan.ts";

/** `tasc show FILE`: prints a saved plan again. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  const console = consoleFor(given, world, []);
  const read = readSavedPlan(given.args[0] ?? "", world);
  if (!read.ok) {
    sayError(console, read.summary, read.detail);
    return EXIT.invalid;
  }
  await printPlanJson(given, console, read.saved.plan, read.saved.extras);
  return EXIT.done;
}
