import type { Sources } from "../manifest/document.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { diagnosticView, renderDiagnostics } from "../render/diagnostics.ts";
import type { Console } from "./console.ts";

/** Says errors and warnings on stderr, each with the line that it is about. */
export function sayDiagnostics(
  console: Console,
  diagnostics: readonly Diagnostic[],
  sources: Sources = new Map(),
): void {
  console.said.push(...diagnostics);
  for (const severity of ["error", "warning"] as const) {
    const own = diagnostics.filter((diagnostic) => diagnostic.severity === severity);
    if (own.length === 0) continue;
    const text = renderDiagnostics(own.map(diagnosticView), {
      style: console.style.stderr,
      width: console.columns,
      source: (file) => sources.get(file)?.text,
    });
    console.say(severity === "error" ? "error" : "warn", text);
  }
}

/** Says one error that has no place in a manifest. */
export function sayError(console: Console, summary: string, detail = ""): void {
  sayDiagnostics(console, [{ severity: "error", code: "", summary, detail }]);
}
