import { type Action, bySeverity, type ChangeJson, type FieldJson, type PlanJson } from "../model/plan.ts";
import type { Json } from "../model/json.ts";
import { SENSITIVE } from "../model/value.ts";
import { type DiagnosticView, placeText, planDiagnostics } from "./diagnostics.ts";
import {
  html,
  markdownBlock,
  markdownCellCode,
  markdownCode,
  markdownText,
  safeLine,
  withoutWorkflowCommands,
} from "./escape.ts";
import {
  clip,
  type Excerpt,
  excerpts,
  fieldLine,
  fieldName,
  type FoldedChanges,
  foldAlike,
  leadingFields,
  isLongText,
  isText,
  lineDiff,
  longTexts,
  changeMeaning,
  NOT_SHOWN,
  valueText,
} from "./fields.ts";
import { type PlanExtras, whoChanged } from "./json.ts";
import * as words from "./words.ts";

/** Characters that GitHub takes in one comment. */
export const COMMENT_LIMIT = 65_536;

export interface MarkdownOptions {
  readonly budget?: number | undefined;
  readonly links?: readonly words.Link[];
}

/**
 * The plan as a comment on a pull request: a caution with all that needs attention, totals, and a folded section a
 * target; no change appears twice. However large the plan, it fits the budget. Every change gets a line first, the
 * worst first, then as many as possible their details, and the top says how many are missing. The mark at the very top
 * lets the next comment find this one.
 */
export function renderPlanMarkdown(
  plan: PlanJson,
  extras: PlanExtras,
  { budget = COMMENT_LIMIT, links = [] }: MarkdownOptions = {},
): string {
  const items = itemsOf(plan, extras);
  const most = totalsText(plan, MOST_LEFT_OUT);
  const room = budget - headText(plan, links).length - most.length;
  const texts = fit(items, room);
  const textsOf = (section: Section): readonly string[] =>
    [...texts].flatMap(([item, text]) => (item.section === section ? [text] : []));
  const sections = [...new Set([...texts.keys()].map(({ section }) => section))]
    .toSorted((a, b) => a.at - b.at)
    .map((section) => ({ at: section.at, text: section.frame(textsOf(section)) }));
  const [caution, others] = [true, false].map((first) =>
    sections
      .filter(({ at }) => (at === 0) === first)
      .map(({ text }) => text)
      .join(""),
  );
  return `${headText(plan, links)}${caution}${totalsText(plan, leftOut(items, texts))}${others}`;
}

/** A part of the comment with a frame of its own; the caution comes first, then the targets. */
interface Section {
  /** Its place among the others. */
  readonly at: number;
  readonly frame: (texts: readonly string[]) => string;
}

/** What the comment tells of one error, change, warning or orphan. */
interface Item {
  readonly section: Section;
  /** What it may take together with others of its kind, so that a long list leaves room for the rest. */
  readonly kind: keyof typeof SHARES;
  /** Changes that it stands for. */
  readonly changes: number;
  /** In a line. */
  readonly line: string;
  /** In its place, with all that can be said; absent where the line says it all. */
  readonly full?: string;
}

/** Sections after those of the targets. */
const LAST = 1e6;

const SHARES = { error: 0.5, danger: 1, change: 0.5, warning: 0.5, orphan: 0.2 } as const;

/** In the order of the comment, which is the order of their importance. */
function itemsOf(plan: PlanJson, extras: PlanExtras): readonly Item[] {
  const diagnostics = planDiagnostics(plan, extras);
  const { title, reasons } = words.summaryVerdict(plan, diagnostics);
  const caution = cautionSection(title, reasons);
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const warnings = diagnostics.filter(({ severity }) => severity === "warning");
  const listed = foldedSection(LAST, words.count(warnings.length, "warning"));
  const orphaned = foldedSection(
    LAST + 1,
    `${plan.orphaned.length} orphaned: removed from the manifests but still on the service`,
  );
  return [
    ...errors.map((error) => diagnosticItem(error, caution, "error")),
    ...bySeverity(plan.changes.filter(words.needsAttention)).map((change) =>
      dangerItem(change, caution, extras),
    ),
    ...targetItems(
      plan.changes.filter((change) => !words.needsAttention(change)),
      extras,
    ),
    ...warnings.map((warning) => diagnosticItem(warning, listed, "warning")),
    ...plan.orphaned.map(({ address, id }): Item => ({
      section: orphaned,
      kind: "orphan",
      changes: 0,
      line: `- ${markdownCode(address)} ${markdownCode(clip(id, LINE))}\n`,
    })),
  ];
}

