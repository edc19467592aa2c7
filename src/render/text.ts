import { type Address, compareAddresses } from "../model/address.ts";
import { type Json, isArray, isObject } from "../model/json.ts";
import {
  ACTIONS,
  bySeverity,
  type Action,
  type ChangeJson,
  type FieldJson,
  type Orphan,
  type PlanJson,
} from "../model/plan.ts";
import { SENSITIVE } from "../model/value.ts";
import {
  type DiagnosticOptions,
  type DiagnosticView,
  placeText,
  planDiagnostics,
  renderDiagnostics,
} from "./diagnostics.ts";
import { safeLine, withoutWorkflowCommands } from "./escape.ts";
import {
  clip,
  type Excerpt,
  excerpts,
  fieldLine,
  fieldName,
  type FoldedChanges,
  foldAlike,
  isHarmful,
  leadingFields,
  isLongText,
  isText,
  lineDiff,
  longTexts,
  changeMeaning,
  NOT_SHOWN,
  onlySide,
  valueText,
} from "./fields.ts";
import { type PlanExtras, whoChanged } from "./json.ts";
import { type Meaning, type Style, textWidth, wrap } from "./style.ts";
import * as words from "./words.ts";

export interface PlanTextOptions extends DiagnosticOptions {
  /** Every change by itself, long values whole, with ids and calls. */
  readonly verbose: boolean;
  /** Columns of the screen, for lines that scripts look for: without a screen these stay whole. */
  readonly screen?: number | undefined;
}

/**
 * The plan for people: what needs attention, a tree per target, what is orphaned, errors and warnings, and at the end
 * the lines that sum it up. It is drawn from the public form of the plan, so that a saved plan looks the same.
 */
export function renderPlanText(plan: PlanJson, extras: PlanExtras, options: PlanTextOptions): string {
  const diagnostics = planDiagnostics(plan, extras);
  const sections = [
    header(plan, options),
    attentionSection(plan, diagnostics, options),
    ...words
      .byCause(plan.changes)
      .flatMap(({ title, changes }, at) => [
        title === undefined ? [] : [options.style("strong", title)],
        ...targetSections(changes, at === 0 ? diagnostics : [], extras, options),
      ]),
    orphanSection(plan.orphaned, options),
    ...diagnosticSections(diagnostics, options),
    footer(plan, options),
  ].filter((lines) => lines.length > 0);
  return withoutWorkflowCommands(
    sections.map((lines) => lines.map((line) => `${line}\n`).join("")).join("\n"),
  );
}

type Lines = readonly string[];

function header(plan: PlanJson, { style }: PlanTextOptions): Lines {
  const title = `${style("strong", `Stage ${safeLine(plan.stage)}`)} ${style("faint", `at ${safeLine(plan.baseUrl)}`)}`;
  const counts = words.countActions(plan.changes);
  const used = ACTIONS.filter((action) => counts[action] > 0);
  const signs = used.map((action) => `${style(action, words.SIGNS[action])} ${action}`);
  if (words.hasErrors(plan)) signs.push(`${style("error", words.PROBLEM_SIGN)} problem`);
  return signs.length === 0 ? [title] : [title, signs.join("   ")];
}

/** The first of a long list, with a last line that says how many more there are; all if everything is asked for. */
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

/** Lines of each kind of danger. */
const MOST_DANGERS = 30;

/** What must not be missed, the worst first, a line each: errors, then changes that take something from a test. */
function attentionSection(
  { changes }: PlanJson,
  diagnostics: readonly DiagnosticView[],
  options: PlanTextOptions,
): Lines {
  const { style, verbose } = options;
  const bounded = <T>(items: readonly T[], noun: string, draw: (item: T) => Lines): Lines =>
    firstOf(items, MOST_DANGERS, verbose, draw, (left) =>
      style("faint", `  and ${left} more ${noun}; --verbose lists all`),
    );
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const dangers = words.groupBy(bySeverity(changes.filter(words.needsAttention)), ({ action }) => action);
  const lines = [
    ...bounded(errors, "errors", (error) => errorLines(error, options)),
    ...[...dangers].flatMap(([action, own]) => {
      const noun = action === "disable" || action === "rediscover" ? `to ${action}` : "harmful changes";
      return bounded(own, noun, (change) => dangerLines(change, options));
    }),
  ];
  return lines.length === 0 ? [] : [style("strong", "Needs attention"), ...lines.map((line) => `  ${line}`)];
}

