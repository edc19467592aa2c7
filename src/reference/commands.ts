import { COMMANDS } from "../commands/table.ts";
import { type CommandSpec } from "../commands/options.ts";
import { GLOBAL_OPTIONS, type OptionSpec } from "../cli/options.ts";
import { code, table } from "./table.ts";

/** Every command of the command table, with what it takes and its examples. */
export function commandReference(): string {
  return [
    "## Commands",
    "Every command takes these:",
    optionTable(GLOBAL_OPTIONS),
    ...COMMANDS.flatMap((spec) => section(spec, "tasc")),
  ].join("\n\n");
}

function section(spec: CommandSpec, above: string): readonly string[] {
  const name = `${above} ${spec.name}`;
  const { args = [], options = [], commands = [], examples } = spec;
  const children = commands.flatMap((child) => section(child, name));
  const synopsis = [name, ...args.map((arg) => arg.name), ...(options.length > 0 ? ["[options]"] : [])];
  return [
    `### ${name}`,
    `${sentence(spec.summary)}.`,
    ...(spec.commands !== undefined ? [] : [fence("text", synopsis.join(" "))]),
    ...(args.length === 0 ? [] : [argumentTable(args)]),
    ...(options.length === 0 ? [] : [optionTable(options)]),
    ...(examples.length === 0
      ? []
      : [fence("sh", examples.map(({ command, does }) => `${command}   # ${does}`).join("\n"))]),
    ...children,
  ];
}

function optionTable(options: readonly OptionSpec[]): string {
  const rows = options.map(({ flags, description, choices, repeatable }) => [
    code(flags),
    [description, ...chosen(choices), ...(repeatable === undefined ? [] : ["repeatable"])].join("; "),
  ]);
  return table(["option", "meaning"], rows);
}

function argumentTable(args: NonNullable<CommandSpec["args"]>): string {
  const rows = args.map(({ name, description, choices }) => [
    code(name),
    [description, ...chosen(choices)].join("; "),
  ]);
  return table(["argument", "meaning"], rows);
}

function chosen(choices: readonly string[] | undefined): readonly string[] {
  return choices === undefined ? [] : [`one of ${choices.map(code).join(", ")}`];
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}
