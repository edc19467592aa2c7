import { compareAddresses, placeOf } from "../model/address.ts";
import { isArray, isObject, type Json } from "../model/json.ts";
import type { Action, Attention, FieldJson } from "../model/plan.ts";
import { SENSITIVE } from "../model/value.ts";
import { groupBy } from "../model/collections.ts";
import { count, kindNoun } from "../model/words.ts";
import { type DiagnosticOptions, MOST_ALIKE, placeText, renderDiagnostics } from "./diagnostics.ts";
import { safeLine, withoutWorkflowCommands } from "./escape.ts";
import * as show from "./fields.ts";
import type { ChangeView, DiagnosticView, FieldView, PlanView } from "./json.ts";
import { type Style, sectionsText, textWidth, wrap } from "./style.ts";
import * as words from "./words.ts";

export interface PlanTextOptions extends DiagnosticOptions {
  /** Whether to show each change separately, long values whole, with ids and calls. */
  readonly verbose: boolean;
  /** Columns of the screen, for lines that scripts look for; if unset, these lines stay whole. */
  readonly screen?: number | undefined;
}

/** Renders the plan for people, from its public form, so that a saved plan looks the same. */
export function renderPlanText(plan: PlanView, options: PlanTextOptions): string {
  const { style, screen } = options;
  const { stage, baseUrl, changes, summary } = plan;
  const errors = plan.diagnostics.filter(words.isError);
  const signs = words
    .actionsIn(changes)
    .map(([action]) => `${style(action, words.SIGNS[action])} ${action}`);
  if (errors.length > 0) signs.push(`${style("error", words.PROBLEM_SIGN)} problem`);
  const notes = words.noteLines(plan);
  if (words.isNothing(plan)) return withoutWorkflowCommands(lines([words.NOTHING_TO_DO, notes]));
  const nothing = changes.length === 0 && errors.length === 0;
  const total = nothing
    ? [words.nothingLine(plan)]
    : words
        .planLine(summary, screen)
        .split("\n")
        .map((line) => style("strong", line));
  const sections = sectionsText([
    [
      `${style("strong", `Stage ${safeLine(stage)}`)} ${style("faint", `at ${safeLine(baseUrl)}`)}`,
      ...(signs.length === 0 ? [] : [signs.join("   ")]),
    ],
    attentionSection(plan, errors, options),
    ...words
      .byCause(changes)
      .flatMap(({ title, changes: own }, at) => [
        title === undefined ? [] : [style("strong", title)],
        ...targetSections(own, at === 0 ? errors : [], options),
      ]),
    orphanSection(plan, options),
    ...diagnosticSections(plan, options),
    [
      ...(errors.length > 0 ? [style("error", words.diagnosticCounts(plan))] : []),
      ...total,
      notes,
    ].flat(),
  ]);
  return withoutWorkflowCommands(sections);
}

const lines = (all: readonly (string | readonly string[])[]): string =>
  all
    .flat()
    .map((line) => `${line}\n`)
    .join("");

type Lines = readonly string[];

/**
 * Draws the first items of a long list, and a line with the number of the others; with `verbose`,
 * draws all.
 */
function firstOf<T>(
  items: readonly T[],
  most: number,
  verbose: boolean,
  draw: (item: T) => Lines,
  more: (left: number) => string,
): Lines {
  const shown = verbose || items.length <= most ? items : items.slice(0, most - 1);
  const left = items.length - shown.length;
  return [...shown.flatMap(draw), ...(left === 0 ? [] : [more(left)])];
}

const MOST_ERRORS = 30;

/** Lists what must not be missed: errors, then the rows of attention, the most severe first. */
function attentionSection(
  { attention }: PlanView,
  errors: readonly DiagnosticView[],
  options: PlanTextOptions,
): Lines {
  const { style, verbose } = options;
  const told = [
    ...firstOf(
      errors,
      MOST_ERRORS,
      verbose,
      (error) => errorLines(error, options),
      (left) => style("faint", `  and ${left} more errors; --verbose lists all`),
    ),
    ...attention.flatMap((row) => rowLines(row, options)),
  ];
  return told.length === 0
    ? []
    : [style("strong", "Needs attention"), ...told.map((line) => `  ${line}`)];
}

