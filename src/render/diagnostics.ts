import type { Place } from "../model/diagnostic.ts";
import { SENSITIVE } from "../model/value.ts";
import { safeLine, safeLines, withoutWorkflowCommands } from "./escape.ts";
import type { DiagnosticView } from "./json.ts";
import { type Style, textWidth, wrap } from "./style.ts";

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
  // Files are cut into lines once: a file with thousands of errors is asked for thousands of lines.
  const known = new Map<string, readonly string[]>();
  const lines = (file: string): readonly string[] | undefined => {
    const text = known.has(file) ? undefined : options.source?.(file);
    if (text !== undefined) known.set(file, text.split("\n"));
    return known.get(file);
  };
  return [...errors, ...warnings].map((one) => rendered(one, options, lines)).join("\n");
}

type LinesOf = (file: string) => readonly string[] | undefined;

function rendered(diagnostic: DiagnosticView, options: DiagnosticOptions, linesOf: LinesOf): string {
  const { style, width } = options;
  const { severity, summary, detail, address } = diagnostic;
  const where = [placeText(diagnostic), address ?? ""].filter(Boolean);
  const lines = [
    `${style(severity, severity === "error" ? "Error:" : "Warning:")} ${style("strong", safeLine(summary))}`,
    ...(where.length === 0 ? [] : [`  ${style("faint", where.map(safeLine).join("  "))}`]),
    ...excerptLines(diagnostic, style, linesOf),
    ...detailLines(detail, width),
  ];
  return withoutWorkflowCommands(lines.map((line) => `${line}\n`).join(""));
}

/**
 * The line that a diagnostic is about, with a caret. What may be a password that someone wrote in by mistake is not
 * repeated in a log: the error that forbids it must not be the one that spreads it.
 */
function excerptLines(diagnostic: DiagnosticView, style: Style, linesOf: LinesOf): readonly string[] {
  const { severity, file, line, column } = diagnostic;
  const text = file === undefined || line === undefined ? undefined : linesOf(file)?.[line - 1];
  if (text === undefined || text.length > LONGEST_LINE || text.trim() === "") return [];
  const gutter = String(line);
  const shown = untabbed(withoutSecrets(text.replace(/\r$/, ""), diagnostic));
  const lines = [`  ${style("faint", `${gutter} │`)} ${shown}`];
  if (column === undefined) return lines;
  const caret = " ".repeat(textWidth(untabbed(text.slice(0, column - 1)))) + style(severity, "^");
  return [...lines, `  ${style("faint", `${" ".repeat(gutter.length)} │`)} ${caret}`];
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

/** `targets/shop.yaml:12:5`, as editors and terminals open it; empty where there is no place. */
export function placeText({ file, line, column }: Partial<Place>): string {
  return [file ?? [], line ?? [], column ?? []].flat().join(":");
}

/** Of no use on a terminal, and too much for a regular expression. */
const LONGEST_LINE = 10_000;

function untabbed(text: string): string {
  return safeLine(text.replaceAll("\t", "→ "));
}

/** A quoted value, or a bare one up to where a flow map goes on; a reference to a secret may be seen. */
const VALUE = String.raw`(?!["']?\$\{)(?:"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?|[^\s,}](?:[^,}]*[^\s,}])?)`;
const SECRET_PAIR = new RegExp(
  String.raw`\b((?:password|otpInitializerKey|apiKey|fingerprintKey)["']?\s*:\s*)${VALUE}`,
  "g",
);
const ANY_PAIR = new RegExp(String.raw`(:\s+)${VALUE}`, "g");

function withoutSecrets(text: string, { path }: DiagnosticView): string {
  return text.replace(path?.includes("additionalHeaderFields") ? ANY_PAIR : SECRET_PAIR, `$1${SENSITIVE}`);
}
