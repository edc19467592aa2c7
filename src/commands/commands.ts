import { EXIT, type ExitCode } from "../model/error.ts";
import type { ViewJson } from "../render/view.ts";
import type { Context } from "./context.ts";
import { GLOBAL, type OptionSpec } from "./options.ts";
import { COMMANDS, type CommandSpec, type OptionsOf } from "./table.ts";

/** `tasc commands`: the table of commands, for programs that call them. */
export async function run({ format }: OptionsOf<"commands">, { console }: Context): Promise<ExitCode> {
  const all = COMMANDS.flatMap((spec) => withChildren(spec, ""));
  const headings = ["command", "what it does"];
  const rows = all.map(({ name, summary }) => [name, summary]);
  const json = { options: Object.values(GLOBAL).map(optionJson), commands: all.map(commandJson) };
  console.show({ json, text: [[{ headings, rows }]] }, format);
  return EXIT.done;
}

function withChildren(spec: CommandSpec, above: string): readonly CommandSpec[] {
  const { commands } = spec;
  const name = `${above}${spec.name}`;
  return commands === undefined
    ? [{ ...spec, name }]
    : commands.flatMap((one) => withChildren(one, `${name} `));
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
