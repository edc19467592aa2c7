import type { ExitCode } from "../model/error.ts";
import { type Json, isArray } from "../model/json.ts";
import type { FieldJson } from "../model/plan.ts";
import { SENSITIVE } from "../model/value.ts";
import { safeLine, safeLines } from "./escape.ts";
import type { Fold } from "./fields.ts";
import { writeJson } from "./json.ts";
import { type Redactor, type ViewJson, redactChange, redactField } from "./redact.ts";
import { type Meaning, type Style, padTo, sectionsText, textWidth, wrap } from "./style.ts";
import { changeLines, clippedValue, fieldLines } from "./text.ts";
import { fieldName } from "./words.ts";

/**
 * What a command has to say, as plain data: for people (`text`), for programs (`json`) and in formats of its own
 * (`documents`). `show` takes out secrets first, then makes every text harmless, so that no view can forget either.
 */
export interface View {
  /** Keys in a fixed order. */
  readonly json: ViewJson;
  /** A blank line stands between sections; empty ones are left out. */
  readonly text: readonly Section[];
  /** Other formats, by the word that `--format` has for them. */
  readonly documents?: Readonly<Record<string, Markup>>;
  /** What it is shown in, where the command knows better than its option `--format`. */
  readonly format?: string;
  /** What the command ends with; 0 where absent. */
  readonly exitCode?: ExitCode;
}

export type Section = readonly Block[];

export type Block =
  | Line
  /** Text of several lines, each as it is. */
  | { readonly lines: string }
  /** Text that wraps beside a label; a string may have several lines. */
  | { readonly label: Line; readonly column: number; readonly beside: Line }
  | { readonly headings: readonly string[]; readonly rows: readonly (readonly string[])[] }
  /** `name: before → after`; a side that is absent is not declared. */
  | { readonly field: FieldJson }
  /** Changes as a plan draws them. */
  | { readonly fold: Fold; readonly verbose: boolean }
  /** The same, indented. */
  | { readonly indent: number; readonly blocks: readonly Block[] };

/** Parts of one line; a line break in one shows as `\n`. */
export type Line = string | readonly StyledText[];

/** A text, with a colour by its meaning, or a value as YAML would write it. */
export type StyledText =
  string | { readonly style: Meaning; readonly text: string } | { readonly value: Json };

export const strong = (text: string): StyledText => ({ style: "strong", text });
export const faint = (text: string): StyledText => ({ style: "faint", text });

/** A document in a format of its own: our own words as they are, and texts from outside with how they are escaped. */
export type Markup = readonly (string | { readonly text: string; readonly escape: Escape })[];
type Escape = (text: string) => string;

/** Writes markup by templates: texts that are filled in are from outside; markup stays as it is. */
export function markup(escape: Escape) {
  return (words: TemplateStringsArray, ...filled: readonly (string | number | Markup)[]): Markup =>
    words.flatMap((own, at) => {
      const part = filled[at] ?? [];
      if (typeof part === "string") return [own, { text: part, escape }];
      return [own, ...(typeof part === "number" ? [String(part)] : part)];
    });
}

export interface ShowOptions {
  readonly redactor: Redactor;
  readonly style: Style;
  readonly width: number;
}

/** A view in one format. @param format `text`, `json` or one of its documents */
export function show(view: View, format: string, options: ShowOptions): string {
  const { redactor } = options;
  if (format === "json") return writeJson(redactor.json(view.json));
  if (format !== "text")
    return (view.documents?.[format] ?? [])
      .map((piece) => (typeof piece === "string" ? piece : piece.escape(redactor.text(piece.text))))
      .join("");
  return sectionsText(view.text.map((blocks) => blocks.flatMap((block) => blockLines(block, options))));
}

function blockLines(block: Block, options: ShowOptions): readonly string[] {
  const { redactor, style, width } = options;
  if (typeof block === "string" || isArray(block)) return [lineText(block, options)];
  if ("lines" in block) return textLines(block.lines, options).map((line) => line.trimEnd());
  if ("label" in block) {
    const { label, column, beside } = block;
    const head = padTo(lineText(label, options), column);
    return (typeof beside === "string" ? textLines(beside, options) : [lineText(beside, options)])
      .filter((line, at) => at === 0 || line.trim() !== "")
      .flatMap((line) => wrap(line.trimStart(), Math.max(20, width - column)))
      .map((line, at) => `${at === 0 ? head : " ".repeat(column)}${line}`.trimEnd());
  }
  if ("headings" in block) {
    const rows = block.rows.map((row) => row.map((cell) => safeLine(redactor.text(cell))));
    const [headings = "", ...lines] = aligned([block.headings, ...rows]);
    return [style("faint", headings), ...lines];
  }
  if ("field" in block) {
    const field = redactField(block.field, redactor);
    const { path, before, after, sensitive } = field;
    if (sensitive || (before !== undefined && after !== undefined))
      return fieldLines(field, "update", { style, width, verbose: false });
    const side = (value: Json | undefined) => (value === undefined ? "(not declared)" : shortText(value));
    return [`${fieldName(path)}: ${side(before)} → ${side(after)}`];
  }
  if ("fold" in block) {
    const [first, ...others] = block.fold;
    const fold: Fold = [redactChange(first, redactor), ...others.map((one) => redactChange(one, redactor))];
    return changeLines(fold, { ...options, verbose: block.verbose, brief: false });
  }
  const inside = { ...options, width: width - block.indent };
  const lines = block.blocks.flatMap((inner) => blockLines(inner, inside));
  return lines.map((line) => `${" ".repeat(block.indent)}${line}`);
}

function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, textWidth(cell));
  const pad = (cell: string, at: number, { length }: readonly string[]) =>
    at === length - 1 ? cell : padTo(cell, widths[at] ?? 0);
  return rows.map((row) => row.map(pad).join("  ").trimEnd());
}

function lineText(line: Line, { redactor, style }: ShowOptions): string {
  const spans = typeof line === "string" ? [line] : line;
  return spans
    .map((span) => {
      if (typeof span === "string") return safeLine(redactor.text(span));
      if ("value" in span) return shortText(redactor.freeJson(span.value));
      return style(span.style, safeLine(redactor.text(span.text)));
    })
    .join("");
}

function shortText(value: Json): string {
  return value === SENSITIVE ? value : clippedValue(value, false);
}

/** Redacted before it is parted: a secret may have several lines. */
function textLines(text: string, { redactor }: ShowOptions): readonly string[] {
  return safeLines(redactor.text(text)).trimEnd().split("\n");
}
