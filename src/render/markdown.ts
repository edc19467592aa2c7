import type { PlanJson } from "../model/plan.ts";
import { markdownCode } from "../output/escape.ts";
import { fit } from "./budget.ts";
import { planDiagnostics } from "./diagnostic-view.ts";
import type { PlanExtras } from "./extras.ts";
import { foldAlike } from "./fold.ts";
import type { Fold } from "./fold.ts";
import { rowSaysAll } from "./markdown-change.ts";
import {
  detailsPart,
  errorParts,
  orphanPart,
  rowPart,
  SECTIONS,
  sizeOf,
  TITLES,
  warningParts,
} from "./markdown-parts.ts";
import type { Part, Section } from "./markdown-parts.ts";
import { byImportance } from "./signs.ts";
import { besidesLine, diagnosticCounts, planLine } from "./summary.ts";
import { clip } from "./value-text.ts";
import { count, list } from "./words.ts";

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
  budget: number = COMMENT_LIMIT,
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
  return byImportance(folds.map((fold) => ({ action: fold.first.action, fold }))).map(({ fold }) => fold);
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
    [changesText(plan, missing), sentence(diagnosticCounts(plan)), sentence(besidesLine(plan.summary))]
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
  if (total === 0 && plan.diagnostics.length === 0)
    return "No changes. The service has what the manifests declare.";
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
