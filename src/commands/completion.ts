import type { ViewJson } from "../render/redact.ts";
import type { View } from "../render/view.ts";
import { type OptionSpec, GLOBAL } from "./options.ts";
import { type CommandSpec, type OptionsOf, COMMANDS } from "./table.ts";
import bash from "./templates/tasc.bash?raw";
import fish from "./templates/tasc.fish?raw";
import zsh from "./templates/tasc.zsh?raw";

export async function commands(): Promise<View> {
  const all = COMMANDS.flatMap(({ commands: inner, ...spec }) =>
    inner === undefined
      ? [spec]
      : inner.map((one) => ({ ...one, name: `${spec.name} ${one.name}` })),
  );
  const headings = ["command", "what it does"];
  const rows = all.map(({ name, summary }) => [name, summary]);
  const json = { options: Object.values(GLOBAL).map(optionJson), commands: all.map(commandJson) };
  return { json, text: [[{ headings, rows }]] };
}

function commandJson({ name, summary, args = [], options = [], examples }: CommandSpec): ViewJson {
  return {
    name,
    summary,
    arguments: args.map(({ flags, description, choices }) => ({
      name: flags,
      description,
      choices,
      required: flags.startsWith("<"),
    })),
    options: options.map(optionJson),
    examples: Object.entries(examples).map(([command, does]) => ({ command, does })),
  };
}

function optionJson({ flags, description, choices, repeatable }: OptionSpec): ViewJson {
  return { flags, description, choices, repeatable: repeatable ?? false };
}

export async function completion({ shell }: OptionsOf<"completion">): Promise<View> {
  return { json: { shell, script: SCRIPTS[shell] }, text: [[{ lines: SCRIPTS[shell] }]] };
}

/*
 * The scripts do not contain the commands: each passes the line up to the cursor to the hidden `tasc __complete`, so that
 * it stays correct when tasc is updated. The bash script works with bash 3.2 of macOS, without bash-completion.
 */

const SCRIPTS = { bash, zsh, fish };
