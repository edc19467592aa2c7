import type { PlanJson } from "../model/plan.ts";
import type { PlanExtras } from "./json.ts";

/** How plans are printed; each is made from the JSON form. */
export const PLAN_FORMATS = [
  "text",
  "json",
  "markdown",
  "github",
  "gitlab",
  "sarif",
  "junit",
  "html",
] as const;
export type PlanFormat = (typeof PLAN_FORMATS)[number];

/** A plan in a format that is loaded only when it is asked for. */
export async function formatPlan(
  format: Exclude<PlanFormat, "text" | "json">,
  plan: PlanJson,
  extras: PlanExtras,
  budget?: number,
): Promise<string> {
  switch (format) {
    case "markdown":
      return (await import("./markdown.ts")).renderPlanMarkdown(plan, extras, budget);
    case "github":
      return (await import("./github.ts")).renderPlanGithub(plan, extras);
    case "gitlab":
      return (await import("./gitlab.ts")).renderPlanGitlab(plan);
    case "sarif":
      return (await import("./sarif.ts")).renderPlanSarif(plan, extras);
    case "junit":
      return (await import("./junit.ts")).renderPlanJunit(plan, extras);
    case "html":
      return (await import("./html.ts")).renderPlanHtml(plan, extras);
  }
}
