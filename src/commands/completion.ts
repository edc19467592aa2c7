import { EXIT } from "../cli/exit.ts";
import type { ExitCode } from "../cli/exit.ts";
import type { Given } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { SCRIPTS } from "../complete/scripts.ts";
import { SHELLS } from "../complete/shells.ts";
import { consoleFor } from "./opening.ts";

/** `tasc completion bash|zsh|fish`: prints a script for the shell. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  const shell = SHELLS.find((one) => one === given.args[0]);
  if (shell === undefined) return EXIT.invalid;
  consoleFor(given, world, []).writer.document(SCRIPTS[shell]);
  return EXIT.done;
}