function errorLines({ address, summary }: DiagnosticView, { style, width }: PlanTextOptions): Lines {
  const sign = style("error", words.PROBLEM_SIGN);
  if (address === undefined) return [`${sign} ${safeLine(summary)}`];
  return oneOrTwo(`${sign} ${style("strong", address)}`, [safeLine(summary)], width);
}

/** The change with the fields that make it harmful; of a rediscovery what it is about. */
function dangerLines(change: ChangeJson, { style, width }: PlanTextOptions): Lines {
  const { action, cause } = change;
  const { shown, left } = leadingFields(change, 1);
  const texts = shown.map((field) => {
    const line = fieldLine(field, action, MOST_IN_LINE);
    return isHarmful(field, action) ? style("error", line) : line;
  });
  const more = left === 0 ? [] : [style("faint", `and ${words.count(left, "more field")}`)];
  const why = cause === undefined ? "" : ` ${style("faint", `(${words.CAUSE_LABELS[cause]})`)}`;
  return oneOrTwo(heading(change, style) + why, [...texts, ...more], width);
}

/** Characters of a value in a line. */
const MOST_IN_LINE = 60;

/** What is said of something beside its name, or below it where it does not fit. */
function oneOrTwo(head: string, texts: Lines, width: number): Lines {
  const line = `${head}  ${texts.join("  ")}`;
  return textWidth(line) + 2 <= width ? [line] : [head, ...texts.map((text) => `    ${text}`)];
}

/** From this many changes on, creations are named and not told field by field. */
const MANY = 200;

/** A resource's lines in its target's tree. */
interface TextEntry {
  readonly address: Address;
  readonly lines: Lines;
  readonly changes: readonly ChangeJson[];
  readonly problems: number;
}

function targetSections(
  changes: readonly ChangeJson[],
  diagnostics: readonly DiagnosticView[],
  extras: PlanExtras,
  options: PlanTextOptions,
): readonly Lines[] {
  const { style, verbose, width } = options;
  const folds = foldAlike(changes, extras, verbose);
  const inside = { ...options, width: width - 6, brief: !verbose && folds.length > MANY };
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const problems = words.groupBy(
    errors.flatMap(({ address, ...error }) => (address === undefined ? [] : [{ ...error, address }])),
    ({ address }) => address,
  );
  const entries: readonly TextEntry[] = [
    ...folds.map((fold) => ({
      address: fold.first.address,
      lines: changeLines(fold, extras, inside),
      changes: fold.changes,
      problems: 0,
    })),
    ...[...problems].map(([address, own]) => ({
      address,
      lines: [
        `${style("error", words.PROBLEM_SIGN)} ${style("strong", address)}`,
        ...own.map((error) => problemLine(error, style)),
      ],
      changes: [],
      problems: own.length,
    })),
  ].toSorted((a, b) => compareAddresses(a.address, b.address));
  return [...words.groupBy(entries, ({ address }) => words.placeOf(address).target)].map(([target, own]) => [
    targetHeading(target, own, style),
    ...spaced(own).map((line) => (line === "" ? "" : `  ${line}`)),
  ]);
}

/** What is wrong with a resource; the details stand with the errors below. */
function problemLine(error: DiagnosticView, style: Style): string {
  const place = placeText(error);
  return `    ${safeLine(error.summary)}${place === undefined ? "" : `  ${style("faint", safeLine(place))}`}`;
}

/** A blank line between resources that take several lines; those of one line stand together. */
function spaced(entries: readonly TextEntry[]): Lines {
  return entries.flatMap(({ lines }, at) => {
    const previous = entries[at - 1];
    const apart = previous !== undefined && (previous.lines.length > 1 || lines.length > 1);
    return apart ? ["", ...lines] : lines;
  });
}

function targetHeading(target: string, entries: readonly TextEntry[], style: Style): string {
  const parts = [...words.actionCounts(entries.flatMap((entry) => entry.changes))];
  const problems = entries.reduce((sum, entry) => sum + entry.problems, 0);
  if (problems > 0) parts.push(words.count(problems, "problem"));
  return `${style("strong", target)}  ${style("faint", parts.join(", "))}`;
}

const MOST_ORPHANS = 20;

function orphanSection(orphaned: readonly Orphan[], { style, verbose }: PlanTextOptions): Lines {
  if (orphaned.length === 0) return [];
  const why = style("faint", "removed from the manifests but still on the service");
  const draw = ({ address, id }: Orphan): Lines => [`  ${address}  ${style("faint", safeLine(id))}`];
  const more = (left: number): string => style("faint", `  and ${left} more`);
  return [`${style("strong", "Orphaned:")} ${why}`, ...firstOf(orphaned, MOST_ORPHANS, verbose, draw, more)];
}

