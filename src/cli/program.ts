import { Argument, Command, CommanderError, InvalidArgumentError, Option } from "commander";
import type { ProcessContext } from "../commands/context.ts";
import { GLOBAL, type OptionSpec, type Raw } from "../commands/options.ts";
import type { CommandSpec } from "../commands/spec.ts";
import { TascError, invalid } from "../model/error.ts";
import { openSink } from "../render/terminal.ts";

export type Request = { readonly spec: CommandSpec; readonly raw: Raw };

const HELP = ["-h, --help", "print this help"] as const;
const GLOBAL_GROUP = "Global options:";
const MANUAL = "https://github.com/tasc-cli/tasc/tree/main/docs";

/**
 * Parses a command line. Help and versions are printed here, and no request is returned. A request
 * only names the command, so that the caller loads its code.
 * @throws TascError for an invalid command line
 */
export function readCommandLine(
  argv: readonly string[],
  commands: readonly CommandSpec[],
  world: Pick<ProcessContext, "version" | "unwritten" | "stdout" | "stderr">,
): Request | undefined {
  let request: Request | undefined;
  const program = new Command("tasc")
    .description(
      "Test Automation Service as Code: plan and apply the configuration of a test service",
    )
    .optionsGroup(GLOBAL_GROUP)
    .version(world.version, "-v, --version", "print the version")
    // The short form of earlier versions.
    .addOption(new Option("-V").hideHelp())
    .on("option:V", () => program.parse(["--version"], { from: "user" }))
    .exitOverride()
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .addHelpText("after", `\nManual: ${MANUAL}`)
    .configureOutput({
      writeOut: (text) => openSink(world.stdout, world.unwritten)(text),
      writeErr: (text) => openSink(world.stderr, () => {})(text),
      outputError: () => {},
      getOutHelpWidth: () => (world.stdout.isTTY === true ? (world.stdout.columns ?? 80) : 80),
      // The texts printed here have no colours.
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
  program
    .addHelpOption(new Option(...HELP).helpGroup(GLOBAL_GROUP))
    .addHelpCommand(
      new Command("help")
        .argument("[command]")
        .helpGroup("Start:")
        .description("print the help of a command"),
    );
  addOptions(program, Object.values(GLOBAL));
  // If the first word is a command, the other commands are not needed.
  const named = commands.filter(({ name }) => name === argv[0]);
  for (const spec of named.length > 0 ? named : commands)
    addCommand(program, spec, argv, (chosen) => {
      request = chosen;
    });
  try {
    program.parse(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return undefined;
    throw argumentError(error, argv, commands);
  }
  return request;
}

function argumentError(
  { code, message }: CommanderError,
  argv: readonly string[],
  commands: readonly CommandSpec[],
): Error {
  // tasc without a command: its help has been printed.
  if (code === "commander.help") return new TascError("invalid", []);
  const [summary = "", ...rest] = message.replace(/^error: /, "").split("\n");
  const [, dashes, word = ""] =
    /^unknown (?:command|option) '(-{0,2})([a-z-]+)/.exec(summary) ?? [];
  const named: CommandSpec[] = [];
  for (const word of argv) {
    const specs = named.length === 0 ? commands : (named.at(-1)?.commands ?? []);
    named.push(...specs.filter(({ name }) => name === word));
  }
  const isLong = named
    .at(-1)
    ?.options?.some(({ flags }) => flags.split(/[ ,]/).includes(`--${word}`));
  const habit = dashes === "-" && isLong ? `Options have two dashes: --${word}` : HABITS.get(word);
  const help = `Run '${["tasc", ...named.map(({ name }) => name), "--help"].join(" ")}' for usage.`;
  const detail = habit ?? [...rest, help].join("\n");
  return invalid("bad-arguments", summary.charAt(0).toUpperCase() + summary.slice(1), detail);
}

/** Words that people know from other tools, with the equivalent in tasc. */
const HABITS: ReadonlyMap<string, string> = new Map([
  ["target", "A plan is narrowed by address:\ntasc plan --only testCase.shop.login"],
  [
    "destroy",
    "The service has no delete. Disable test cases with `status: DISABLED`, or use `onRemove: disable` for test cases removed from the manifests:\ntasc plan",
  ],
  ["sync", "This makes the service what the manifests say:\ntasc apply"],
  ["dump", "This writes manifests for what is on the service:\ntasc import"],
  ["version", "This prints the version:\ntasc --version"],
  ["workspace", "Stages take the place of workspaces; `--stage` chooses one:\ntasc stages"],
  ["merge-plans", "Several saved plans are shown as one:\ntasc show plans/*.json"],
  ["refresh", "Every plan reads the service. This shows what changed there:\ntasc drift"],
]);

/**
 * Adds a command. If no word of the command line names it, it only needs its line in the help, and
 * gets no details.
 */
function addCommand(
  parent: Command,
  spec: CommandSpec,
  argv: readonly string[],
  choose: (request: Request) => void,
): void {
  const command = parent
    .command(spec.name)
    .helpGroup(parent.parent === null ? `${spec.group}:` : "Commands:")
    .description(spec.summary)
    .helpCommand(false)
    .allowExcessArguments(false);
  for (const { flags, description, choices } of spec.args ?? []) {
    const argument = new Argument(flags, description);
    command.addArgument(choices === undefined ? argument : argument.choices([...choices]));
  }
  if (!argv.includes(spec.name)) return;
  addOptions(command, spec.options ?? []);
  command.optionsGroup(GLOBAL_GROUP).addHelpOption(new Option(...HELP).helpGroup(GLOBAL_GROUP));
  addOptions(command, Object.values(GLOBAL));
  command.addHelpText("after", examples(spec));
  for (const child of spec.commands ?? []) addCommand(command, child, argv, choose);
  if (spec.options !== undefined)
    command.action(() =>
      choose({ spec, raw: { args: command.args, options: allOptions(command) } }),
    );
}

/**
 * Returns the command's options and those given before its name, which the parser stores
 * separately.
 */
function allOptions(command: Command): Record<string, unknown> {
  const all: Record<string, unknown> = { ...command.opts() };
  for (let parent = command.parent; parent !== null; parent = parent.parent)
    for (const [name, value] of Object.entries(parent.opts()))
      // `--no-color` sets `color` to false; its default is true, so only false counts, at any
      // place.
      if (all[name] === undefined || value === false) all[name] = value;
  return all["json"] === true ? { ...all, format: "json" } : all;
}

function addOptions(command: Command, options: readonly OptionSpec[]): void {
  for (const { flags, description, choices, repeatable } of options) {
    const option = new Option(flags, description);
    if (choices !== undefined) option.choices([...choices]);
    if (repeatable)
      // A custom parser replaces the one that checks the choices.
      option.argParser<readonly string[] | undefined>((value, before) => {
        if (choices?.includes(value) === false)
          throw new InvalidArgumentError(`Allowed choices are ${choices.join(", ")}.`);
        return [...(before ?? []), value];
      });
    command.addOption(option);
  }
}

function examples({ examples: list }: CommandSpec): string {
  const width = Math.max(...Object.keys(list).map(({ length }) => length));
  const lines = Object.entries(list).map(([line, does]) => `  ${line.padEnd(width)}  ${does}`);
  return `\nExamples:\n${lines.join("\n")}\n`;
}
