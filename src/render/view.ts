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
 * The output of a command as plain data: for people (`text`), for programs (`json`) and in other
 * formats (`documents`). `show` redacts secrets first and then makes every text harmless, so that
 * no view can forget either.
 */
export interface View {
  /** Data with keys in a fixed order. */
  readonly json: ViewJson;
  /** Sections are separated by a blank line; empty ones are left out. */
  readonly text: readonly Section[];
  /** Other formats, by their name in `--format`. */
  readonly documents?: Readonly<Record<string, Markup>>;
  /** Format of the output, if the command overrides its option `--format`. */
  readonly format?: string;
  /** Exit code of the command; 0 if unset. */
  readonly exitCode?: ExitCode;
}

export type Section = readonly Block[];

export type Block =
  | Line
  /** Text of several lines, which are not wrapped. */
  | { readonly lines: string }
  /** Text that wraps in a column next to a label; a string may have several lines. */
  | { readonly label: Line; readonly column: number; readonly beside: Line }
  | { readonly headings: readonly string[]; readonly rows: readonly (readonly string[])[] }
  /** `name: before → after`; a missing side is not declared. */
  | { readonly field: FieldJson }
  /** Changes as a plan draws them. */
  | { readonly fold: Fold; readonly verbose: boolean }
  /** Blocks with an indentation. */
  | { readonly indent: number; readonly blocks: readonly Block[] };

/** Parts of one line; a line break in a part is shown as `\n`. */
export type Line = string | readonly StyledText[];

/** A text, which may have a colour by its meaning, or a value as YAML would write it. */
export type StyledText =
  string | { readonly style: Meaning; readonly text: string } | { readonly value: Json };

export const strong = (text: string): StyledText => ({ style: "strong", text });
export const faint = (text: string): StyledText => ({ style: "faint", text });

/**
 * A document in another format: our own words as they are, and texts from outside with the function
 * that escapes them.
 */
export type Markup = readonly (string | { readonly text: string; readonly escape: Escape })[];
type Escape = (text: string) => string;

/**
 * Returns a template tag that writes markup: strings that are filled in come from outside; markup
 * is inserted unchanged.
 */
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

/** Renders a view in one format. @param format `text`, `json` or one of its documents */
export function show(view: View, format: string, options: ShowOptions): string {
  const { redactor } = options;
  if (format === "json") return writeJson(redactor.json(view.json));
  if (format !== "text")
    return (view.documents?.[format] ?? [])
      .map((piece) => (typeof piece === "string" ? piece : piece.escape(redactor.text(piece.text))))
      .join("");
  return sectionsText(
    view.text.map((blocks) => blocks.flatMap((block) => blockLines(block, options))),
  );
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
    const side = (value: Json | undefined) =>
      value === undefined ? "(not declared)" : shortText(value);
    return [`${fieldName(path)}: ${side(before)} → ${side(after)}`];
  }
  if ("fold" in block) {
    const [first, ...others] = block.fold;
    const fold: Fold = [
      redactChange(first, redactor),
      ...others.map((one) => redactChange(one, redactor)),
    ];
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

/** Redacts a text before splitting it into lines, because a secret may have several lines. */
function textLines(text: string, { redactor }: ShowOptions): readonly string[] {
  return safeLines(redactor.text(text)).trimEnd().split("\n");
}
