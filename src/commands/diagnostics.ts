import type { Sources } from "../manifest/document.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Console } from "./console.ts";

/** Says errors and warnings on stderr, each with the line that it is about. */
export function sayDiagnostics(
  console: Console,
  diagnostics: readonly Diagnostic[],
  sources: Sources = new Map(),
): void {
  console.diagnostics(diagnostics, (file) => sources.get(file)?.text);
}

/** Says one error that has no place in a manifest. */
export function sayError(console: Console, summary: string, detail = ""): void {
  sayDiagnostics(console, [{ severity: "error", code: "", summary, detail }]);
}