/** The caution, a quote as GitHub draws it in red. */
function cautionSection(title: string, reasons: readonly string[]): Section {
  const quoted = (text: string): string =>
    text.replace(/^(.*)\n/gm, (_, line: string) => (line === "" ? ">\n" : `> ${line}\n`));
  return {
    at: 0,
    frame: (texts) => `\n> [!CAUTION]\n> **${title}**: ${reasons.join(", ")}\n>\n${quoted(texts.join(""))}`,
  };
}

function foldedSection(at: number, title: string): Section {
  return {
    at,
    frame: (texts) => `\n<details><summary>${title}</summary>\n\n${texts.join("")}\n</details>\n`,
  };
}

/** Changes without danger, a section a target and, where it is known, a cause; alike ones as one. */
function targetItems(changes: readonly ChangeJson[], extras: PlanExtras): readonly Item[] {
  let at = 0;
  const items = words.byCause(changes).flatMap(({ title, changes: own }) =>
    [...words.groupBy(own, ({ address }) => words.placeOf(address).target)].flatMap(([target, rows]) => {
      const section = targetSection(++at, target, title, rows);
      return foldAlike(rows, extras).map((fold) => ({
        ...fold.first,
        item: changeItem(fold, section, extras),
      }));
    }),
  );
  return bySeverity(items).map(({ item }) => item);
}

/** A table of those that a line tells, then those that unfold. */
function targetSection(
  at: number,
  target: string,
  cause: string | undefined,
  changes: readonly ChangeJson[],
): Section {
  const why = cause === undefined ? "" : ` (${cause.toLowerCase()})`;
  const { frame } = foldedSection(
    at,
    `<b>${html(safeLine(target))}</b>${why}: ${words.actionCounts(changes).join(", ")}`,
  );
  return {
    at,
    frame(texts) {
      const rows = texts.filter((text) => text.startsWith("| "));
      const details = texts.filter((text) => !text.startsWith("| "));
      const table = rows.length === 0 ? [] : [TABLE, ...rows];
      return frame([...table, ...(rows.length > 0 && details.length > 0 ? ["\n"] : []), ...details]);
    },
  };
}

const TABLE = "| | Address | Fields |\n|---|---|---|\n";

/** Characters of a summary and of a detail. */
const LINE = 300;
const DETAIL = 4000;

function diagnosticItem(diagnostic: DiagnosticView, section: Section, kind: "error" | "warning"): Item {
  const { summary, detail, address } = diagnostic;
  const where = [address, placeText(diagnostic)].filter((text) => text !== undefined).map(markdownCode);
  const line = `- ${[`**${markdownText(clip(summary, LINE))}**`, ...where].join(" ")}\n`;
  const block = indented(markdownBlock(clip(detail, DETAIL), "text"));
  return {
    section,
    kind,
    changes: 0,
    line: withoutForgeries(line),
    ...(detail === "" ? {} : { full: withoutForgeries(`${line}\n${block}`) }),
  };
}

/** A part of the list item above it. */
function indented(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}

/** Fields that a line names, and characters of each side. */
const FIELDS_IN_LINE = 3;
const SIDE_IN_LINE = 40;

/** The fields of a change in a few words: those that make it harmful, then the first of the others. */
function fieldTexts(change: ChangeJson, code: (text: string) => string): readonly string[] {
  const { shown, left } = leadingFields(change, FIELDS_IN_LINE);
  return [
    ...shown.map((field) => code(fieldLine(field, change.action, SIDE_IN_LINE))),
    ...(left === 0 ? [] : [`and ${words.count(left, "more field")}`]),
  ];
}

function dangerItem(change: ChangeJson, section: Section, extras: PlanExtras): Item {
  const { action, address, cause } = change;
  const why = cause === undefined ? [] : [`(${words.CAUSE_LABELS[cause]})`];
  const line = `- ${words.SIGNS[action] === "-" ? "\\-" : words.SIGNS[action]} **${action}** ${[markdownCode(address), ...why, ...fieldTexts(change, markdownCode)].join(" ")}\n`;
  const fold = { first: change, changes: [change] };
  const details = `<details><summary>Details</summary>\n\n${diffBlock(change, extras)}\n</details>\n`;
  return {
    section,
    kind: "danger",
    changes: 1,
    line: withoutForgeries(line),
    ...(lineSaysAll(fold, extras) ? {} : { full: withoutForgeries(`${line}\n${indented(details)}`) }),
  };
}

