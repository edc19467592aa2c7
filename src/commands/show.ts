import { readSavedPlan } from "../app/saved-plan.ts";
import { EXIT, type ExitCode } from "../model/error.ts";
import { type Context } from "./context.ts";
import { printPlan } from "./print-plan.ts";
import { type ShowOptions } from "./table.ts";

/** `tasc show FILE`: prints a saved plan again. */
export async function run(options: ShowOptions, { host, console }: Context): Promise<ExitCode> {
  const { plan, extras } = readSavedPlan(options.file, host);
  await printPlan(plan, extras, options, console);
  return EXIT.done;
}