/** Diagnostics with the same summary that are told whole. */
const MOST_ALIKE = 5;

function diagnosticSections(
  diagnostics: readonly DiagnosticView[],
  options: PlanTextOptions,
): readonly Lines[] {
  const groups = [
    ...words.groupBy(diagnostics, ({ severity, summary }) => `${severity} ${summary}`).values(),
  ];
  const shown = groups.flatMap((group) => (options.verbose ? group : group.slice(0, MOST_ALIKE)));
  if (shown.length === 0) return [];
  const left = groups.flatMap((group) => {
    const [first] = group;
    const more = group.length - MOST_ALIKE;
    if (options.verbose || more <= 0 || first === undefined) return [];
    return [`and ${more} more ${first.severity}s: ${safeLine(first.summary)}`];
  });
  return [renderDiagnostics(shown, options).trimEnd().split("\n"), left];
}

function footer(plan: PlanJson, { style, screen }: PlanTextOptions): Lines {
  const first = words.hasErrors(plan)
    ? [style("error", words.diagnosticCounts(plan))]
    : plan.changes.length === 0
      ? [words.NOTHING_TO_DO]
      : [];
  const also = words.alsoLine(plan.summary);
  const total = words.planLine(plan.summary, screen).split("\n");
  return [...first, ...total.map((line) => style("strong", line)), ...(also === undefined ? [] : [also])];
}

interface ChangeOptions extends FieldOptions {
  /** Creations by name alone; a plan of a thousand is read that way. */
  readonly brief: boolean;
}

/** A change, or several that say the same, as lines of the tree. */
export function changeLines(fold: FoldedChanges, extras: PlanExtras, options: ChangeOptions): Lines {
  const { style, brief, verbose } = options;
  const { first, changes } = fold;
  const { action, address, fields, followUps } = first;
  const head = heading(first, style);
  const alone = changes.length === 1;
  if (brief && alone && action === "create") return [`${head}  ${style("faint", nameOf(first))}`.trimEnd()];
  // Who changed all fields, where it is one and the same for each.
  const hands = new Set(fields.map(({ path }) => whoChanged(extras, address, path)));
  const [common] = hands.size === 1 ? hands : [];
  const note = common === undefined ? "" : `  ${style("faint", common)}`;
  const lines = fields.flatMap((field) => {
    const who = common === undefined ? whoChanged(extras, address, field.path) : undefined;
    return fieldLines(field, action, who ?? "", options);
  });
  if (brief && alone && lines.length === 1 && followUps.length === 0)
    return [`${head}  ${lines.join("")}${note}`];
  const calls = verbose && alone ? callLines(first, style) : [];
  const below = [...lines, ...laterLines(first, options), ...calls];
  return [
    ...(alone ? [head + note] : foldHeading(fold, note, options)),
    ...below.map((line) => `    ${line}`),
  ];
}

function heading({ action, address }: ChangeJson, style: Style): string {
  return `${style(action, words.SIGNS[action])} ${style("strong", address)}`;
}

/** Addresses that a fold names; `verbose` shows all changes one by one. */
const NAMED = 4;

function foldHeading({ first, changes }: FoldedChanges, note: string, options: ChangeOptions): Lines {
  const { style, width } = options;
  const { action, address } = first;
  const noun = words.kindNoun(words.placeOf(address).kind);
  const title = `${style(action, words.SIGNS[action])} ${style("strong", words.count(changes.length, noun))} alike${note}`;
  const names = changes.slice(0, NAMED).map((change) => change.address);
  const more = changes.length - names.length;
  const text = more === 0 ? names.join(", ") : `${names.join(", ")} and ${more} more`;
  return [title, ...wrap(text, width - 4).map((line) => `    ${style("faint", line)}`)];
}

/** What a person calls it: its first name-like field. */
function nameOf({ fields }: ChangeJson): string {
  const named = fields.find(({ path }) => path.length === 1 && NAMES.has(String(path[0])));
  return typeof named?.after === "string" ? safeLine(named.after) : "";
}

const NAMES: ReadonlySet<string> = new Set(["description", "app", "name", "discoveryUrl", "prompt"]);

