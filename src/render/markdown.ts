import { bySeverity, type ChangeJson, type FieldJson, type Orphan, type PlanJson } from "../model/plan.ts";
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
  type Excerpt,
  type Fold,
  clip,
  excerpts,
  fieldLine,
  fieldName,
  foldAlike,
  isLongText,
  isText,
  lineDiff,
  NOT_SHOWN,
  valueText,
} from "./fields.ts";
import { type PlanExtras, changedByText, whoChanged } from "./json.ts";
import { SIGNS, alsoLine, count, diagnosticCounts, list, planLine } from "./words.ts";

/** Characters that GitHub takes in one comment. */
export const COMMENT_LIMIT = 65_536;

/**
 * The plan as a comment on a pull request. However large the plan, it fits the budget: errors, then the changes by
 * their risk, each with a row and, folded away, what happens to it. Details of the least risky go first, then their
 * rows, and the top says how many are missing. The mark at the very top lets the next comment find this one.
 */
export function renderPlanMarkdown(
  plan: PlanJson,
  extras: PlanExtras,
  { budget = COMMENT_LIMIT }: { readonly budget?: number } = {},
): string {
  const folds = foldsByImportance(plan, extras);
  const diagnostics = planDiagnostics(plan, extras);
  const frame = headText(plan, { changes: plan.changes.length, details: folds.length, other: MANY }).length;
  const room = budget - frame - SECTIONS.reduce((sum, section) => sum + TITLES[section].length, 0);
  const first = fit([...errorParts(diagnostics), ...folds.map(rowPart)], room);
  const rows = new Set(first.map(({ of }) => of));
  const second = fit(
    [
      ...folds
        .filter((fold) => rows.has(fold) && !rowSaysAll(fold, extras))
        .map((fold) => detailsPart(fold, extras)),
      ...warningParts(diagnostics),
      ...plan.orphaned.map(orphanPart),
    ],
    room - sizeOf(first),
  );
  const taken = [...first, ...second];
  return headText(plan, leftOut(plan, folds, taken, extras)) + bodyText(taken);
}

function foldsByImportance(plan: PlanJson, extras: PlanExtras): readonly Fold[] {
  const folds = foldAlike(plan.changes, extras);
  return bySeverity(folds.map((fold) => ({ ...fold.first, fold }))).map(({ fold }) => fold);
}

interface LeftOut {
  /** Changes without a row. */
  readonly changes: number;
  /** Rows without the details that they do not say themselves. */
  readonly details: number;
  /** Errors, warnings and orphans. */
  readonly other: number;
}

/** More than any number of them. */
const MANY = 1e9;

function leftOut(
  plan: PlanJson,
  folds: readonly Fold[],
  taken: readonly Part[],
  extras: PlanExtras,
): LeftOut {
  const has = (section: Section): ReadonlySet<unknown> =>
    new Set(taken.filter((piece) => piece.section === section).map(({ of }) => of));
  const rows = has("row");
  const details = has("details");
  const others = taken.filter(({ section }) => section !== "row" && section !== "details").length;
  return {
    changes: folds.filter((fold) => !rows.has(fold)).reduce((sum, fold) => sum + fold.changes.length, 0),
    details: folds.filter((fold) => rows.has(fold) && !details.has(fold) && !rowSaysAll(fold, extras)).length,
    other: plan.diagnostics.length + plan.orphaned.length - others,
  };
}

/** The hidden mark of a stage's comment. */
export function commentMark(stage: string): string {
  return `<!-- tasc:plan ${encodeURIComponent(stage.replace(/\p{Cs}/gu, "\ufffd")).replaceAll("--", "-%2D")} -->`;
}

function headText(plan: PlanJson, missing: LeftOut): string {
  const paragraphs = [
    `${commentMark(plan.stage)}\n### tasc plan for ${markdownCode(clip(plan.stage, 100))}`,
    `**${planLine(plan.summary)}**`,
    [changesText(plan, missing), sentence(diagnosticCounts(plan)), sentence(alsoLine(plan.summary))]
      .filter((text) => text !== "")
      .join(" "),
  ];
  return `${paragraphs.join("\n\n")}\n`;
}

function sentence(text = ""): string {
  return text === "" ? "" : `${text}.`;
}

