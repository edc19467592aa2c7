import { Argument, Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { openSink } from "../render/terminal.ts";
import { COMMANDS, type CommandSpec } from "./command-table.ts";
import { EXIT, type ExitCode, GLOBAL_OPTIONS, type OptionSpec } from "./options.ts";
import type { World } from "./world.ts";

/** What the command line asks for: a command to run, or nothing further. */
export type Request =
  | {
      readonly kind: "run";
      readonly spec: CommandSpec;
      readonly args: readonly string[];
      readonly options: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: "answered"; readonly code: ExitCode };

/**
 * Reads a command line. Help, versions and errors are answered here; a command is only named, so that its code is
 * loaded by whoever runs it.
 */
export function readCommandLine(argv: readonly string[], world: World): Request {
  let request: Request = { kind: "answered", code: EXIT.done };
  const program = new Command("tasc")
    .description("Test Automation Service as Code: plan and apply the configuration of a test service")
    .version(world.version, "-V, --version", "print the version")
    .exitOverride()
    .configureHelp({ subcommandTerm })
    .configureOutput({
      writeOut: (text) => openSink(world.stdout, (error) => world.unwritten.push(error)).write(text),
      writeErr: (text) => openSink(world.stderr, () => {}).write(text),
      // What is asked here has no colours, and finding out about a stream takes as long as all of the rest.
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .showHelpAfterError("Run the command with --help to see what it takes.");
  addOptions(program, GLOBAL_OPTIONS);
  for (const spec of COMMANDS)
    addCommand(program, spec, argv, (chosen, args, options) => {
      request = { kind: "run", spec: chosen, args, options };
    });
  try {
    program.parse(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { kind: "answered", code: error.exitCode === 0 ? EXIT.done : EXIT.invalid };
  }
  return request;
}

type Choose = (
  spec: CommandSpec,
  args: readonly string[],
  options: Readonly<Record<string, unknown>>,
) => void;

/** A command that no word of the command line names is there for its line in the help, and has no details. */
function addCommand(parent: Command, spec: CommandSpec, argv: readonly string[], choose: Choose): void {
  const command = parent.command(spec.name).description(spec.summary).allowExcessArguments(false);
  for (const { name, description, choices } of spec.args ?? []) {
    const argument = new Argument(name, description);
    command.addArgument(choices === undefined ? argument : argument.choices([...choices]));
  }
  if (!argv.includes(spec.name)) return;
  addOptions(command, [...(spec.options ?? []), ...GLOBAL_OPTIONS]);
  command.addHelpText("after", examples(spec));
  for (const child of spec.commands ?? []) addCommand(command, child, argv, choose);
  if (spec.load !== undefined) command.action(() => choose(spec, command.args, allOptions(command)));
}

/** Commands take options, whether or not they have been added; the one for help, which is not ours, takes none. */
function subcommandTerm(command: Command): string {
  const options = command.name() === "help" ? [] : ["[options]"];
  return [command.name(), ...options, ...command.registeredArguments.map(humanArgument)].join(" ");
}

function humanArgument(argument: Argument): string {
  return argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;
}

/** The command's options, and those given before its name, which the parser keeps apart. */
function allOptions(command: Command): Record<string, unknown> {
  const all: Record<string, unknown> = { ...command.opts() };
  for (let parent = command.parent; parent !== null; parent = parent.parent)
    for (const [name, value] of Object.entries(parent.opts()))
      // `--no-color` is on unless it was given, so in any place it counts only when it says no.
      if (all[name] === undefined || value === false) all[name] = value;
  return all;
}

function addOptions(command: Command, options: readonly OptionSpec[]): void {
  for (const { flags, description, choices, least, repeatable } of options) {
    const option = new Option(flags, description);
    if (choices !== undefined) option.choices([...choices]);
    if (least !== undefined)
      option.argParser((value) => {
        if (!/^\d{1,9}$/.test(value) || Number(value) < least)
          throw new InvalidArgumentError(`It takes a whole number from ${least} up.`);
        return value;
      });
    if (repeatable)
      // A parser of its own takes the place of the one that looks at the choices.
      option.argParser<readonly string[] | undefined>((value, before) => {
        if (choices?.includes(value) === false)
          throw new InvalidArgumentError(`Allowed choices are ${choices.join(", ")}.`);
        return [...(before ?? []), value];
      });
    command.addOption(option);
  }
}

function examples({ examples: list }: CommandSpec): string {
  const width = Math.max(...list.map((example) => example.command.length));
  const lines = list.map((example) => `  ${example.command.padEnd(width)}  ${example.does}`);
  return `\nExamples:\n${lines.join("\n")}\n`;
}
