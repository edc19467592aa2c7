import type { Action, Attention } from "../model/plan.ts";
import { SENSITIVE } from "../model/value.ts";
import { count, list } from "../model/words.ts";
import { placeText } from "./diagnostics.ts";
import * as escape from "./escape.ts";
import * as show from "./fields.ts";
import type { ChangeView, DiagnosticView, FieldView, PlanView } from "./json.ts";
import * as words from "./words.ts";

/** Maximum number of characters in a GitHub comment. */
export const COMMENT_LIMIT = 65_536;

export interface MarkdownOptions {
  readonly budget?: number | undefined;
  /** Links to what the plan belongs to, e.g. its commit or pull request. */
  readonly links?: readonly words.Link[];
}

/**
 * Renders the plan as a comment on a pull request: a caution with everything that needs attention,
 * totals, and a folded section per target. To fit the budget, errors and rows of attention come
 * first, then every change gets a line, the most severe first; then as many as possible get their
 * details. The mark at the very top lets the next comment find this one.
 */
export function renderPlanMarkdown(
  plan: PlanView,
  { budget = COMMENT_LIMIT, links = [] }: MarkdownOptions = {},
): string {
  const items = itemsOf(plan);
  const head = headText(plan, links);
  const room = budget - head.length - totalsText(plan, MOST_LEFT_OUT).length;
  const { texts, details } = fit(items, room);
  const shown = items.filter((item) => texts.has(item));
  const sections = [...new Set(shown.map(({ section }) => section))].toSorted(
    (a, b) => a.at - b.at,
  );
  const drawn = sections.map((section) =>
    section.frame(
      shown.flatMap((item) => (item.section === section ? (texts.get(item) ?? "") : [])),
    ),
  );
  const caution = sections[0]?.at === 0 ? drawn.shift() : "";
  return `${head}${caution}${totalsText(plan, { ...leftOut(items, texts), details })}${drawn.join("")}`;
}

/** Renders errors and warnings without a plan, within the size of a comment. */
export function renderDiagnosticsMarkdown(diagnostics: readonly DiagnosticView[]): string {
  const errors = diagnostics.filter(words.isError);
  const warnings = diagnostics.filter((one) => !words.isError(one));
  const { title } = words.diagnosticsVerdict(diagnostics);
  const items = [
    ...errors.map((error) => diagnosticItem(error, cautionSection(title, false), "error")),
    ...warnings.map((one) =>
      diagnosticItem(one, foldedSection(LAST, count(warnings.length, "warning")), "warning"),
    ),
  ];
  const sections = new Map(items.map(({ section }) => [section.at, section]));
  const own = items.map((item) => ({
    ...item,
    section: sections.get(item.section.at) ?? item.section,
  }));
  const head = errors.length === 0 ? `### tasc\n\n${title}.\n` : "### tasc\n";
  const { texts } = fit(own, COMMENT_LIMIT - head.length - 200);
  const drawn = [...sections.values()].map((section) =>
    section.frame(own.flatMap((item) => (item.section === section ? (texts.get(item) ?? []) : []))),
  );
  const missing = own.length - texts.size;
  const left = missing === 0 ? "" : `\n${missing} more errors and warnings do not fit here.\n`;
  return head + drawn.join("") + left;
}

/**
 * A part of the comment with a frame of its own. Parts are sorted by `at`: the caution first, then
 * the targets.
 */
type Section = { readonly at: number; readonly frame: (texts: readonly string[]) => string };

type Item = ReturnType<typeof itemOf>;

/** Position of the sections after those of the targets. */
const LAST = 1e6;

/** Maximum share of the budget per kind of item, so that a long list leaves room for the rest. */
const SHARES = { row: 1, error: 0.3, change: 0.5, warning: 0.5, orphan: 0.2 } as const;

/**
 * Creates an item: `line` is its short form, `full` its details if there is room, `changes` the
 * number of changes in it. Both are drawn on demand, because a comment shows few of many changes.
 */
