import { inspect } from "node:util";
import type { Context } from "../commands/context.ts";
import { EXIT, type ExitCode, TascError, failed } from "../model/error.ts";
import { failureJson } from "../render/json.ts";

/**
 * Turns the error that stopped a command into messages and an exit code; nothing else does. People
 * read it on standard error. Standard output gets it in the requested format, so that a program
 * that expects a document sees why it is missing.
 */
export async function reportFailure(
  error: unknown,
  { console }: Context,
  format: unknown,
): Promise<ExitCode> {
  const known = error instanceof TascError ? error : crash(error, console.level === "debug");
  console.diagnostics(known.diagnostics, known.source);
  const code = EXIT[known.reason];
  const failure = failureJson(known, console.reported);
  // The last line of an apply that applied nothing.
  const nothing = { done: [], failed: [], skipped: [], notTaken: [], unfinished: [] };
  if (console.streams) console.event({ type: "result", ...nothing, exitCode: code, ...failure });
  else if (console.printed) return code;
  else if (format === "json") console.json(failure);
  else if (typeof format === "string") await console.report(console.reported, format);
  return code;
}

/**
 * Wraps an unexpected error. Its stack is for developers of tasc, so it only shows at the level
 * `debug`.
 */
function crash(error: unknown, debug: boolean): TascError {
  const kind = error instanceof Error ? error.name : typeof error;
  const summary = error instanceof Error ? (error.message.split("\n")[0] ?? "") : "";
  return failed(
    "unexpected",
    `tasc failed unexpectedly (${kind}: ${summary})`,
    debug
      ? inspect(error)
      : "This is a mistake in tasc, not in your project. Run it again with --log-level debug and report what it says.",
  );
}