/** Alike changes that are named in the details. */
const MOST_NAMES = 50;

/** A row of the target's table or, with all there is to say, something to unfold. */
function changeItem(fold: FoldedChanges, section: Section, extras: PlanExtras): Item {
  const { first, changes } = fold;
  const { action, address } = first;
  const more = changes.length - 1;
  const alike = more === 0 ? "" : ` and ${more} more alike`;
  const cells = [
    `${words.SIGNS[action]}\u00a0${action}`,
    markdownCellCode(address) + alike,
    fieldTexts(first, markdownCellCode).join("<br>"),
  ];
  const told = fieldTexts(first, (text) => `<code>${html(safeLine(text))}</code>`).join(" ");
  const named = changes.slice(0, MOST_NAMES).map((change) => change.address);
  const unnamed = changes.length - named.length;
  const list = [...named, ...(unnamed === 0 ? [] : [`and ${unnamed} more`])].join("\n");
  const names = more === 0 ? "" : markdownBlock(list, "text");
  const full =
    `<details><summary>${words.SIGNS[action]} ${action} <code>${html(address)}</code>${alike} ${told}</summary>\n\n` +
    `${diffBlock(first, extras)}${names}\n</details>\n`;
  return {
    section,
    kind: "change",
    changes: changes.length,
    line: withoutForgeries(`| ${cells.join(" | ")} |\n`),
    ...(lineSaysAll(fold, extras) ? {} : { full: withoutForgeries(full) }),
  };
}

/** Details that only repeat the line are left out: a reviewer would open them for nothing. */
function lineSaysAll({ first, changes }: FoldedChanges, extras: PlanExtras): boolean {
  const { action, address, fields } = first;
  const full = (field: FieldJson): boolean =>
    whoChanged(extras, address, field.path) === undefined &&
    ![field.before, field.after].some((value) => isText(value) && isLongText(value)) &&
    fieldLine(field, action, SIDE_IN_LINE) === fieldLine(field, action, MOST);
  return changes.length === 1 && fields.length <= FIELDS_IN_LINE && fields.every(full);
}

/** No order to a workflow's runner, and no second mark by which this comment could pass for another. */
function withoutForgeries(text: string): string {
  return withoutWorkflowCommands(text).replaceAll("<!-- tasc:plan", "<!-- tasc: plan");
}

/**
 * Takes items as far as the budget lasts: a line of each error and each change, the worst first, then the details of as
 * many as possible, then warnings and orphans. What does not fit is left out, and smaller ones after it are tried.
 */
function fit(items: readonly Item[], budget: number): ReadonlyMap<Item, string> {
  const chosen = new Map<Item, string>();
  const spent = new Map<string, number>();
  const framed = new Set<number>();
  let left = budget;
  const take = (item: Item, text: string): void => {
    const { section, kind } = item;
    const frame = framed.has(section.at) ? 0 : section.frame([]).length + TABLE.length + 1;
    // In the quote every line is two characters longer.
    const marks = section.at === 0 ? 2 * text.split("\n").length : 0;
    const before = chosen.get(item);
    const cost = text.length + marks + frame - (before === undefined ? 0 : before.length);
    const used = (spent.get(kind) ?? 0) + cost;
    if (cost > left || (before === undefined && used > budget * SHARES[kind])) return;
    chosen.set(item, text);
    framed.add(section.at);
    spent.set(kind, used);
    left -= cost;
  };
  const isListed = ({ kind }: Item): boolean => kind === "warning" || kind === "orphan";
  for (const item of items) if (!isListed(item)) take(item, item.line);
  for (const item of items) if (item.full !== undefined && chosen.has(item)) take(item, item.full);
  for (const item of items) if (isListed(item)) take(item, item.full ?? item.line);
  return new Map(
    items.flatMap((item) => {
      const text = chosen.get(item);
      return text === undefined ? [] : [[item, text]];
    }),
  );
}

interface LeftOut {
  /** Changes that are not shown at all. */
  readonly changes: number;
  /** Changes and errors in a line, without the details that it does not say. */
  readonly details: number;
  /** Errors, warnings and orphans. */
  readonly others: number;
}

/** More than any number of them, so that the totals leave room for what they will say. */
const MOST_LEFT_OUT: LeftOut = { changes: 1e9, details: 1e9, others: 1e9 };

