import { inspect } from "node:util";
import { safeOutput } from "../render/escape.ts";
import { createRedactor } from "../render/redact.ts";
import { EXIT, type ExitCode } from "./options.ts";
import type { World } from "./world.ts";

/**
 * The words about an error that nobody expected. Its stack is for those who mend tasc, so it shows only with
 * `--log-level debug`; what has become known as secret is taken out of it.
 */
export function sayCrash(error: unknown, world: World, debug: boolean): ExitCode {
  const kind = error instanceof Error ? error.name : typeof error;
  const summary = error instanceof Error ? error.message.split("\n")[0] : "";
  const text = debug
    ? inspect(error)
    : `Error: tasc failed unexpectedly (${kind}: ${summary})\n  This is a mistake in tasc, not in your project. Run it again with --log-level debug and report what it says.`;
  world.stderr.write(safeOutput(createRedactor([...world.secrets]).text(`${text}\n`), { colour: false }));
  return EXIT.failed;
}