/** Draws a row of attention. Its sentence stays on one line unless a screen is too narrow. */
function rowLines({ severity, text, addresses }: Attention, options: PlanTextOptions): Lines {
  const { style, screen = Infinity, verbose } = options;
  const meaning = severity === "caution" ? "warning" : "error";
  const label = `${words.SEVERITY_WORDS[severity]}:`.padEnd(LABEL);
  const [first = "", ...rest] = wrap(safeLine(text), screen - LABEL - 2);
  const isNamed = addresses.every((address) => text.includes(address));
  return [
    style(meaning, label) + first,
    ...rest.map((line) => " ".repeat(LABEL) + line),
    ...(verbose && !isNamed ? addresses.map((address) => `    ${address}`) : []),
  ];
}

/** The width of the longest label, `Caution: `. */
const LABEL = 9;

function errorLines(
  { address, summary }: DiagnosticView,
  { style, width }: PlanTextOptions,
): Lines {
  const sign = style("error", words.PROBLEM_SIGN);
  if (address === undefined) return [`${sign} ${safeLine(summary)}`];
  const head = `${sign} ${style("strong", address)}`;
  const line = `${head}  ${safeLine(summary)}`;
  return textWidth(line) + 2 <= width ? [line] : [head, `    ${safeLine(summary)}`];
}

/** Above this number of changes, creations show their name and not their fields. */
const MANY = 200;

function targetSections(
  changes: readonly ChangeView[],
  errors: readonly DiagnosticView[],
  options: PlanTextOptions,
): readonly Lines[] {
  const { style, verbose, width } = options;
  const folds = show.foldAlike(changes, verbose);
  const inside = { ...options, width: width - 6, brief: !verbose && folds.length > MANY };
  // The details are shown with the errors below.
  const problemLines = (error: DiagnosticView): string => {
    const place = safeLine(placeText(error));
    return `    ${safeLine(error.summary)}${place === "" ? "" : `  ${style("faint", place)}`}`;
  };
  const entries = [
    ...folds.map((fold) => {
      return {
        address: fold[0].address,
        lines: changeLines(fold, inside),
        changes: fold,
        problems: 0,
      };
    }),
    ...[...words.byAddress(errors)].map(([address, own]) => {
      const head = `${style("error", words.PROBLEM_SIGN)} ${style("strong", address)}`;
      return {
        address,
        lines: [head, ...own.map(problemLines)],
        changes: [],
        problems: own.length,
      };
    }),
  ].toSorted((a, b) => compareAddresses(a.address, b.address));
  return [...words.byTarget(entries)].map(([target, own]) => {
    const counts = [...words.actionCounts(own.flatMap((entry) => entry.changes))];
    const wrong = own.reduce((sum, entry) => sum + entry.problems, 0);
    if (wrong > 0) counts.push(count(wrong, "problem"));
    return [
      `${style("strong", target)}  ${style("faint", counts.join(", "))}`,
      ...spaced(own.map(({ lines }) => lines)).map((line) => (line === "" ? "" : `  ${line}`)),
    ];
  });
}

/**
 * Puts a blank line between resources of several lines; resources of one line follow each other
 * directly.
 */
function spaced(entries: readonly Lines[]): Lines {
  return entries.flatMap((lines, at) => {
    return at > 0 && Math.max(lines.length, entries[at - 1]?.length ?? 0) > 1
      ? ["", ...lines]
      : lines;
  });
}

const MOST_ORPHANS = 20;

