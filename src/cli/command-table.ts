import type { OptionSpec, Raw, CommandSpec as Row } from "../commands/options.ts";
import { ADOPT_COMMANDS } from "../commands/specs/adopt.ts";
import { HELP_COMMANDS } from "../commands/specs/help.ts";
import { LOOK_COMMANDS } from "../commands/specs/look.ts";
import { PLAN_COMMANDS } from "../commands/specs/plan.ts";
import { PROJECT_COMMANDS } from "../commands/specs/project.ts";
import { SERVICE_COMMANDS } from "../commands/specs/service.ts";
import { STATE_COMMANDS } from "../commands/specs/state.ts";
import type { ExitCode } from "../model/error.ts";
import type { World } from "./world.ts";

/** The shells that `tasc completion` writes a script for. */
export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** The table of the product, in the order in which help lists it. */
export const COMMANDS: readonly CommandSpec[] = [
  ...PROJECT_COMMANDS,
  ...PLAN_COMMANDS,
  ...ADOPT_COMMANDS,
  ...LOOK_COMMANDS,
  ...STATE_COMMANDS,
  ...SERVICE_COMMANDS,
  ...HELP_COMMANDS,
].map(withJson);

/** `--json` goes with every `--format` that has it. */
function withJson(spec: CommandSpec): CommandSpec {
  return {
    ...spec,
    ...(spec.commands === undefined ? {} : { commands: spec.commands.map(withJson) }),
    ...(spec.options === undefined ? {} : { options: spec.options.flatMap(withShortForm) }),
  };
}

function withShortForm(option: OptionSpec): readonly OptionSpec[] {
  const isFormat = option.flags.startsWith("--format ") && option.choices?.includes("json") === true;
  return isFormat ? [option, { flags: "--json", description: "short for --format json" }] : [option];
}

/** A row of the table; `load` is for commands that still read their options by name. */
export interface CommandSpec extends Omit<Row, "commands"> {
  readonly load?: () => Promise<{ readonly run: (given: Raw, world: World) => Promise<ExitCode> }>;
  readonly commands?: readonly CommandSpec[];
}
