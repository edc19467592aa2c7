import type { PlanJson } from "../model/plan.ts";
import type { DiagnosticView, PlanExtras, PlanView } from "./json.ts";
import type { MarkdownOptions } from "./markdown.ts";
import type { PlanTextOptions } from "./text.ts";

export type RenderPlanOptions = PlanTextOptions & MarkdownOptions;

type PlanRenderer = (plan: PlanView, options: RenderPlanOptions) => string | Generator<string>;
type DiagnosticsRenderer = (diagnostics: readonly DiagnosticView[], tool: string) => string;

/** Renderers of all plan formats, loaded only on demand. JSON is the public form itself. */
const PLANS = {
  text: async () => (await import("./text.ts")).renderPlanText,
  json: undefined,
  markdown: async () => (await import("./markdown.ts")).renderPlanMarkdown,
  github: async () => (await import("./reports.ts")).renderPlanGithub,
  gitlab: async () => (await import("./reports.ts")).renderPlanGitlab,
  sarif: async () => (await import("./reports.ts")).renderPlanSarif,
  junit: async () => (await import("./reports.ts")).renderPlanJunit,
  html: async () => (await import("./html/page.ts")).renderPlanHtml,
} as const satisfies Readonly<Record<string, (() => Promise<PlanRenderer>) | undefined>>;

/** Formats that can show errors and warnings without a plan. */
const DIAGNOSTICS: ReadonlyMap<string, () => Promise<DiagnosticsRenderer>> = new Map([
  ["markdown", async () => (await import("./markdown.ts")).renderDiagnosticsMarkdown],
  ["github", async () => (await import("./reports.ts")).renderDiagnosticsGithub],
  ["sarif", async () => (await import("./reports.ts")).renderDiagnosticsSarif],
  ["junit", async () => (await import("./reports.ts")).renderDiagnosticsJunit],
  ["html", async () => (await import("./html/page.ts")).renderDiagnosticsHtml],
]);

/**
 * Up to this many changes a page shows their calls and places. The calls are half of a page, which
 * would have 24 MB for 5,000 changes.
 */
export const MOST_DETAILED = 1000;

/**
 * Formats that show the place of each change, and up to how many changes: it costs a second parse
 * of the manifests.
 */
const PLACES: Partial<Record<PlanFormat, number>> = {
  github: Infinity,
  sarif: Infinity,
  junit: Infinity,
  html: MOST_DETAILED,
};

/** Formats that show the calls of changes, and up to how many changes. */
const CALLS: Partial<Record<PlanFormat, number>> = {
  text: Infinity,
  json: Infinity,
  html: MOST_DETAILED,
};

export type PlanFormat = keyof typeof PLANS;
export const PLAN_FORMATS = Object.keys(PLANS).filter((name): name is PlanFormat => name in PLANS);
export const DIAGNOSTIC_FORMATS = [...DIAGNOSTICS.keys()];

export function showsPlaces(format: PlanFormat, changes: number): boolean {
  return changes <= (PLACES[format] ?? -1);
}

export function showsCalls(format: PlanFormat, changes: number): boolean {
  return changes <= (CALLS[format] ?? -1);
}

/**
 * Renders a plan, and returns it in pieces, none of which ends within a word.
 * @param plan already redacted, because renderers cut, wrap and escape
 */
export async function renderPlan(
  format: PlanFormat,
  plan: PlanJson,
  extras: PlanExtras,
  options: RenderPlanOptions,
): Promise<Iterable<string>> {
  const { planView, writePlan } = await import("./json.ts");
  const render: PlanRenderer | undefined = await PLANS[format]?.();
  const made =
    render === undefined
      ? writePlan(plan, plan.changes, (change) => change)
      : render(planView(plan, extras), options);
  return typeof made === "string" ? [made] : joined(made);
}

/** Length of a piece: each is searched for secrets and written alone, which takes some time. */
const ENOUGH = 65_536;

export function* joined(pieces: Iterable<string>): Generator<string> {
  let text = "";
  for (const piece of pieces) {
    text += piece;
    if (text.length < ENOUGH) continue;
    yield text;
    text = "";
  }
  yield text;
}

/**
 * Renders errors and warnings without a plan; returns undefined for a format that cannot show them.
 */
export async function renderDiagnosticsAs(
  format: string,
  diagnostics: readonly DiagnosticView[],
  tool: string,
): Promise<string | undefined> {
  return (await DIAGNOSTICS.get(format)?.())?.(diagnostics, tool);
}
