import { safeLine, safeLines, withoutWorkflowCommands } from "../output/safe.ts";
import type { DiagnosticView } from "./diagnostic-view.ts";
import { placeText } from "./diagnostic-view.ts";
import { sourceLine } from "./source-line.ts";
import type { Style } from "./style.ts";
import { textWidth, wrap } from "./width.ts";

export interface DiagnosticOptions {
  readonly style: Style;
  /** Columns to fill. */
  readonly width: number;
  /** Text of a manifest, for the excerpt. */
  readonly source?: (file: string) => string | undefined;
}

/** Errors, then warnings, each with its place, the line it is about, and what to do; a blank line between. */
export function renderDiagnostics(
  diagnostics: readonly DiagnosticView[],
  options: DiagnosticOptions,
): string {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const warnings = diagnostics.filter(({ severity }) => severity === "warning");
  return [...errors, ...warnings].map((diagnostic) => renderDiagnostic(diagnostic, options)).join("\n");
}

/** One diagnostic, ending with a line break. */
export function renderDiagnostic(diagnostic: DiagnosticView, options: DiagnosticOptions): string {
  const lines = [
    heading(diagnostic, options.style),
    ...whereLines(diagnostic, options),
    ...excerptLines(diagnostic, options),
    ...detailLines(diagnostic.detail, options.width),
  ];
  return withoutWorkflowCommands(lines.map((line) => `${line}\n`).join(""));
}

function heading({ severity, summary }: DiagnosticView, style: Style): string {
  const word = severity === "error" ? style.error("Error:") : style.warning("Warning:");
  return `${word} ${style.strong(safeLine(summary))}`;
}

function whereLines(diagnostic: DiagnosticView, { style }: DiagnosticOptions): readonly string[] {
  const parts = [placeText(diagnostic), diagnostic.address].filter((part) => part !== undefined);
  return parts.length === 0 ? [] : [`  ${style.faint(parts.map(safeLine).join("  "))}`];
}

function excerptLines(diagnostic: DiagnosticView, { style, source }: DiagnosticOptions): readonly string[] {
  const { file, line, column } = diagnostic;
  const text = file === undefined || line === undefined ? undefined : source?.(file);
  const shown = text === undefined ? undefined : sourceLine(text, diagnostic);
  if (shown === undefined) return [];
  const gutter = String(line);
  const caret = column === undefined ? "" : `${" ".repeat(textWidth(shown.beforeCaret))}${style.error("^")}`;
  return [
    `  ${style.faint(`${gutter} │`)} ${shown.line}`,
    ...(caret === "" ? [] : [`  ${style.faint(`${" ".repeat(gutter.length)} │`)} ${caret}`]),
  ];
}

/** Lines of a detail wrap each by itself; commands, which are set off or in columns, keep their form. */
function detailLines(detail: string, width: number): readonly string[] {
  if (detail === "") return [];
  return safeLines(detail)
    .trimEnd()
    .split("\n")
    .flatMap((line) => (/^\s|\S {2,}\S/.test(line) ? [line] : wrap(line, width - 2)))
    .map((line) => `  ${line}`.trimEnd());
}