/** What may still be sent once the service has generated. */
function laterLines({ followUps }: ChangeJson, { style, width }: ChangeOptions): Lines {
  const names = followUps.flatMap(({ body }) => (isObject(body) ? Object.keys(body) : []));
  if (names.length === 0) return [];
  const text = `then set if needed: ${names.map(safeLine).join(", ")}`;
  return wrap(text, width).map((line) => style("faint", line));
}

function callLines({ calls, followUps, id }: ChangeJson, style: Style): Lines {
  const lines = [
    `id ${id}`,
    ...calls.map(({ method, path }) => `${method} ${path}`),
    ...followUps.map(({ method, path }) => `${method} ${path} (if needed)`),
  ];
  return lines.map((line) => style("faint", safeLine(line)));
}

interface FieldOptions {
  readonly style: Style;
  /** Columns for the field's lines. */
  readonly width: number;
  /** Long values whole. */
  readonly verbose: boolean;
}

/** A field's lines: `name: before → after`, or for long text its name and a block below. */
export function fieldLines(field: FieldJson, action: Action, note: string, options: FieldOptions): Lines {
  const { style, width } = options;
  const harmful = isHarmful(field, action);
  const meant = changeMeaning(field).map((text) => `: ${harmful ? style("error", text) : text}`);
  const name = fieldName(field.path) + meant.join("");
  const suffix = note === "" ? "" : `  ${style("faint", note)}`;
  if (field.sensitive) return [`${name}: ${SENSITIVE}${suffix}`];
  const block = blockLines(field, options);
  if (block !== undefined) return [`${name}:${suffix}`, ...block];
  const only = onlySide(field, action);
  if (only !== undefined) return [`${name}: ${clipped(only, options)}${suffix}`];
  const side = (value: Json | undefined, meaning: Meaning): string =>
    value === undefined ? style("faint", NOT_SHOWN) : style(meaning, clipped(value, options));
  const old = side(field.before, "removed");
  const wanted = side(field.after, harmful ? "error" : "added");
  const line = `${name}: ${old} → ${wanted}`;
  if (textWidth(line) <= width) return [line + suffix];
  const indent = " ".repeat(Math.min(textWidth(name), Math.floor(width / 3)));
  return [`${name}: ${old}`, `${indent}→ ${wanted}${suffix}`];
}

/** A value of this many characters fills a few lines of a terminal. */
const MOST_CHARACTERS = 400;

function clipped(value: Json, { verbose }: FieldOptions): string {
  const text = valueText(value);
  return verbose ? text : clip(text, MOST_CHARACTERS);
}

/** Lines of a block. */
const MOST_LINES = 24;

/** A value that takes several lines; nothing for one that does not. */
function blockLines({ before, after }: FieldJson, options: FieldOptions): Lines | undefined {
  const { style, verbose, width } = options;
  // A bar before each line, so that no text can pass for a part of the plan.
  const bar = (text: string): string => `  ${style("faint", "│")} ${text}`.trimEnd();
  const bounded = (lines: Lines): Lines =>
    firstOf(
      lines.map(bar),
      MOST_LINES,
      verbose,
      (line) => [line],
      (left) => bar(style("faint", `⋮ ${words.count(left, "more line")}`)),
    );
  const texts = longTexts(before, after);
  if (texts !== undefined) {
    const pieces = lineDiff(...texts);
    // Where only the line break at the end differs, that shows better in quotes.
    if (pieces.every(({ kind }) => kind === "same")) return undefined;
    return bounded(excerpts(pieces).flatMap((piece) => excerptLines(piece, options)));
  }
  if (before !== undefined) return undefined;
  if (isText(after) && isLongText(after))
    return bounded(
      after
        .replace(/\n$/, "")
        .split("\n")
        .flatMap((line) => wrap(safeLine(line), width - 4)),
    );
  if (isArray(after) && after.length > 0 && after.every((item) => isObject(item)))
    return bounded(after.map((item, at) => `${at}: ${valueText(item)}`));
  return undefined;
}

/** Every line that a long line is broken into bears the sign, or it would pass for an unchanged one. */
function excerptLines(piece: Excerpt, { style, width }: FieldOptions): Lines {
  if (piece.kind === "skipped") return [style("faint", `⋮ ${words.count(piece.lines, "unchanged line")}`)];
  const { kind, text } = piece;
  const [first = "", ...rest] = wrap(safeLine(text), width - 8);
  const lines = [first, ...rest.map((line) => `  ${line}`)];
  if (kind === "same") return lines.map((line) => `  ${line}`);
  return lines.map((line) => style(kind, `${kind === "added" ? "+" : "-"} ${line}`));
}
