import { inspect } from "node:util";
import { failedResult } from "../commands/apply-events.ts";
import type { Context } from "../commands/context.ts";
import { EXIT, type ExitCode, type FailureReason, TascError } from "../model/error.ts";
import { diagnosticView } from "../render/diagnostics.ts";
import { renderDiagnosticsAs } from "../render/formats.ts";
import { failureJson } from "../render/json.ts";
import { redactDiagnostic } from "../render/redact.ts";

/**
 * The one place that makes words and an exit code of what stopped a command: for people on standard error, and in the
 * format that was asked for on standard output, so that whoever waits for a document reads why there is none.
 *
 * @param format as it was given on the command line
 */
export async function reportFailure(
  error: unknown,
  { console, world }: Context,
  format: unknown,
): Promise<ExitCode> {
  const failure = error instanceof TascError ? error : crash(error, console.level === "debug");
  console.diagnostics(failure.diagnostics, failure.source);
  if (!console.printed || console.streams) await printFailure(failure.reason, { console, world }, format);
  return EXIT[failure.reason];
}

async function printFailure(
  reason: FailureReason,
  { console, world }: Pick<Context, "console" | "world">,
  format: unknown,
): Promise<void> {
  const { said } = console;
  const failure = failureJson(reason, said);
  if (console.streams) return console.event(failedResult(EXIT[reason], failure));
  if (format === "json") return console.json(failure);
  if (typeof format !== "string") return;
  const views = said.map((one) => redactDiagnostic(diagnosticView(one), console.redactor));
  const document = await renderDiagnosticsAs(format, views, `tasc ${world.version}`);
  if (document !== undefined) console.document(document);
}

/** An error that nobody expected. Its stack is for those who correct tasc, so it shows only at the level `debug`. */
function crash(error: unknown, debug: boolean): TascError {
  const kind = error instanceof Error ? error.name : typeof error;
  const summary = error instanceof Error ? (error.message.split("\n")[0] ?? "") : "";
  return new TascError("failed", [
    {
      severity: "error",
      code: "unexpected",
      summary: `tasc failed unexpectedly (${kind}: ${summary})`,
      detail: debug
        ? inspect(error)
        : "This is a mistake in tasc, not in your project. Run it again with --log-level debug and report what it says.",
    },
  ]);
}