function itemOf(
  section: Section,
  kind: keyof typeof SHARES,
  changes: number,
  line: () => string,
  full = () => "",
) {
  return {
    section,
    kind,
    changes,
    line: () => withoutForgeries(line()),
    full: () => withoutForgeries(full()),
  };
}

/**
 * Breaks up workflow commands, and marks by which this comment could be mistaken for another one.
 */
function withoutForgeries(text: string): string {
  return escape.withoutWorkflowCommands(text).replaceAll("<!-- tasc:plan", "<!-- tasc: plan");
}

/** Returns the items in the order of the comment, which is also their order of importance. */
function itemsOf(plan: PlanView): readonly Item[] {
  const orphaned = words.otherOrphans(plan);
  const errors = plan.diagnostics.filter(words.isError);
  const warnings = plan.diagnostics.filter((one) => !words.isError(one));
  const { title } = words.summaryVerdict(plan);
  const isMild =
    errors.length === 0 && plan.attention.every(({ severity }) => severity === "caution");
  const caution = cautionSection(title, isMild);
  const listed = foldedSection(LAST, count(warnings.length, "warning"));
  const left = `${orphaned.length} orphaned: removed from the manifests but still on the service`;
  const gone = foldedSection(LAST + 1, left);
  return [
    ...errors.map((error) => diagnosticItem(error, caution, "error")),
    ...plan.attention.map((row) => rowItem(row, caution)),
    ...targetItems(plan),
    ...warnings.map((warning) => diagnosticItem(warning, listed, "warning")),
    ...orphaned.map(({ address, id }) => {
      const codes = [inLine(address), show.clip(id, LINE)];
      return itemOf(gone, "orphan", 0, () => `- ${codes.map(escape.markdownCode).join(" ")}\n`);
    }),
  ];
}

/** Creates the quote on top, which GitHub shows in red, or in yellow if it is mild. */
function cautionSection(title: string, isMild: boolean): Section {
  const quoted = (text: string): string => text.replace(/^(?=.*\n)/gm, "> ").replace(/^> $/gm, ">");
  return {
    at: 0,
    frame: (texts) =>
      `\n> [!${isMild ? "WARNING" : "CAUTION"}]\n> **${title}**\n>\n${quoted(texts.join(""))}`,
  };
}

/** Creates a section that can be folded: a table of the items that are rows, then the other items. */
function foldedSection(at: number, title: string, isOpen = false): Section {
  return {
    at,
    frame(texts) {
      const rows = texts.filter((text) => text.startsWith("| "));
      const others = texts.filter((text) => !text.startsWith("| "));
      const table = rows.length === 0 ? [] : [TABLE, ...rows, others.length > 0 ? "\n" : ""];
      return `\n<details${isOpen ? " open" : ""}><summary>${title}</summary>\n\n${[...table, ...others].join("")}\n</details>\n`;
    },
  };
}

const TABLE = "| | Address | Fields |\n|---|---|---|\n";

/**
 * Returns items for changes: one section per target and, if known, cause. Equal changes are folded.
 * Those that need attention come first.
 */
function targetItems(plan: PlanView): readonly Item[] {
  let at = 0;
  const items = words.byCause(plan.changes).flatMap(({ title, changes: own }) =>
    [...words.byTarget(own)].flatMap(([target, rows]) => {
      const why = title === undefined ? "" : ` (${title.toLowerCase()})`;
      const counts = words.actionCounts(rows).join(", ");
      const name = escape.html(escape.safeLine(inLine(target)));
      const heading = `<b>${name}</b>${why}: ${counts}`;
      const section = foldedSection(++at, heading, plan.changes.length <= words.MOST_OPEN);
      return show.foldAlike(rows).map((fold) => ({ ...fold[0], item: changeItem(fold, section) }));
    }),
  );
  return words.byWeight(words.weightOf(plan), items).map(({ item }) => item);
}

