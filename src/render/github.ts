import type { ChangeJson, PlanJson } from "../model/plan.ts";
import { type DiagnosticView, planDiagnostics } from "./diagnostics.ts";
import { annotationMessage, annotationProperty, withoutWorkflowCommands } from "./escape.ts";
import { type PlanExtras, besidesLine, byImportance, planLine } from "./json.ts";
import { fieldLine } from "./text.ts";

interface Annotation {
  readonly level: "error" | "warning" | "notice";
  readonly title: string;
  readonly message: string;
  readonly place: { readonly file?: string; readonly line?: number; readonly column?: number };
}

/** Errors and warnings as annotations at their places in the manifests. */
export function renderDiagnosticsGithub(diagnostics: readonly DiagnosticView[]): string {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const warnings = diagnostics.filter(({ severity }) => severity === "warning");
  return [...errors, ...warnings].map((diagnostic) => annotation(diagnosticNote(diagnostic))).join("");
}

/**
 * A plan as annotations: errors and warnings, then each change at the line of the manifest that causes it, the most
 * important first, since GitHub shows but ten of a level; at the end the line that sums it up.
 */
export function renderPlanGithub(plan: PlanJson, extras: PlanExtras): string {
  const notices = byImportance(plan.changes).map((change) => annotation(changeNote(change, extras)));
  const besides = besidesLine(plan.summary);
  return [
    renderDiagnosticsGithub(planDiagnostics(plan, extras)),
    ...notices,
    `${planLine(plan.summary)}\n`,
    besides === undefined ? "" : withoutWorkflowCommands(`${besides}\n`),
  ].join("");
}

function diagnosticNote(diagnostic: DiagnosticView): Annotation {
  const { severity, summary, detail, address } = diagnostic;
  const subject = address === undefined ? "" : `\n${address}`;
  return { level: severity, title: summary, message: `${detail || summary}${subject}`, place: diagnostic };
}

/** Characters of a value in a message. */
const MOST = 200;

function changeNote({ address, action, fields }: ChangeJson, extras: PlanExtras): Annotation {
  return {
    level: "notice",
    title: `${action} ${address}`,
    message: fields.map((field) => fieldLine(field, action, MOST)).join("\n") || action,
    place: extras.places?.[address] ?? {},
  };
}

function annotation({ level, title, message, place }: Annotation): string {
  const properties = [
    place.file === undefined ? [] : [`file=${annotationProperty(place.file)}`],
    place.line === undefined ? [] : [`line=${place.line}`],
    place.column === undefined ? [] : [`col=${place.column}`],
    [`title=${annotationProperty(title)}`],
  ].flat();
  return `::${level} ${properties.join(",")}::${annotationMessage(message)}\n`;
}
