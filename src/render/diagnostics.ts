import { groupBy } from "../model/collections.ts";
import type { Place } from "../model/diagnostic.ts";
import { SENSITIVE } from "../model/value.ts";
import { linesOf, safeLine, withoutWorkflowCommands } from "./escape.ts";
import type { DiagnosticView } from "./json.ts";
import { type Style, sectionsText, textWidth, wrap } from "./style.ts";

/** Maximum number of diagnostics with the same words that are shown in full. */
export const MOST_ALIKE = 5;

export interface DiagnosticOptions {
  readonly style: Style;
  readonly width: number;
  /** Returns the text of a manifest, for the excerpt. */
  readonly source?: (file: string) => string | undefined;
}

/**
 * Renders errors, then warnings, each with its place, its source line and what to do, separated by
 * blank lines. Of those with the same words, all but the first ones show only their place: a rule
 * that two hundred test cases break is one thing to read.
 */
export function renderDiagnostics(
  diagnostics: readonly DiagnosticView[],
  { style, width, source }: DiagnosticOptions,
): string {
  // Files are split into lines once, because a file with thousands of errors is asked for thousands
  // of lines.
  const files = new Map<string, readonly string[] | undefined>();
  const lineOf = ({ file, line }: DiagnosticView): string | undefined => {
    if (file === undefined || line === undefined) return undefined;
    if (!files.has(file)) files.set(file, source?.(file)?.split("\n"));
    return files.get(file)?.[line - 1];
  };
  const whereOf = (diagnostic: DiagnosticView): string =>
    [placeText(diagnostic), diagnostic.address ?? ""].filter(Boolean).map(safeLine).join("  ");
  const inFull = (diagnostic: DiagnosticView): readonly string[] => {
    const { severity, summary, detail } = diagnostic;
    const where = whereOf(diagnostic);
    return [
      `${style(severity, severity === "error" ? "Error:" : "Warning:")} ${style("strong", safeLine(summary))}`,
      ...(where === "" ? [] : [`  ${style("faint", where)}`]),
      ...excerptLines(diagnostic, lineOf(diagnostic), style),
      // Each line wraps separately; commands, which are indented or in columns, keep their form.
      ...linesOf(detail)
        .flatMap((line) => (/^\s|\S {2,}\S/.test(line) ? [line] : wrap(line, width - 2)))
        .map((line) => `  ${line}`.trimEnd()),
    ];
  };
  const sections = (["error", "warning"] as const).flatMap((wanted) => {
    const all = diagnostics.filter(({ severity }) => severity === wanted);
    const alike = [...groupBy(all, ({ summary, detail }) => `${summary}\n${detail}`).values()];
    const folded = new Set(alike.flatMap((group) => group.slice(MOST_ALIKE)));
    return [
      ...all.filter((one) => !folded.has(one)).map(inFull),
      ...alike
        .map((group) => group.slice(MOST_ALIKE))
        .filter(({ length }) => length > 0)
        .map((group) => [
          `${group.length} more: ${style("strong", safeLine(group[0]?.summary ?? ""))}`,
          ...group.map((one) => `  ${style("faint", whereOf(one))}`),
        ]),
    ];
  });
  return withoutWorkflowCommands(sectionsText(sections));
}

/**
 * Returns the source line of a diagnostic, with a caret. A value that may be a password written by
 * mistake is not shown.
 */
function excerptLines(
  diagnostic: DiagnosticView,
  text: string | undefined,
  style: Style,
): readonly string[] {
  const { severity, line, column } = diagnostic;
  if (text === undefined || text.length > LONGEST_LINE || text.trim() === "") return [];
  const gutter = String(line);
  const pair = diagnostic.path?.includes("additionalHeaderFields") ? ANY_PAIR : SECRET_PAIR;
  const masked = text.replace(pair, `$1${SENSITIVE}`);
  // A value on a line of its own has no name in front that identifies it.
  const isAlone =
    masked === text && diagnostic.path?.some((step) => SECRET_NAME.test(String(step)));
  if (isAlone && !text.includes("${")) return [];
  const shown = untabbed(masked.replace(/\r$/, ""));
  const lines = [`  ${style("faint", `${gutter} │`)} ${shown}`];
  if (column === undefined) return lines;
  const caret = " ".repeat(textWidth(untabbed(text.slice(0, column - 1)))) + style(severity, "^");
  return [...lines, `  ${style("faint", `${" ".repeat(gutter.length)} │`)} ${caret}`];
}

/**
 * Returns a place as editors and terminals open it, `targets/shop.yaml:12:5`; empty if there is no
 * place.
 */
export function placeText({ file, line, column }: Partial<Place>): string {
  return [file, line, column].filter((part) => part !== undefined).join(":");
}

/**
 * Maximum length of an excerpt: a longer line is of no use on a terminal, and too much for a
 * regular expression.
 */
const LONGEST_LINE = 10_000;

function untabbed(text: string): string {
  return safeLine(text.replaceAll("\t", "→ "));
}

/**
 * A quoted value, or a bare one up to the next item of a flow map; not a reference to a secret,
 * which may be shown.
 */
const VALUE = String.raw`(?!["']?\$\{[^}]*\}["']?\s*(?:[,}#]|$))(?:"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?|[^\s,}](?:[^,}]*[^\s,}])?)`;
const NAMES = "(?:password|otpInitializerKey|apiKey|fingerprintKey)";
const SECRET_NAME = new RegExp(`^${NAMES}$`);
const SECRET_PAIR = new RegExp(String.raw`\b(${NAMES}["']?\s*:\s*)${VALUE}`, "g");
const ANY_PAIR = new RegExp(String.raw`(:\s+)${VALUE}`, "g");
