import { examine } from "../app/doctor.ts";
import type { ExitCode } from "../model/error.ts";
import type { Context } from "./context.ts";
import type { OptionsOf } from "./table.ts";

/** `tasc doctor`: checks everything that a plan and an apply need, and says what to do. */
export async function run(options: OptionsOf<"doctor">, { host, console }: Context): Promise<ExitCode> {
  const { view, exitCode } = await examine(options, host);
  console.show(view, options.format);
  return exitCode;
}
