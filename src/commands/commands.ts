import type { ViewJson } from "../render/redact.ts";
import type { View } from "../render/view.ts";
import { type OptionsOf, defineCommand } from "./command.ts";
import type { CommandSpec } from "./spec.ts";
import type { Context } from "./context.ts";
import { type OptionSpec, GLOBAL } from "./options.ts";

const OPTIONS = {};

export const command = defineCommand({
  group: "Start",
  summary: "list all commands and their options",
  examples: { "tasc commands --json": "print commands and options as JSON" },
  options: OPTIONS,
  run: commands,
});

async function commands(_: OptionsOf<typeof OPTIONS>, { commands: specs }: Context): Promise<View> {
  const all = specs
    .flatMap((spec) => [spec, ...(spec.commands ?? [])])
    .filter(({ options }) => options !== undefined);
  const headings = ["command", "what it does"];
  const rows = all.map(({ path, summary }) => [path, summary]);
  const json = { options: Object.values(GLOBAL).map(optionJson), commands: all.map(commandJson) };
  return { json, text: [[{ headings, rows }]] };
}

function commandJson({ path, summary, args = [], options = [], examples }: CommandSpec): ViewJson {
  return {
    name: path,
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
