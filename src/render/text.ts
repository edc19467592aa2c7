import { type Address, compareAddresses } from "../model/address.ts";
import { type Json, isArray, isObject } from "../model/json.ts";
import {
  ACTIONS,
  bySeverity,
  type Action,
  type ChangeJson,
  type ChangedBy,
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
import { type PlanExtras, changedByText, whoChanged } from "./json.ts";
import { type Style, textWidth, wrap } from "./style.ts";
import {
  actionCounts,
  alsoLine,
  byCause,
  CAUSE_LABELS,
  count,
  countActions,
  diagnosticCounts,
  groupBy,
  hasErrors,
  kindNoun,
  needsAttention,
  placeOf,
  planLine,
  PROBLEM_SIGN,
  SIGNS,
} from "./words.ts";

export interface PlanTextOptions extends DiagnosticOptions {
  /** Every change by itself, long values whole, with ids and calls. */
  readonly verbose: boolean;
  /** Columns of the screen, for lines that scripts look for: without a screen these stay whole. */
  readonly screen?: number;
}

/**
 * The plan for people: what needs attention, a tree per target, what is orphaned, errors and warnings, and at the end
 * the lines that sum it up. It is drawn from the public form of the plan, so that a saved plan looks the same.
 */
export function renderPlanText(plan: PlanJson, extras: PlanExtras, options: PlanTextOptions): string {
  const diagnostics = planDiagnostics(plan, extras);
  const sections = [
    header(plan, options),
    ...attentionSection(plan, diagnostics, options),
    ...byCause(plan.changes).flatMap(({ title, changes }, at) => [
      ...(title === undefined ? [] : [[options.style.strong(title)]]),
      ...targetSections(changes, at === 0 ? problemsOf(diagnostics) : [], extras, options),
    ]),
    ...(plan.changes.length === 0 ? targetSections([], problemsOf(diagnostics), extras, options) : []),
    ...orphanSection(plan.orphaned, options),
    ...diagnosticSection(diagnostics, options),
    footer(plan, options),
  ];
  return withoutWorkflowCommands(
    sections.map((lines) => lines.map((line) => `${line}\n`).join("")).join("\n"),
  );
}

type Lines = readonly string[];

function header(plan: PlanJson, { style }: PlanTextOptions): Lines {
  const title = `${style.strong(`Stage ${safeLine(plan.stage)}`)} ${style.faint(`at ${safeLine(plan.baseUrl)}`)}`;
  const counts = countActions(plan.changes);
  const used = ACTIONS.filter((action) => counts[action] > 0);
  const signs = used.map((action) => `${style.action(action, SIGNS[action])} ${action}`);
  if (hasErrors(plan)) signs.push(`${style.error(PROBLEM_SIGN)} problem`);
  return signs.length === 0 ? [title] : [title, signs.join("   ")];
}

/** Lines of each kind of danger, unless everything is asked for. */
const MOST_DANGERS = 30;

/** What must not be missed, the worst first, a line each: errors, then changes that take something from a test. */
function attentionSection(
  { changes }: PlanJson,
  diagnostics: readonly DiagnosticView[],
  options: PlanTextOptions,
): readonly Lines[] {
  const { style, verbose } = options;
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const dangers = [...groupBy(bySeverity(changes.filter(needsAttention)), ({ action }) => action)];
  const lines = [
    bounded(errors, "errors", (error) => errorLine(error, options)),
    ...dangers.map(([action, own]) =>
      bounded(
        own,
        action === "disable" || action === "rediscover" ? `to ${action}` : "harmful changes",
        (change) => dangerLines(change, options),
      ),
    ),
  ].flat();
  return lines.length === 0 ? [] : [[style.strong("Needs attention"), ...lines.map((line) => `  ${line}`)]];

  function bounded<T>(items: readonly T[], noun: string, draw: (item: T) => Lines): Lines {
    const most = verbose || items.length <= MOST_DANGERS ? items.length : MOST_DANGERS - 1;
    const left = items.length - most;
    const more = left === 0 ? [] : [style.faint(`  and ${left} more ${noun}; --verbose lists all`)];
    return [...items.slice(0, most).flatMap(draw), ...more];
  }
}

function errorLine({ address, summary }: DiagnosticView, { style, width }: PlanTextOptions): Lines {
  const text = safeLine(summary);
  const head = style.error(PROBLEM_SIGN);
  if (address === undefined) return [`${head} ${text}`];
  return oneOrTwo(`${head} ${style.strong(address)}`, [text], width);
}

/** The change with the fields that make it harmful; of a rediscovery what it is about. */
function dangerLines(
  { address, action, cause, fields }: ChangeJson,
  { style, width }: PlanTextOptions,
): Lines {
  const { shown, left } = leadingFields({ fields, action }, 1);
  const texts = shown.map((field) => {
    const line = fieldLine(field, action, MOST_IN_LINE);
    return isHarmful(field, action) ? style.error(line) : line;
  });
  const more = left === 0 ? [] : [style.faint(`and ${count(left, "more field")}`)];
  const why = cause === undefined ? "" : ` ${style.faint(`(${CAUSE_LABELS[cause]})`)}`;
  return oneOrTwo(
    `${style.action(action, SIGNS[action])} ${style.strong(address)}${why}`,
    [...texts, ...more],
    width,
  );
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

function targetSections(
  changes: readonly ChangeJson[],
  allProblems: readonly Problem[],
  extras: PlanExtras,
  options: PlanTextOptions,
): readonly Lines[] {
  const folds = options.verbose
    ? changes.map((change) => ({ first: change, changes: [change] }))
    : foldAlike(changes, extras);
  const changeOptions = {
    ...options,
    width: options.width - 6,
    brief: !options.verbose && folds.length > MANY,
  };
  const problems = groupBy(allProblems, ({ address }) => address);
  const entries = [
    ...folds.map((fold) => changeEntry(fold, extras, changeOptions)),
    ...[...problems.values()].flatMap((own) => problemEntry(own, options)),
  ].toSorted((a, b) => compareAddresses(a.address, b.address));
  return [...groupBy(entries, ({ address }) => placeOf(address).target)].map(([target, own]) => [
    targetHeading(target, own, options),
    ...spaced(own).map((line) => (line === "" ? "" : `  ${line}`)),
  ]);
}

/** A resource's lines in its target's tree. */
interface TextEntry {
  readonly address: Address;
  readonly lines: Lines;
  readonly changes: FoldedChanges["changes"];
  readonly problems: number;
}

function changeEntry(fold: FoldedChanges, extras: PlanExtras, options: ChangeOptions): TextEntry {
  return {
    address: fold.first.address,
    lines: changeLines(fold, extras, options),
    changes: fold.changes,
    problems: 0,
  };
}

type Problem = DiagnosticView & { readonly address: Address };

function problemsOf(diagnostics: readonly DiagnosticView[]): readonly Problem[] {
  return diagnostics.flatMap((diagnostic) => {
    const { address, severity } = diagnostic;
    return address === undefined || severity !== "error" ? [] : [{ ...diagnostic, address }];
  });
}

/** What is wrong with one resource; the details stand with the errors below. */
function problemEntry(problems: readonly Problem[], { style }: PlanTextOptions): readonly TextEntry[] {
  const [first] = problems;
  if (first === undefined) return [];
  const summaries = problems.map((problem) => {
    const place = placeText(problem);
    return `    ${safeLine(problem.summary)}${place === undefined ? "" : `  ${style.faint(safeLine(place))}`}`;
  });
  const title = `${style.error(PROBLEM_SIGN)} ${style.strong(first.address)}`;
  return [{ address: first.address, lines: [title, ...summaries], changes: [], problems: problems.length }];
}

/** A blank line between resources that take several lines; those of one line stand together. */
function spaced(entries: readonly TextEntry[]): Lines {
  return entries.flatMap(({ lines }, at) => {
    const previous = entries[at - 1];
    const apart = previous !== undefined && (previous.lines.length > 1 || lines.length > 1);
    return apart ? ["", ...lines] : lines;
  });
}

function targetHeading(target: string, entries: readonly TextEntry[], { style }: PlanTextOptions): string {
  const parts = [...actionCounts(entries.flatMap((entry) => entry.changes))];
  const problems = entries.reduce((sum, entry) => sum + entry.problems, 0);
  if (problems > 0) parts.push(count(problems, "problem"));
  return `${style.strong(target)}  ${style.faint(parts.join(", "))}`;
}

/** Orphans that are listed unless everything is asked for. */
const MOST_ORPHANS = 20;

function orphanSection(orphaned: readonly Orphan[], { style, verbose }: PlanTextOptions): readonly Lines[] {
  if (orphaned.length === 0) return [];
  const shown = verbose || orphaned.length <= MOST_ORPHANS ? orphaned : orphaned.slice(0, MOST_ORPHANS - 1);
  const left = orphaned.length - shown.length;
  return [
    [
      `${style.strong("Orphaned:")} ${style.faint("removed from the manifests but still on the service")}`,
      ...shown.map(({ address, id }) => `  ${address}  ${style.faint(safeLine(id))}`),
      ...(left === 0 ? [] : [style.faint(`  and ${left} more`)]),
    ],
  ];
}

/** Diagnostics with the same summary that are told whole. */
const MOST_ALIKE = 5;

function diagnosticSection(
  diagnostics: readonly DiagnosticView[],
  options: PlanTextOptions,
): readonly Lines[] {
  const groups = [...groupBy(diagnostics, ({ severity, summary }) => `${severity} ${summary}`).values()];
  const shown = groups.flatMap((group) => (options.verbose ? group : group.slice(0, MOST_ALIKE)));
  if (shown.length === 0) return [];
  const left = groups.flatMap((group) => {
    const more = group.length - MOST_ALIKE;
    const [first] = group;
    return options.verbose || more <= 0 || first === undefined ? [] : [moreLine(first, more)];
  });
  const text = renderDiagnostics(shown, options).trimEnd().split("\n");
  return left.length === 0 ? [text] : [text, left];
}

function moreLine({ severity, summary }: DiagnosticView, more: number): string {
  return `and ${more} more ${severity}s: ${safeLine(summary)}`;
}

function footer(plan: PlanJson, { style, screen }: PlanTextOptions): Lines {
  const first = hasErrors(plan)
    ? [style.error(diagnosticCounts(plan))]
    : plan.changes.length === 0
      ? ["No changes. The service matches your manifests."]
      : [];
  const also = alsoLine(plan.summary);
  const total = planLine(plan.summary, screen).split("\n").map(style.strong);
  return [...first, ...total, ...(also === undefined ? [] : [also])];
}

interface ChangeOptions extends FieldOptions {
  /** Creations by name alone; a plan of a thousand is read that way. */
  readonly brief: boolean;
}

/** A change, or several that say the same, as lines of the tree. */
export function changeLines(
  fold: FoldedChanges,
  extras: PlanExtras,
  options: ChangeOptions,
): readonly string[] {
  const { first, changes } = fold;
  const alone = changes.length === 1;
  if (options.brief && alone && first.action === "create") return [briefCreation(first, options)];
  const common = commonHand(first, extras);
  const note = common === undefined ? "" : `  ${options.style.faint(changedByText(common))}`;
  const fields = allFieldLines(first, extras, common, options);
  const [only] = fields;
  if (options.brief && alone && fields.length === 1 && first.followUps.length === 0)
    return [`${heading(first, options)}  ${only}${note}`];
  const head = alone ? [heading(first, options) + note] : foldHeading(fold, note, options);
  const calls = options.verbose && alone ? callLines(first, options) : [];
  const below = [...fields, ...laterLines(first, options), ...calls];
  return [...head, ...below.map((line) => `    ${line}`)];
}

function briefCreation(change: ChangeJson, options: ChangeOptions): string {
  return `${heading(change, options)}  ${options.style.faint(nameOf(change))}`.trimEnd();
}

function allFieldLines(
  { address, action, fields }: ChangeJson,
  extras: PlanExtras,
  common: ChangedBy | undefined,
  options: ChangeOptions,
): readonly string[] {
  return fields.flatMap((field) => {
    const who = common === undefined ? whoChanged(extras, address, field.path) : undefined;
    return fieldLines(field, action, who === undefined ? "" : changedByText(who), options);
  });
}

function heading({ action, address }: ChangeJson, { style }: ChangeOptions): string {
  return `${style.action(action, SIGNS[action])} ${style.strong(address)}`;
}

/** Addresses that a fold names; `verbose` shows all changes one by one. */
const NAMED = 4;

function foldHeading(fold: FoldedChanges, note: string, { style, width }: ChangeOptions): readonly string[] {
  const { action, address } = fold.first;
  const noun = kindNoun(placeOf(address).kind);
  const title = `${style.action(action, SIGNS[action])} ${style.strong(count(fold.changes.length, noun))} alike${note}`;
  const names = fold.changes.slice(0, NAMED).map((change) => change.address);
  const more = fold.changes.length - names.length;
  const text = more === 0 ? names.join(", ") : `${names.join(", ")} and ${more} more`;
  return [title, ...wrap(text, width - 4).map((line) => `    ${style.faint(line)}`)];
}

/** Who changed all fields, where it is one and the same for each. */
function commonHand({ address, fields }: ChangeJson, extras: PlanExtras): ChangedBy | undefined {
  const hands = new Set(fields.map(({ path }) => whoChanged(extras, address, path)));
  const [only] = hands;
  return hands.size === 1 ? only : undefined;
}

/** What a person calls it: its first name-like field. */
function nameOf({ fields }: ChangeJson): string {
  const named = fields.find(({ path }) => path.length === 1 && NAMES.has(String(path[0])));
  return typeof named?.after === "string" ? safeLine(named.after) : "";
}

const NAMES: ReadonlySet<string> = new Set(["description", "app", "name", "discoveryUrl", "prompt"]);

/** What may still be sent once the service has generated. */
function laterLines({ followUps }: ChangeJson, { style, width }: ChangeOptions): readonly string[] {
  const names = followUps.flatMap(({ body }) => (isObject(body) ? Object.keys(body) : []));
  if (names.length === 0) return [];
  const text = `then set if needed: ${names.map(safeLine).join(", ")}`;
  return wrap(text, width).map(style.faint);
}

function callLines({ calls, followUps, id }: ChangeJson, { style }: ChangeOptions): readonly string[] {
  const lines = [
    `id ${id}`,
    ...calls.map(({ method, path }) => `${method} ${path}`),
    ...followUps.map(({ method, path }) => `${method} ${path} (if needed)`),
  ];
  return lines.map((line) => style.faint(safeLine(line)));
}

interface FieldOptions {
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
  const { style } = options;
  const harmful = isHarmful(field, action);
  const meant = changeMeaning(field).map((text) => `: ${harmful ? style.error(text) : text}`);
  const name = fieldName(field.path) + meant.join("");
  const suffix = note === "" ? "" : `  ${style.faint(note)}`;
  if (field.sensitive) return [`${name}: ${SENSITIVE}${suffix}`];
  const block = blockLines(field, options);
  if (block !== undefined) return [`${name}:${suffix}`, ...block];
  const only = onlySide(field, action);
  if (only !== undefined) return [`${name}: ${clipped(only, options)}${suffix}`];
  return twoSides(name, field, suffix, harmful ? style.error : style.added, options);
}

function twoSides(
  name: string,
  { before, after }: FieldJson,
  suffix: string,
  colour: (text: string) => string,
  options: FieldOptions,
): readonly string[] {
  const { style, width } = options;
  const old = sideText(before, style.removed, options);
  const wanted = sideText(after, colour, options);
  const line = `${name}: ${old} → ${wanted}`;
  if (textWidth(line) <= width) return [line + suffix];
  const indent = " ".repeat(Math.min(textWidth(name), Math.floor(width / 3)));
  return [`${name}: ${old}`, `${indent}→ ${wanted}${suffix}`];
}

function sideText(value: Json | undefined, colour: (text: string) => string, options: FieldOptions): string {
  return value === undefined ? options.style.faint(NOT_SHOWN) : colour(clipped(value, options));
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
  const texts = longTexts(before, after);
  if (texts !== undefined) return diffBlock(...texts, options);
  if (before !== undefined) return undefined;
  if (isText(after) && isLongText(after)) return boundedLines(textLines(after, options), options);
  if (isArray(after) && after.length > 0 && after.every((item) => isObject(item)))
    return boundedLines(
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
  return boundedLines(
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

function boundedLines(lines: readonly string[], options: FieldOptions): readonly string[] {
  if (options.verbose || lines.length <= MOST_LINES) return lines;
  const left = lines.length - MOST_LINES + 1;
  return [
    ...lines.slice(0, MOST_LINES - 1),
    bar(options.style.faint(`⋮ ${count(left, "more line")}`), options),
  ];
}
