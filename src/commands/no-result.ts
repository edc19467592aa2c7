import { type Given, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { diagnosticView } from "../render/diagnostics.ts";
import { renderDiagnosticsAs } from "../render/formats.ts";
import { diagnosticJson } from "../render/json.ts";
import { redactDiagnostic } from "../render/redact.ts";
import { consoleFor } from "./opening.ts";

/**
 * What a command that came to no result prints for a program that waits for one: whoever asked for JSON reads JSON,
 * and a report that is uploaded whatever comes of a job holds what was wrong.
 */
export async function printNoResult(given: Given, world: World): Promise<void> {
  const format = textOption(given, "format") ?? "text";
  const console = consoleFor(given, world, [...world.secrets]);
  if (format === "json")
    return console.json({ diagnostics: world.said.map((one) => ({ ...diagnosticJson(one) })) });
  const views = world.said.map((one) => redactDiagnostic(diagnosticView(one), console.redactor));
  const document = await renderDiagnosticsAs(format, views, `tasc ${world.version}`);
  if (document !== undefined) console.writer.document(document);
}