/** An origin in a sentence: as code, or GitHub would make a link of it. */
const ORIGIN = /([a-z][a-z\d+.-]*:\/\/[^\s,;]*[^\s,;)])/i;
/** Text that reads the same in Markdown, so that a sentence is the same in every format. */
const READS_THE_SAME = /^(?!.*\b(?:www|gh-\d|[0-9a-f]{7,40})\b)[\w .,;:()%→…-]*$/i;

function sentenceText(text: string): string {
  const parts = text.split(ORIGIN).map((part, at) => {
    if (at % 2 === 1) return escape.markdownCode(part);
    return READS_THE_SAME.test(part) ? part : escape.markdownText(part);
  });
  return parts.join("");
}

/** Creates the line of a row of attention, with its addresses to unfold if it only counts them. */
function rowItem({ severity, text, addresses }: Attention, section: Section): Item {
  const line = `- **${words.SEVERITY_WORDS[severity]}:** ${sentenceText(text)}\n`;
  const full = (): string => {
    if (addresses.every((address) => text.includes(address))) return "";
    const shown = addresses.slice(0, MOST_NAMES);
    const more = addresses.length - shown.length;
    const names = [...shown.map(inLine), ...(more > 0 ? [`and ${more} more`] : [])].join("\n");
    const block = escape.markdownBlock(names, "text");
    return `${line}\n${indented(`<details><summary>Addresses</summary>\n\n${block}\n</details>\n`)}`;
  };
  return itemOf(section, "row", 0, () => line, full);
}

const LINE = 300;
const DETAIL = 4000;

function diagnosticItem(
  diagnostic: DiagnosticView,
  section: Section,
  kind: "error" | "warning",
): Item {
  const { summary, detail, address } = diagnostic;
  const where = [address ?? "", placeText(diagnostic)].filter(Boolean);
  const line = (): string => {
    const what = `**${escape.markdownText(show.clip(summary, LINE))}**`;
    return `- ${[what, ...where.map(inLine).map(escape.markdownCode)].join(" ")}\n`;
  };
  const block = () => indented(escape.markdownBlock(show.clip(detail, DETAIL), "text"));
  return itemOf(section, kind, 0, line, () => (detail === "" ? "" : `${line()}\n${block()}`));
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}

/**
 * Maximum number of fields and of harmful fields in a line, and maximum length of each side of a
 * field.
 */
const FIELDS_IN_LINE = 3;
const HARMS_IN_LINE = 20;
const SIDE_IN_LINE = 40;
/**
 * Maximum length of a name or a field: keys may have any length, and a line that does not fit would
 * be left out.
 */
const TEXT_IN_LINE = 200;

/** Summarises the fields of a change: the harmful ones, then the first of the others. */
function fieldTexts(change: ChangeView, code: (text: string) => string): readonly string[] {
  const { shown, left: others } = show.leadingFields(change, FIELDS_IN_LINE);
  const texts = shown.slice(0, HARMS_IN_LINE).map((field) => code(lineOf(field, change.action)));
  const left = others + shown.length - texts.length;
  return left === 0 ? texts : [...texts, `and ${count(left, "more field")}`];
}

const inLine = (text: string): string => show.clip(text, TEXT_IN_LINE);
const lineOf = (field: FieldView, action: Action): string =>
  inLine(show.fieldLine(field, action, SIDE_IN_LINE));

const MOST_NAMES = 50;