function changesText(plan: PlanJson, { changes, details, other }: LeftOut): string {
  const total = plan.changes.length;
  if (total === 0 && plan.diagnostics.length === 0) return "No changes. The service matches your manifests.";
  const missing = [
    changes === 0 ? [] : [`${changes} of them`],
    details === 0 ? [] : [`the details of ${details} more`],
    other === 0 ? [] : [count(other, "error, warning or orphan", "errors, warnings and orphans")],
  ].flat();
  if (missing.length === 0) return total === 0 ? "No changes." : `${count(total, "change")}, all shown.`;
  return `${count(total, "change")}; for lack of room ${list(missing)} left out, the least risky first. \`tasc plan\` shows all.`;
}

function bodyText(taken: readonly Part[]): string {
  return SECTIONS.map((section) => {
    const own = taken.filter((piece) => piece.section === section).map(({ text }) => text);
    return own.length === 0 ? "" : TITLES[section] + own.join("");
  }).join("");
}

type Section = keyof typeof TITLES;

/** In the order of the document. */
const TITLES = {
  error: "\n#### Errors\n\n",
  row: "\n| | Address | Fields |\n|---|---|---|\n",
  details: "\n",
  warning: "\n#### Warnings\n\n",
  orphan: "\n#### Orphaned\n\nNo manifest declares these any more; the service still has them.\n\n",
} as const;
const SECTIONS = ["error", "row", "details", "warning", "orphan"] as const satisfies readonly Section[];

/** A piece with what it is about, to see later what is missing. */
interface Part extends Piece {
  readonly section: Section;
  readonly of: unknown;
}

/** A list of names, even of five thousand, leaves room for what happens to the first of them. */
const SHARES: Readonly<Record<Section, number>> = {
  error: 0.5,
  row: 0.5,
  details: 1,
  warning: 0.5,
  orphan: 0.2,
};

function part(section: Section, of: unknown, text: string): Part {
  return { section, of, share: SHARES[section], text: withoutForgeries(text) };
}

function sizeOf(parts: readonly Part[]): number {
  return parts.reduce((sum, { text }) => sum + text.length, 0);
}

/** No order to a workflow's runner, and no second mark by which this comment could pass for another. */
function withoutForgeries(text: string): string {
  return withoutWorkflowCommands(text).replaceAll("<!-- tasc:plan", "<!-- tasc: plan");
}

function rowPart(fold: Fold): Part {
  return part("row", fold, changeRow(fold));
}

function detailsPart(fold: Fold, extras: PlanExtras): Part {
  return part("details", fold, changeDetails(fold, extras));
}

function errorParts(diagnostics: readonly DiagnosticView[]): readonly Part[] {
  return diagnostics.flatMap((diagnostic) => {
    const { severity, summary, detail } = diagnostic;
    if (severity !== "error") return [];
    const where = whereParts(diagnostic).map(markdownCode);
    const text = [`**${markdownText(clip(summary, LINE))}**`, ...where].join(" ");
    const block = detail === "" ? "" : `\n${markdownBlock(clip(detail, DETAIL), "text")}`;
    return [part("error", diagnostic, `${text}\n${block}\n`)];
  });
}

function warningParts(diagnostics: readonly DiagnosticView[]): readonly Part[] {
  return diagnostics.flatMap((diagnostic) => {
    const { severity, summary, detail } = diagnostic;
    if (severity !== "warning") return [];
    const codes = whereParts(diagnostic).map((text) => `<code>${html(safeLine(text))}</code>`);
    const title = [markdownText(clip(summary, LINE)), ...codes].join(" ");
    const block = markdownBlock(clip(detail, DETAIL), "text");
    return [part("warning", diagnostic, `<details><summary>${title}</summary>\n\n${block}\n</details>\n`)];
  });
}

/** Characters of a summary and of a detail. */
const LINE = 300;
const DETAIL = 4000;

function whereParts(diagnostic: DiagnosticView): readonly string[] {
  return [diagnostic.address, placeText(diagnostic)].filter((text) => text !== undefined);
}

function orphanPart({ address, id }: Orphan): Part {
  return part("orphan", address, `- ${markdownCode(address)} ${markdownCode(clip(id, LINE))}\n`);
}

/** Fields that a row of the table names, and characters of each side. */
const FIELDS_IN_ROW = 3;
const SIDE_IN_ROW = 40;

/** A row of the table: sign and action, address, the first fields. */
function changeRow(fold: Fold): string {
  const { action, address, fields } = fold.first;
  const more = fold.changes.length - 1;
  const shown = fields
    .slice(0, FIELDS_IN_ROW)
    .map((field) => markdownCellCode(fieldLine(field, action, SIDE_IN_ROW)));
  const left = fields.length - shown.length;
  const cells = [
    `${SIGNS[action]}\u00a0${action}`,
    more === 0 ? markdownCellCode(address) : `${markdownCellCode(address)} and ${more} more alike`,
    [...shown, ...(left === 0 ? [] : [`and ${count(left, "more field")}`])].join("<br>"),
  ];
  return `| ${cells.join(" | ")} |\n`;
}

