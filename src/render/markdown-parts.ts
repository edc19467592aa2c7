import type { Orphan } from "../model/plan.ts";
import { html, markdownBlock, markdownCode, markdownText } from "../output/escape.ts";
import { safeLine, withoutWorkflowCommands } from "../output/safe.ts";
import type { Piece } from "./budget.ts";
import type { DiagnosticView } from "./diagnostic-view.ts";
import { placeText } from "./diagnostic-view.ts";
import type { PlanExtras } from "./extras.ts";
import type { Fold } from "./fold.ts";
import { changeDetails, changeRow } from "./markdown-change.ts";
import { clip } from "./value-text.ts";

export type Section = keyof typeof TITLES;

/** In the order of the document. */
export const TITLES = {
  error: "\n#### Errors\n\n",
  row: "\n| | Address | Fields |\n|---|---|---|\n",
  details: "\n",
  warning: "\n#### Warnings\n\n",
  orphan: "\n#### Orphaned\n\nNo manifest declares these any more; the service still has them.\n\n",
} as const;
export const SECTIONS = [
  "error",
  "row",
  "details",
  "warning",
  "orphan",
] as const satisfies readonly Section[];

/** A piece with what it is about, to see later what is missing. */
export interface Part extends Piece {
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

export function sizeOf(parts: readonly Part[]): number {
  return parts.reduce((sum, { text }) => sum + text.length, 0);
}

/** No order to a workflow's runner, and no second mark by which this comment could pass for another. */
function withoutForgeries(text: string): string {
  return withoutWorkflowCommands(text).replaceAll("<!-- tasc:plan", "<!-- tasc: plan");
}

export function rowPart(fold: Fold): Part {
  return part("row", fold, changeRow(fold));
}

export function detailsPart(fold: Fold, extras: PlanExtras): Part {
  return part("details", fold, changeDetails(fold, extras));
}

export function errorParts(diagnostics: readonly DiagnosticView[]): readonly Part[] {
  return diagnostics.flatMap((diagnostic) => {
    const { severity, summary, detail } = diagnostic;
    if (severity !== "error") return [];
    const where = whereParts(diagnostic).map(markdownCode);
    const text = [`**${markdownText(clip(summary, LINE))}**`, ...where].join(" ");
    const block = detail === "" ? "" : `\n${markdownBlock(clip(detail, DETAIL), "text")}`;
    return [part("error", diagnostic, `${text}\n${block}\n`)];
  });
}

export function warningParts(diagnostics: readonly DiagnosticView[]): readonly Part[] {
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

export function orphanPart({ address, id }: Orphan): Part {
  return part("orphan", address, `- ${markdownCode(address)} ${markdownCode(clip(id, LINE))}\n`);
}
