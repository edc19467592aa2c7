import type { Diagnostic } from "../model/diagnostic.ts";
import type { Sources } from "../manifest/locate.ts";
import type { Console } from "./console.ts";

/** Says errors and warnings on stderr. */
export function sayDiagnostics(
  console: Console,
  diagnostics: readonly Diagnostic[],
  _sources: Sources,
): void {
  for (const diagnostic of diagnostics) {
    const level = diagnostic.severity === "error" ? "error" : "warn";
    console.say(level, diagnosticText(diagnostic));
  }
}

function diagnosticText({ severity, summary, detail, place, address }: Diagnostic): string {
  const where = place === undefined ? (address ?? "") : `${place.file}:${place.line}:${place.column}`;
  const head = `${severity}: ${summary}${where === "" ? "" : `\n  at ${where}`}`;
  return `${head}\n${detail
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n")}\n`;
}