/** Creates a row of the target's table or, with all details, a block to unfold. */
function changeItem(fold: show.Fold, section: Section): Item {
  const [first] = fold;
  const { action, address } = first;
  const more = fold.length - 1;
  const alike = more === 0 ? "" : ` and ${more} more alike`;
  const line = (): string => {
    const cells = [
      `${words.SIGNS[action]}\u00a0${action}`,
      escape.markdownCellCode(inLine(address)) + alike,
      fieldTexts(first, escape.markdownCellCode).join("<br>"),
    ];
    return `| ${cells.join(" | ")} |\n`;
  };
  return itemOf(section, "change", fold.length, line, () => {
    if (more === 0 && lineSaysAll(first)) return "";
    const unnamed = fold.length - MOST_NAMES;
    const named = fold.slice(0, MOST_NAMES).map((change) => change.address);
    const all = [...named, ...(unnamed > 0 ? [`and ${unnamed} more`] : [])].join("\n");
    const names = more === 0 ? "" : escape.markdownBlock(all, "text");
    const told = fieldTexts(
      first,
      (text) => `<code>${escape.html(escape.safeLine(text))}</code>`,
    ).join(" ");
    return (
      `<details><summary>${words.SIGNS[action]} ${action} <code>${escape.html(inLine(address))}</code>${alike} ${told}</summary>\n\n` +
      `${diffBlock(first)}${names}\n</details>\n`
    );
  });
}

/**
 * True if the details would only repeat the line: they are left out, since a reviewer would open
 * them for nothing.
 */
function lineSaysAll({ action, fields }: ChangeView): boolean {
  const isComplete = (field: FieldView): boolean =>
    field.who === undefined &&
    ![field.before, field.after].some(show.isLongText) &&
    lineOf(field, action) === show.fieldLine(field, action, MOST);
  return fields.length <= FIELDS_IN_LINE && fields.every(isComplete);
}

/**
 * After this many items of a kind in a row that do not fit, no more are tried: drawing thousands of
 * lines to see whether one of them is short took a quarter of the time of a large plan.
 */
const MOST_MISSED = 100;

/**
 * Chooses texts within the budget: a line of each error and each change, the most severe first,
 * then details, then warnings and orphans. An item that does not fit is left out, and smaller ones
 * after it are still tried. Returns the texts, and the number of items whose details do not fit.
 */
function fit(items: readonly Item[], budget: number) {
  const chosen = new Map<Item, string>();
  const spent = { row: 0, error: 0, change: 0, warning: 0, orphan: 0 };
  const missed = { ...spent };
  const framed = new Set<Section>();
  let left = budget;
  const take = (item: Item, text: string): boolean => {
    const { section, kind } = item;
    const frame = framed.has(section) ? 0 : section.frame([]).length + TABLE.length + 1;
    // In the quote, every line is two characters longer.
    const marks = section.at === 0 ? 2 * text.split("\n").length : 0;
    const before = chosen.get(item);
    const cost = text.length + marks + frame - (before?.length ?? 0);
    const used = spent[kind] + cost;
    if (cost > left || (before === undefined && used > budget * SHARES[kind])) return false;
    chosen.set(item, text);
    framed.add(section);
    spent[kind] = used;
    left -= cost;
    return true;
  };
  const tryAll = (wanted: readonly Item[], draw: (item: Item) => string): void => {
    for (const item of wanted)
      if (missed[item.kind] < MOST_MISSED)
        missed[item.kind] = take(item, draw(item)) ? 0 : missed[item.kind] + 1;
  };
  const isListed = ({ kind }: Item): boolean => kind === "warning" || kind === "orphan";
  tryAll(
    items.filter((item) => !isListed(item)),
    (item) => item.line(),
  );
  let details = 0;
  for (const item of chosen.keys()) {
    const full = item.full();
    if (full !== "" && !take(item, full)) details++;
  }
  tryAll(items.filter(isListed), (item) => item.full() || item.line());
  return { texts: chosen, details };
}

/** Larger than any real counts, so that the totals leave enough room for the real text. */
const MOST_LEFT_OUT = { changes: 1e9, details: 1e9, others: 1e9 };

/** Counts the changes that are not shown at all, and the missing errors, warnings and orphans. */
function leftOut(items: readonly Item[], texts: ReadonlyMap<Item, string>) {
  const missing = items.filter((item) => !texts.has(item));
  return {
    changes: missing.reduce((sum, { changes }) => sum + changes, 0),
    others: missing.filter(({ changes }) => changes === 0).length,
  };
}

