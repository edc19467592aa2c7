import type { Json } from "../model/json.ts";
import { isArray, isObject } from "../model/json.ts";
import type { Action, FieldJson } from "../model/plan.ts";
import { SENSITIVE } from "../model/value.ts";
import { safeLine } from "../output/safe.ts";
import { isLongText, isText, missingText } from "./field-line.ts";
import { fieldName } from "./field-name.ts";
import type { Style } from "./style.ts";
import { excerpts, lineDiff } from "./text-diff.ts";
import type { Excerpt } from "./text-diff.ts";
import { clip, valueText } from "./value-text.ts";
import { textWidth, wrap } from "./width.ts";
import { count } from "./words.ts";

export interface FieldOptions {
  readonly style: Style;
  /** Columns for the field's lines. */
  readonly width: number;
  /** Long values whole. */
  readonly verbose: boolean;
}

/** A field's lines: `name: before → after`, or for long text its name and a block below. */
export function fieldLines(
  field: FieldJson,
  action: Action,
  note: string,
  options: FieldOptions,
): readonly string[] {
  const name = fieldName(field.path);
  const { style } = options;
  const suffix = note === "" ? "" : `  ${style.faint(note)}`;
  if (field.sensitive) return [`${name}: ${SENSITIVE}${suffix}`];
  const block = blockLines(field, options);
  if (block !== undefined) return [`${name}:${suffix}`, ...block];
  if (action === "create" && field.after !== undefined)
    return [`${name}: ${clipped(field.after, options)}${suffix}`];
  return changeLines(name, field, suffix, options);
}

function changeLines(
  name: string,
  field: FieldJson,
  suffix: string,
  options: FieldOptions,
): readonly string[] {
  const { style, width } = options;
  const before = sideText(field.before, field, style.removed, options);
  const after = sideText(field.after, field, style.added, options);
  const line = `${name}: ${before} → ${after}`;
  if (textWidth(line) <= width) return [line + suffix];
  const indent = " ".repeat(Math.min(textWidth(name), Math.floor(width / 3)));
  return [`${name}: ${before}`, `${indent}→ ${after}${suffix}`];
}

function sideText(
  value: Json | undefined,
  field: FieldJson,
  colour: (text: string) => string,
  options: FieldOptions,
): string {
  return value === undefined ? options.style.faint(missingText(field)) : colour(clipped(value, options));
}

/** A value of this many characters fills a few lines of a terminal. */
const MOST_CHARACTERS = 400;

function clipped(value: Json, { verbose }: FieldOptions): string {
  const text = valueText(value);
  return verbose ? text : clip(text, MOST_CHARACTERS);
}

/** Lines of a block unless everything is asked for. */
const MOST_LINES = 24;

function blockLines(field: FieldJson, options: FieldOptions): readonly string[] | undefined {
  const { before, after } = field;
  if (isText(before) && isText(after) && (isLongText(before) || isLongText(after)))
    return diffBlock(before, after, options);
  if (before !== undefined) return undefined;
  if (isText(after) && isLongText(after)) return bounded(textLines(after, options), options);
  if (isArray(after) && after.length > 0 && after.every((item) => isObject(item)))
    return bounded(
      after.map((item, at) => bar(`${at}: ${valueText(item)}`, options)),
      options,
    );
  return undefined;
}

/** A bar before each line, so that no text can pass for a part of the plan. */
function bar(text: string, { style }: FieldOptions): string {
  return `  ${style.faint("│")} ${text}`.trimEnd();
}

function textLines(text: string, options: FieldOptions): readonly string[] {
  return text
    .replace(/\n$/, "")
    .split("\n")
    .flatMap((line) => wrap(safeLine(line), options.width - 4))
    .map((line) => bar(line, options));
}

/** Nothing where only the line break at the end differs: that shows better in quotes. */
function diffBlock(before: string, after: string, options: FieldOptions): readonly string[] | undefined {
  const pieces = lineDiff(before, after);
  if (pieces.every(({ kind }) => kind === "same")) return undefined;
  return bounded(
    excerpts(pieces).flatMap((piece) => pieceLines(piece, options)),
    options,
  );
}

/** Every line that a long line is broken into bears the sign, or it would pass for an unchanged one. */
function pieceLines(piece: Excerpt, options: FieldOptions): readonly string[] {
  const { style, width } = options;
  if (piece.kind === "skipped")
    return [bar(style.faint(`⋮ ${count(piece.lines, "unchanged line")}`), options)];
  const [first = "", ...rest] = wrap(safeLine(piece.text), width - 8);
  const lines = [first, ...rest.map((line) => `  ${line}`)];
  return lines.map((line) => {
    if (piece.kind === "added") return bar(style.added(`+ ${line}`), options);
    if (piece.kind === "removed") return bar(style.removed(`- ${line}`), options);
    return bar(`  ${line}`, options);
  });
}

function bounded(lines: readonly string[], options: FieldOptions): readonly string[] {
  if (options.verbose || lines.length <= MOST_LINES) return lines;
  const left = lines.length - MOST_LINES + 1;
  return [
    ...lines.slice(0, MOST_LINES - 1),
    bar(options.style.faint(`⋮ ${count(left, "more line")}`), options),
  ];
}
