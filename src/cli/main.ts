import { writeSync } from "node:fs";
import { TascError } from "../model/error.ts";
import { EXIT, type ExitCode, type Given } from "./options.ts";
import { readCommandLine } from "./program.ts";
import { type World, realWorld } from "./world.ts";

/** Asked by the scripts of `tasc completion`; no command, so that help does not list it. */
const COMPLETE = "__complete";

async function main(world: World): Promise<ExitCode> {
  const [first, ...words] = process.argv.slice(2);
  if (first === COMPLETE) {
    const { complete } = await import("./complete.ts");
    await complete(words, world);
    return EXIT.done;
  }
  const request = readCommandLine(process.argv.slice(2), world);
  if (request.kind === "answered") return request.code;
  const given = { args: request.args, options: request.options };
  try {
    const command = await request.spec.load?.();
    const code = await sayingWhatStops(
      given,
      world,
      async () => (await command?.run(given, world)) ?? EXIT.invalid,
    );
    if (code !== EXIT.done && given.options["format"] !== undefined && world.printed.documents === 0) {
      const { printNoResult } = await import("../commands/no-result.ts");
      await printNoResult(given, world);
    }
    return code;
  } catch (error) {
    const { sayCrash } = await import("./crash.ts");
    return sayCrash(error, world, request.options["logLevel"] === "debug");
  }
}

/** The one place that makes an exit code of a thrown error. */
async function sayingWhatStops(given: Given, world: World, work: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TascError)) throw error;
    const [{ consoleFor }, { sayDiagnostics }] = await Promise.all([
      import("../commands/opening.ts"),
      import("../commands/diagnostics.ts"),
    ]);
    sayDiagnostics(consoleFor(given, world, [...world.secrets]), error.diagnostics);
    return EXIT[error.reason];
  }
}

const world = realWorld();
process.once("exit", () => {
  const [failure] = world.unwritten;
  if (failure === undefined) return;
  // A result that is cut short must not pass for a whole one.
  process.exitCode = EXIT.failed;
  writeSync(
    2,
    `Error: Standard output cannot be written: ${failure.message}\n  What was printed is incomplete. Make room, or send it elsewhere, and run the command again.\n`,
  );
});
void main(world).then((code) => {
  process.exitCode = code;
});
