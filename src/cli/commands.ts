import { type OptionSpec } from "../commands/options.ts";
import { type CommandSpec } from "./command.ts";
import { LOOK_COMMANDS } from "../commands/specs/look.ts";
import { ADOPT_COMMANDS } from "../commands/specs/adopt.ts";
import { HELP_COMMANDS } from "../commands/specs/help.ts";
import { PLAN_COMMANDS } from "../commands/specs/plan.ts";
import { PROJECT_COMMANDS } from "../commands/specs/project.ts";
import { SERVICE_COMMANDS } from "../commands/specs/service.ts";
import { STATE_COMMANDS } from "../commands/specs/state.ts";

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
