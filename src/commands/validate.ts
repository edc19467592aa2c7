import { type Session, withSession } from "../app/session.ts";
import { resourcesOf } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { EXIT, type ExitCode, TascError } from "../model/error.ts";
import { diagnosticView } from "../render/diagnostics.ts";
import { renderDiagnosticsAs } from "../render/formats.ts";
import { redactDiagnostic } from "../render/redact.ts";
import { count } from "../render/words.ts";
import type { Context } from "./context.ts";
import { fitHeapTo } from "./engine.ts";
import { diagnosticJson, failureJson } from "./failure.ts";
import type { ValidateOptions } from "./table.ts";

/** `tasc validate`: reads and checks the manifests; it calls nothing. */
export async function run(options: ValidateOptions, context: Context): Promise<ExitCode> {
  const { console, host } = context;
  const { format = "text" } = options;
  try {
    return await withSession(options, host, (session) => printValid(session, format, context), {
      apiKey: false,
      texts: false,
      counted: fitHeapTo,
    });
  } catch (error) {
    if (format === "text" || !(error instanceof TascError)) throw error;
    // The mistakes are what this command is asked for, so in a format for programs they are its result.
    const { reason, diagnostics } = error;
    if (format === "json") console.json({ valid: false, ...failureJson(reason, diagnostics) });
    else await printAs(format, diagnostics, context);
    return EXIT[reason];
  }
}

async function printAs(
  format: string,
  diagnostics: readonly Diagnostic[],
  { console, host }: Context,
): Promise<void> {
  const views = diagnostics.map((one) => redactDiagnostic(diagnosticView(one), console.redactor));
  console.writer.document((await renderDiagnosticsAs(format, views, `tasc ${host.version}`)) ?? "");
}

async function printValid(session: Session, format: string, context: Context): Promise<ExitCode> {
  const { console } = context;
  const { project, desired, source } = session;
  const { diagnostics, documentCount } = project;
  if (format === "text") {
    console.diagnostics(diagnostics, source);
    const resources = count(desired.targets.flatMap(resourcesOf).length, "resource");
    console.data(`Valid: ${resources} in ${count(documentCount, "document")}, stage ${desired.stage}\n`);
  } else if (format === "json") console.json({ valid: true, diagnostics: diagnostics.map(diagnosticJson) });
  else await printAs(format, diagnostics, context);
  return EXIT.done;
}