function leftOut(items: readonly Item[], texts: ReadonlyMap<Item, string>): LeftOut {
  const missing = items.filter((item) => !texts.has(item));
  return {
    changes: missing.reduce((sum, { changes }) => sum + changes, 0),
    details: items.filter((item) => item.full !== undefined && texts.get(item) === item.line).length,
    others: missing.filter(({ changes }) => changes === 0).length,
  };
}

/** The hidden mark of a stage's comment. */
export function commentMark(stage: string): string {
  return `<!-- tasc:plan ${encodeURIComponent(stage.replace(/\p{Cs}/gu, "\ufffd")).replaceAll("--", "-%2D")} -->`;
}

function headText({ stage }: PlanJson, links: readonly words.Link[]): string {
  const anchors = links.map(({ text, url }) => `[${markdownText(text)}](<${encodeURI(decoded(url))}>)`);
  const title = `${commentMark(stage)}\n### tasc plan for ${markdownCode(clip(stage, 100))}\n`;
  return anchors.length === 0 ? title : `${title}\n${anchors.join(" · ")}\n`;
}

function totalsText(plan: PlanJson, missing: LeftOut): string {
  const sentences = [words.diagnosticCounts(plan), words.alsoLine(plan.summary) ?? ""].filter(
    (text) => text !== "",
  );
  const texts = [changesText(plan, missing), ...sentences.map((text) => `${text}.`)];
  return `\n**${words.planLine(plan.summary)}**\n\n${texts.join(" ")}\n`;
}

function decoded(url: string): string {
  try {
    return decodeURI(url);
  } catch {
    return url;
  }
}

function changesText(plan: PlanJson, { changes, details, others }: LeftOut): string {
  const total = plan.changes.length;
  if (total === 0 && plan.diagnostics.length === 0) return words.NOTHING_TO_DO;
  const missing = [
    ...(details === 0 ? [] : [`the details of ${number(details)} more`]),
    ...(others === 0 ? [] : [`${number(others)} errors, warnings and orphans`]),
  ];
  const rest = missing.length === 0 ? "" : ` Left out as well: ${words.list(missing)}.`;
  if (changes > 0)
    return `Showing ${number(total - changes)} of ${number(total)} changes (comment size limit). Highest risk first. See the full plan in the run's artifacts.${rest}`;
  if (total === 0) return `No changes.${rest}`;
  return `${words.count(total, "change")}, all shown.${rest.replace(" as well", "")}`;
}

/** `3,373` */
function number(amount: number): string {
  return String(amount).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

function diffBlock({ address, action, fields }: ChangeJson, extras: PlanExtras): string {
  const lines = fields.flatMap((field) => {
    const who = whoChanged(extras, address, field.path);
    const note = who === undefined ? [] : [`  # ${who}`];
    return [...note, ...diffLines(field, action)];
  });
  return markdownBlock(lines.join("\n"), "diff");
}

/** Characters of one side of a field. */
const MOST = 2000;

/** A field as a diff: what goes, what comes; long text line by line. */
function diffLines(field: FieldJson, action: Action): readonly string[] {
  const { path, before, after, sensitive } = field;
  const name = fieldName(path);
  if (sensitive) return [`! ${name}: ${SENSITIVE}`];
  const texts = longTexts(before, after);
  if (texts !== undefined) return [`  ${name}:`, ...excerpts(lineDiff(...texts)).map(excerptLine)];
  const isHidden = action !== "create" && typeof path.at(-1) !== "number";
  const side = (sign: string, value: Json | undefined): readonly string[] => {
    if (value === undefined) return isHidden ? [`${sign} ${name}: ${NOT_SHOWN}`] : [];
    return [`${sign} ${name}: ${clip(valueText(value), MOST)}`];
  };
  return [
    ...changeMeaning(field).map((meant) => `${field.harmful === undefined ? "#" : "!"} ${meant}`),
    ...side("-", before),
    ...(isText(after) && isLongText(after)
      ? [`+ ${name}:`, ...after.split("\n").map((line) => `+   ${clip(line, MOST)}`)]
      : side("+", after)),
  ];
}

function excerptLine(piece: Excerpt): string {
  if (piece.kind === "skipped") return `    (${words.count(piece.lines, "unchanged line")})`;
  const sign = piece.kind === "added" ? "+" : piece.kind === "removed" ? "-" : " ";
  return `${sign}   ${clip(piece.text, MOST)}`;
}
