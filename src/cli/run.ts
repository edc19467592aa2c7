import { writeSync } from "node:fs";
import type { CommandSpec } from "../commands/spec.ts";
import type { Context, ProcessContext } from "../commands/context.ts";
import { GLOBAL, type Raw, readOptions } from "../commands/options.ts";
import { loadCommand } from "../commands/table.ts";
import { EXIT, type ExitCode } from "../model/error.ts";
import { readCatalogue } from "./catalogue.ts";
import { Secrets } from "../model/value.ts";
import { readCommandLine } from "./program.ts";

declare const __TASC_VERSION__: string;

/**
 * Called by the scripts of `tasc completion`. It is not in the table of commands, so help does not
 * list it.
 */
const COMPLETE = "__complete";

/** @param folder the folder of the build */
export async function run(argv: readonly string[], folder: string): Promise<void> {
  const world = {
    env: process.env,
    cwd: process.cwd(),
    // Node opens a stream at its first use, and most commands ask no questions.
    stdin: () => process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    now: () => Date.now(),
    random: () => Math.random(),
    version: __TASC_VERSION__,
    unwritten: (error: Error) => process.once("exit", () => sayUnwritten(error)),
  };
  process.exitCode = await exitCodeOf(argv, folder, world);
  // Otherwise Node would wait for everything that V8 is still compiling, and free the heap page by
  // page.
  setImmediate(() => {
    if (process.stdout.writableLength + process.stderr.writableLength === 0) process.exit();
  });
}

/** Reports that the output is incomplete, since it must not be taken for a whole one. */
function sayUnwritten({ message }: Error): void {
  process.exitCode = EXIT.failed;
  writeSync(
    2,
    `Error: Standard output cannot be written: ${message}\n  The output is incomplete. Free some space or redirect the output elsewhere, and run the command again.\n`,
  );
}

/**
 * Runs a command line to its end, without ending the process. All that it reads and writes is
 * `outside`, except for the signals that an apply listens to.
 * @param folder the folder of the build
 */
export async function exitCodeOf(
  argv: readonly string[],
  folder: string,
  outside: Omit<ProcessContext, "secrets">,
): Promise<ExitCode> {
  const world = { ...outside, secrets: new Secrets() };
  const commands = readCatalogue(folder);
  const [first, ...words] = argv;
  if (first === COMPLETE) {
    const { complete } = await import("./complete.ts");
    await complete(words, commands, world);
    return EXIT.done;
  }
  // Until the command line is parsed, its words decide how an error in it is reported.
  let raw: Raw = { args: [], options: asked(argv) };
  let context: Context | undefined;
  try {
    const request = readCommandLine(argv, commands, world);
    if (request === undefined) return EXIT.done;
    raw = request.raw;
    context = await contextFor(raw, commands, world);
    const command = await loadCommand(request.spec.path);
    return (await command?.start(raw, context)) ?? EXIT.invalid;
  } catch (error) {
    const { reportFailure } = await import("./failure.ts");
    context ??= await contextFor(raw, commands, world);
    const { format } = raw.options;
    if (first === "apply" && format === "json") context.console.streams = true;
    return reportFailure(error, context, format);
  }
}

async function contextFor(
  raw: Raw,
  commands: readonly CommandSpec[],
  world: ProcessContext,
): Promise<Context> {
  const { openContext } = await import("../commands/context.ts");
  const { logLevel = "info", color } = readOptions(GLOBAL, raw);
  return openContext(world, commands, logLevel, !color);
}

/** Returns the options that decide how an error in an invalid command line is reported. */
function asked(argv: readonly string[]): Raw["options"] {
  const [, format] = /(?:^| )--format[ =](\S+)/.exec(argv.join(" ")) ?? [];
  return { format: argv.includes("--json") ? "json" : format, color: !argv.includes("--no-color") };
}
