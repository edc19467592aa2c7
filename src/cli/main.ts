import { writeSync } from "node:fs";
import type { Context, ProcessContext } from "../commands/context.ts";
import { GLOBAL, type Raw, readOptions } from "../commands/options.ts";
import { EXIT, type ExitCode } from "../model/error.ts";
import { readCommandLine } from "./program.ts";

declare const __TASC_VERSION__: string;

/** Asked by the scripts of `tasc completion`; no command, so that help does not list it. */
const COMPLETE = "__complete";

async function main(world: ProcessContext): Promise<ExitCode> {
  const argv = process.argv.slice(2);
  const [first, ...words] = argv;
  if (first === COMPLETE) {
    const { complete } = await import("./complete.ts");
    await complete(words, world);
    return EXIT.done;
  }
  // Until the command line is understood, its words say how an error in it is to be told.
  let raw: Raw = { args: [], options: asked(argv) };
  let context: Context | undefined;
  try {
    const request = readCommandLine(argv, world);
    if (request === undefined) return EXIT.done;
    raw = request.raw;
    context = await openContext(raw, world);
    return (await request.spec.start?.(raw, context)) ?? EXIT.invalid;
  } catch (error) {
    const { reportFailure } = await import("./failure.ts");
    context ??= await openContext(raw, world);
    const { format } = raw.options;
    if (first === "apply" && format === "json") context.console.streams = true;
    return reportFailure(error, context, format);
  }
}

async function openContext(raw: Raw, world: ProcessContext): Promise<Context> {
  const { openConsole } = await import("../commands/console.ts");
  const { inlineLittle } = await import("../commands/engine.ts");
  inlineLittle();
  const { logLevel = "info", color } = readOptions(GLOBAL, raw);
  const console = openConsole(world, { level: logLevel, noColour: !color });
  const { env, cwd, now, random, version, secrets } = world;
  const { diagnostics: warn, heard } = console;
  return {
    world,
    console,
    host: {
      env,
      cwd,
      now,
      random,
      version,
      secrets,
      warn,
      heard,
      debug: (text) => console.say("debug", text),
    },
  };
}

/** What a command line that is not understood asks of the words about it. */
function asked(argv: readonly string[]): Raw["options"] {
  const [, format] = /(?:^| )--format[ =](\S+)/.exec(argv.join(" ")) ?? [];
  const json = argv.includes("--json") ? { format: "json" } : {};
  return { ...(format === undefined ? {} : { format }), ...json, color: !argv.includes("--no-color") };
}

function realWorld(): ProcessContext {
  return {
    env: process.env,
    cwd: process.cwd(),
    // Node opens a stream when it is first asked for, which takes as long as all of `--help`.
    get stdin() {
      return process.stdin;
    },
    get stdout() {
      return process.stdout;
    },
    get stderr() {
      return process.stderr;
    },
    now: () => Date.now(),
    random: () => Math.random(),
    version: __TASC_VERSION__,
    secrets: new Set(),
    said: [],
    unwritten: [],
    printed: { documents: 0 },
  };
}

const world = realWorld();
process.once("exit", () => {
  const [failure] = world.unwritten;
  if (failure === undefined) return;
  // A result that is cut short must not pass for a whole one.
  process.exitCode = EXIT.failed;
  writeSync(
    2,
    `Error: Standard output cannot be written: ${failure.message}\n  The output is incomplete. Free some space or redirect the output elsewhere, and run the command again.\n`,
  );
});
void main(world).then((code) => {
  process.exitCode = code;
});