function orphanSection(plan: PlanView, { style, verbose }: PlanTextOptions): Lines {
  const orphaned = words.otherOrphans(plan);
  if (orphaned.length === 0) return [];
  const why = style("faint", "removed from the manifests but still on the service");
  return [
    `${style("strong", "Orphaned:")} ${why}`,
    ...firstOf(
      orphaned,
      MOST_ORPHANS,
      verbose,
      ({ address, id }) => [`  ${address}  ${style("faint", safeLine(id))}`],
      (left) => style("faint", `  and ${left} more`),
    ),
  ];
}

function diagnosticSections({ diagnostics }: PlanView, options: PlanTextOptions): readonly Lines[] {
  const alike = groupBy(diagnostics, ({ severity, summary }) => `${severity} ${summary}`);
  const groups = [...alike.values()];
  const most = options.verbose ? Infinity : MOST_ALIKE;
  const shown = groups.flatMap((group) => group.slice(0, most));
  if (shown.length === 0) return [];
  const left = groups
    .filter(({ length }) => length > most)
    .map(([first, ...rest]) => {
      const noun = `${first?.severity}s`;
      return `and ${rest.length + 1 - most} more ${noun}: ${safeLine(first?.summary ?? "")}`;
    });
  return [renderDiagnostics(shown, options).trimEnd().split("\n"), left];
}

/**
 * Options of a change. With `brief`, creations show only their name, so that a plan of a thousand
 * changes is readable.
 */
type ChangeOptions = FieldOptions & { readonly brief: boolean };

export function changeLines(fold: show.Fold, options: ChangeOptions): Lines {
  const { style, brief, verbose, width } = options;
  const [first, ...others] = fold;
  const { action, fields, calls, followUps, id } = first;
  const alone = others.length === 0;
  const head = heading(first, style);
  if (brief && alone && action === "create")
    return [`${head}  ${style("faint", nameOf(first))}`.trimEnd()];
  // Who changed the fields, if it is the same for all of them.
  const common = fields.every(({ who }) => who === fields[0]?.who) ? fields[0]?.who : undefined;
  const note = common === undefined ? "" : `  ${style("faint", common)}`;
  const lines = fields.flatMap((field) =>
    fieldLines(common === undefined ? field : { ...field, who: undefined }, action, options),
  );
  if (brief && alone && lines.length === 1 && followUps.length === 0)
    return [`${head}  ${lines.join("")}${note}`];
  const later = followUps.flatMap(({ body }) => (isObject(body) ? Object.keys(body) : []));
  const about = [
    ...(later.length === 0
      ? []
      : wrap(`${words.FOLLOW_UP}: ${later.map(safeLine).join(", ")}`, width)),
    ...(verbose && alone
      ? [
          `id ${id}`,
          ...calls.map(({ method, path }) => `${method} ${path}`),
          ...followUps.map(({ method, path }) => `${method} ${path} (if needed)`),
        ]
      : []),
  ];
  const below = [...lines, ...about.map((line) => style("faint", safeLine(line)))];
  return [
    ...(alone ? [head + note] : foldHeading(fold, note, options)),
    ...below.map((line) => `    ${line}`),
  ];
}

function heading({ action, address }: ChangeView, style: Style): string {
  return `${style(action, words.SIGNS[action])} ${style("strong", address)}`;
}

const NAMED = 4;

function foldHeading(fold: show.Fold, note: string, { style, width }: ChangeOptions): Lines {
  const [{ action, address }] = fold;
  const noun = kindNoun(placeOf(address).kind);
  const title = `${style(action, words.SIGNS[action])} ${style("strong", count(fold.length, noun))} alike${note}`;
  const names = fold.slice(0, NAMED).map((change) => change.address);
  const more = fold.length - names.length;
  const text = more === 0 ? names.join(", ") : `${names.join(", ")} and ${more} more`;
  return [title, ...wrap(text, width - 4).map((line) => `    ${style("faint", line)}`)];
}

/** Returns the name that people know a resource by: its first name-like field. */
function nameOf({ fields }: ChangeView): string {
  const names = ["description", "app", "name", "discoveryUrl", "prompt"];
  const named = fields.find(({ path }) => path.length === 1 && names.includes(String(path[0])));
  return typeof named?.after === "string" ? safeLine(named.after) : "";
}