function headText({ stage }: PlanView, links: readonly words.Link[]): string {
  // A hidden mark identifies the comment of a stage.
  const name = escape.uriPart(stage).replaceAll("--", "-%2D");
  const title = `<!-- tasc:plan ${name} -->\n### tasc plan for ${escape.markdownCode(show.clip(stage, 100))}\n`;
  // Existing percent escapes stay as they are.
  const anchors = links.map(
    ({ text, url }) =>
      `[${escape.markdownText(text)}](<${encodeURI(url).replace(/%25(?=[0-9a-f]{2})/gi, "%")}>)`,
  );
  return anchors.length === 0 ? title : `${title}\n${anchors.join(" · ")}\n`;
}

function totalsText(plan: PlanView, missing: typeof MOST_LEFT_OUT): string {
  const counts = [words.diagnosticCounts(plan), ...words.noteLines(plan)].filter(Boolean);
  const sentences = [changesText(plan, missing), ...counts.map((text) => `${text}.`)];
  return `\n**${words.planLine(plan.summary)}**\n\n${sentences.join(" ")}\n`;
}

function changesText(plan: PlanView, { changes, details, others }: typeof MOST_LEFT_OUT): string {
  const number = (amount: number): string => String(amount).replace(/\B(?=(?:\d{3})+$)/g, ",");
  const total = plan.changes.length;
  if (words.isNothing(plan)) return words.NOTHING_TO_DO;
  const missing = [
    ...(details === 0 ? [] : [`the details of ${number(details)} more`]),
    ...(others === 0 ? [] : [`${number(others)} errors, warnings and orphans`]),
  ];
  const rest = missing.length === 0 ? "" : ` Left out as well: ${list(missing)}.`;
  if (changes > 0)
    return `Showing ${number(total - changes)} of ${number(total)} changes (comment size limit). Highest risk first. See the full plan in the run's artifacts.${rest}`;
  if (total === 0)
    return plan.summary.held === 0 ? `No changes.${rest}` : `${words.nothingLine(plan)}.${rest}`;
  return `${count(total, "change")}, all shown.${rest.replace(" as well", "")}`;
}

function diffBlock({ action, fields }: ChangeView): string {
  const lines = fields.flatMap((field) => [
    ...(field.who === undefined ? [] : [`  # ${field.who}`]),
    ...diffLines(field, action),
  ]);
  return escape.markdownBlock(lines.join("\n"), "diff");
}

const MOST = 2000;

/** Returns a field as a diff of its old and new value; long text is compared line by line. */
function diffLines(field: FieldView, action: Action): readonly string[] {
  const name = words.fieldName(field.path);
  if (field.sensitive) return [`! ${name}: ${SENSITIVE}`];
  const texts = show.longTexts(field);
  if (texts !== undefined)
    return [`  ${name}:`, ...show.excerpts(show.lineDiff(...texts)).map(excerptLine)];
  const meant = show
    .changeMeaning(field)
    .map((text) => `${field.harmful === undefined ? "#" : "!"} ${text}`);
  const sides = show.sidesOf(field, action).flatMap(({ kind, value }) => {
    const isBlock = kind === "added" && show.isLongText(value);
    const text =
      value === undefined ? show.NOT_SHOWN : isBlock ? `\n${value}` : show.valueText(value);
    const [first, ...rest] = show.inLines(text).split("\n");
    const sign = DIFF_SIGNS[kind];
    return [`${sign} ${name}: ${first}`.trimEnd(), ...rest.map((line) => `${sign}   ${line}`)];
  });
  return [...meant, ...sides];
}

const DIFF_SIGNS = { removed: "-", added: "+", same: " " } as const;

function excerptLine(piece: show.Excerpt): string {
  if (piece.kind === "skipped") return `    (${count(piece.lines, "unchanged line")})`;
  return `${DIFF_SIGNS[piece.kind]}   ${piece.text}`;
}
