import { SHELLS } from "../commands/table.ts";
import { SCRIPTS } from "../cli/completion-scripts.ts";
import { EXIT, type ExitCode, type Given } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { consoleFor } from "./opening.ts";

/** `tasc completion bash|zsh|fish`: prints a script for the shell. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  const shell = SHELLS.find((one) => one === given.args[0]);
  if (shell === undefined) return EXIT.invalid;
  consoleFor(given, world, []).writer.document(SCRIPTS[shell]);
  return EXIT.done;
}
