import { writeJson } from "./json.ts";
import type { DiagnosticView } from "./diagnostic-view.ts";

/** Errors and warnings as one JSON value, keys in a fixed order. */
export function renderDiagnosticsJson(diagnostics: readonly DiagnosticView[]): string {
  return writeJson({
    formatVersion: "1.0",
    diagnostics: diagnostics.map(({ severity, code, address, summary, detail, file, line, column }) => ({
      severity,
      ...(code === undefined ? {} : { code }),
      ...(address === undefined ? {} : { address }),
      summary,
      detail,
      ...(file === undefined ? {} : { file }),
      ...(line === undefined ? {} : { line }),
      ...(column === undefined ? {} : { column }),
    })),
  });
}