type FieldOptions = Pick<PlanTextOptions, "style" | "width" | "verbose">;

/** Maximum length of a value, a few lines on a terminal; `--format json` shows it whole. */
const MOST_CHARACTERS = 400;

export function clippedValue(value: Json, verbose: boolean): string {
  return show.clip(show.valueText(value), verbose ? Infinity : MOST_CHARACTERS);
}

/**
 * Returns the lines of a field: `name: before → after`, or for long text the name and a block below
 * it.
 */
export function fieldLines(field: FieldView, action: Action, options: FieldOptions): Lines {
  const { style, width, verbose } = options;
  const harmful = show.isHarmful(field, action);
  const meant = show
    .changeMeaning(field)
    .map((text) => `: ${harmful ? style("error", text) : text}`);
  const name = words.fieldName(field.path) + meant.join("");
  const suffix = field.who === undefined ? "" : `  ${style("faint", field.who)}`;
  if (field.sensitive) return [`${name}: ${SENSITIVE}${suffix}`];
  const block = blockLines(field, options);
  if (block !== undefined) return [`${name}:${suffix}`, ...block];
  const text = (value: Json): string => clippedValue(value, verbose);
  const sides = show.sidesOf(field, action);
  const [old = "", wanted] = sides.map(({ kind, value }) => {
    if (value === undefined) return style("faint", show.NOT_SHOWN);
    return sides.length === 1
      ? text(value)
      : style(harmful && kind === "added" ? "error" : kind, text(value));
  });
  const line = `${name}: ${old}`;
  if (wanted === undefined) return [line + suffix];
  if (textWidth(line) + " → ".length + textWidth(wanted) <= width)
    return [`${line} → ${wanted}${suffix}`];
  const indent = " ".repeat(Math.min(textWidth(name), Math.floor(width / 3)));
  return [line, `${indent}→ ${wanted}${suffix}`];
}

const MOST_LINES = 24;

function blockLines(field: FieldJson, options: FieldOptions): Lines | undefined {
  const { before, after } = field;
  const { style, verbose, width } = options;
  // A bar before each line, so that no text can be mistaken for a part of the plan.
  const bar = (text: string): string => `  ${style("faint", "│")} ${text}`.trimEnd();
  const bounded = (lines: Lines): Lines =>
    firstOf(
      lines.map(bar),
      MOST_LINES,
      verbose,
      (line) => [line],
      (left) => bar(style("faint", `⋮ ${count(left, "more line")}`)),
    );
  const texts = show.longTexts(field);
  if (texts !== undefined) {
    const pieces = show.lineDiff(...texts);
    // If only the line break at the end differs, quoted values show it better.
    if (pieces.every(({ kind }) => kind === "same")) return undefined;
    return bounded(show.excerpts(pieces).flatMap((piece) => excerptLines(piece, options)));
  }
  if (before !== undefined) return undefined;
  if (show.isLongText(after)) {
    const lines = after.replace(/\n$/, "").split("\n");
    return bounded(lines.flatMap((line) => wrap(safeLine(line), width - 4)));
  }
  if (isArray(after) && after.length > 0 && after.every((item) => isObject(item)))
    return bounded(after.map((item, at) => `${at}: ${show.valueText(item)}`));
  return undefined;
}

/**
 * Draws a piece of a diff. Every line into which a long line breaks has the sign, or it would look
 * unchanged.
 */
function excerptLines(piece: show.Excerpt, { style, width }: FieldOptions): Lines {
  if (piece.kind === "skipped")
    return [style("faint", `⋮ ${count(piece.lines, "unchanged line")}`)];
  const { kind, text } = piece;
  const [first = "", ...rest] = wrap(safeLine(text), width - 8);
  const lines = [first, ...rest.map((line) => `  ${line}`)];
  if (kind === "same") return lines.map((line) => `  ${line}`);
  return lines.map((line) => style(kind, `${kind === "added" ? "+" : "-"} ${line}`));
}
