import type { PlanJson } from "../model/plan.ts";
import type { DiagnosticView } from "./diagnostics.ts";
import type { PlanExtras } from "./json.ts";
import type { PlanTextOptions } from "./text.ts";
import type { Link } from "./words.ts";

/** What a renderer of plans may use of how it was called; each takes what it has a use for. */
export interface RenderPlanOptions extends PlanTextOptions {
  /** Characters that a markdown comment may have. */
  readonly budget?: number | undefined;
  /** What the plan belongs to: its commit, its pull request. */
  readonly links?: readonly Link[];
}

/** From the public form of a plan to a finished document. */
type PlanRenderer = (plan: PlanJson, extras: PlanExtras, options: RenderPlanOptions) => string;

interface Renderer {
  /** Each is loaded only when it is asked for. */
  readonly load: () => Promise<PlanRenderer>;
  /**
   * It shows where the manifest causes a change, in plans of up to so many changes: to look that up costs a second parse
   * of the manifests.
   */
  readonly places?: number;
  /** For errors and warnings without a plan. */
  readonly diagnostics?: () => Promise<(diagnostics: readonly DiagnosticView[], tool: string) => string>;
}

/** Every format of a plan. A new one is a renderer and a line here. */
const RENDERERS = {
  text: { load: async () => (await import("./text.ts")).renderPlanText },
  json: { load: async () => (await import("./json.ts")).writeJson },
  markdown: { load: async () => (await import("./markdown.ts")).renderPlanMarkdown },
  github: {
    load: async () => (await import("./reports.ts")).renderPlanGithub,
    places: Infinity,
    diagnostics: async () => (await import("./reports.ts")).renderDiagnosticsGithub,
  },
  gitlab: { load: async () => (await import("./reports.ts")).renderPlanGitlab },
  sarif: {
    load: async () => (await import("./reports.ts")).renderPlanSarif,
    places: Infinity,
    diagnostics: async () => (await import("./reports.ts")).renderDiagnosticsSarif,
  },
  junit: {
    load: async () => (await import("./reports.ts")).renderPlanJunit,
    places: Infinity,
    diagnostics: async () => (await import("./reports.ts")).renderDiagnosticsJunit,
  },
  html: { load: async () => (await import("./html/page.ts")).renderPlanHtml, places: 1000 },
} as const satisfies Readonly<Record<string, Renderer>>;

export type PlanFormat = keyof typeof RENDERERS;
export const PLAN_FORMATS = Object.keys(RENDERERS).filter(isPlanFormat);
/** Those that have a form for errors and warnings without a plan. */
export const DIAGNOSTIC_FORMATS = PLAN_FORMATS.filter((format) => "diagnostics" in RENDERERS[format]);

function isPlanFormat(name: string): name is PlanFormat {
  return Object.hasOwn(RENDERERS, name);
}

export function showsPlaces(format: PlanFormat, changes: number): boolean {
  const renderer: Renderer = RENDERERS[format];
  return changes <= (renderer.places ?? -1);
}

/** @param plan redacted before, since renderers cut, wrap and escape */
export async function renderPlan(
  format: PlanFormat,
  plan: PlanJson,
  extras: PlanExtras,
  options: RenderPlanOptions,
): Promise<string> {
  const render: PlanRenderer = await RENDERERS[format].load();
  return render(plan, extras, options);
}

/** Errors and warnings by themselves, in a format that has a form for them; nothing for any other. */
export async function renderDiagnosticsAs(
  format: string,
  diagnostics: readonly DiagnosticView[],
  tool: string,
): Promise<string | undefined> {
  const renderer: Renderer | undefined = isPlanFormat(format) ? RENDERERS[format] : undefined;
  return (await renderer?.diagnostics?.())?.(diagnostics, tool);
}
