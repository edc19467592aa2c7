import type { Diagnostic } from "../model/diagnostic.ts";
import type { Path } from "../model/json.ts";
import type { DiagnosticJson, PlanJson } from "../model/plan.ts";
import type { PlanExtras } from "./extras.ts";
import { diagnosticJson } from "./json.ts";

/** A diagnostic as every format of them shows it; of a saved plan only the public part is left. */
export interface DiagnosticView extends DiagnosticJson {
  readonly code?: string;
  /** Path in the document. */
  readonly path?: Path;
}

export function diagnosticView(diagnostic: Diagnostic): DiagnosticView {
  const path = diagnostic.origin?.path;
  return { ...diagnosticJson(diagnostic), code: diagnostic.code, ...(path === undefined ? {} : { path }) };
}

export function planDiagnostics(plan: PlanJson, extras: PlanExtras): readonly DiagnosticView[] {
  return plan.diagnostics.map((diagnostic, at) => ({ ...diagnostic, ...extras.diagnostics?.[at] }));
}

/** `targets/shop.yaml:12:5`, as editors and terminals open it. */
export function placeText({ file, line, column }: DiagnosticView): string | undefined {
  if (file === undefined) return undefined;
  return line === undefined ? file : column === undefined ? `${file}:${line}` : `${file}:${line}:${column}`;
}