/** Details that only repeat the row are left out: a reviewer would open them for nothing. */
function rowSaysAll({ first, changes }: Fold, extras: PlanExtras): boolean {
  const { action, address, fields } = first;
  const full = (field: FieldJson): boolean =>
    whoChanged(extras, address, field.path) === undefined &&
    ![field.before, field.after].some((value) => isText(value) && isLongText(value)) &&
    fieldLine(field, action, SIDE_IN_ROW) === fieldLine(field, action, MOST);
  return changes.length === 1 && fields.length <= FIELDS_IN_ROW && fields.every(full);
}

/** Alike changes that are named in the details. */
const MOST_NAMES = 50;

/** What a row says in full, folded away. */
function changeDetails(fold: Fold, extras: PlanExtras): string {
  const { action, address } = fold.first;
  const more = fold.changes.length - 1;
  const alike = more === 0 ? "" : ` and ${more} more alike`;
  const names = more === 0 ? "" : markdownBlock(namesText(fold), "text");
  return (
    `<details><summary>${SIGNS[action]} ${action} <code>${html(address)}</code>${alike}</summary>\n\n` +
    `${markdownBlock(fieldLines(fold.first, extras).join("\n"), "diff")}${names}\n</details>\n`
  );
}

function namesText({ changes }: Fold): string {
  const names = changes.slice(0, MOST_NAMES).map((change) => change.address);
  const left = changes.length - names.length;
  return [...names, ...(left === 0 ? [] : [`and ${left} more`])].join("\n");
}

function fieldLines({ address, action, fields }: ChangeJson, extras: PlanExtras): readonly string[] {
  return fields.flatMap((field) => {
    const who = whoChanged(extras, address, field.path);
    const note = who === undefined ? [] : [`  # ${changedByText(who)}`];
    return [...note, ...diffLines(field, action)];
  });
}

/** Characters of one side of a field. */
const MOST = 2000;

/** A field as a diff: what goes, what comes; long text line by line. */
function diffLines(field: FieldJson, action: ChangeJson["action"]): readonly string[] {
  const { path, before, after, sensitive } = field;
  const name = fieldName(path);
  if (sensitive) return [`! ${name}: ${SENSITIVE}`];
  if (isText(before) && isText(after) && (isLongText(before) || isLongText(after)))
    return [`  ${name}:`, ...excerpts(lineDiff(before, after)).map(excerptLine)];
  if (isText(after) && isLongText(after))
    return [
      ...side("-", name, before, field, action),
      `+ ${name}:`,
      ...after.split("\n").map((line) => `+   ${clip(line, MOST)}`),
    ];
  return [...side("-", name, before, field, action), ...side("+", name, after, field, action)];
}

function side(
  sign: "+" | "-",
  name: string,
  value: FieldJson["before"],
  field: FieldJson,
  action: ChangeJson["action"],
): readonly string[] {
  if (value !== undefined) return [`${sign} ${name}: ${clip(valueText(value), MOST)}`];
  return action === "create" || typeof field.path.at(-1) === "number"
    ? []
    : [`${sign} ${name}: ${NOT_SHOWN}`];
}

function excerptLine(piece: Excerpt): string {
  if (piece.kind === "skipped") return `    (${count(piece.lines, "unchanged line")})`;
  const sign = piece.kind === "added" ? "+" : piece.kind === "removed" ? "-" : " ";
  return `${sign}   ${clip(piece.text, MOST)}`;
}

/** A piece of a document that may be left out. */
export interface Piece {
  readonly section: string;
  readonly text: string;
  /** What all pieces of its section together may take of the whole, so that a long list leaves room for others. */
  readonly share: number;
}

/**
 * Takes pieces, the most important first, as far as the budget lasts; those taken keep their order. A piece that does
 * not fit is left out and smaller ones after it are still tried.
 */
export function fit<P extends Piece>(pieces: readonly P[], budget: number): readonly P[] {
  let left = budget;
  const spent = new Map<string, number>();
  return pieces.filter(({ section, text, share }) => {
    const used = (spent.get(section) ?? 0) + text.length;
    if (text.length > left || used > budget * share) return false;
    left -= text.length;
    spent.set(section, used);
    return true;
  });
}
