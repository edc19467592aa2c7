import { type Given, flagOption, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { locate } from "../manifest/document.ts";
import { originOf, resourcesOf } from "../model/desired.ts";
import type { Place } from "../model/diagnostic.ts";
import type { Plan, PlanJson } from "../model/plan.ts";
import { type PlanExtras, planExtras, planJson, writeJson } from "../render/json.ts";
import { redactPlan } from "../render/redact.ts";
import { renderPlanText } from "../render/text.ts";
import type { Console } from "./console.ts";
import type { Opened } from "./opening.ts";
import { planMeta } from "./plan-meta.ts";

type Source = (file: string) => string | undefined;

/** Prints a plan in the format that was asked for. */
export async function printPlan(given: Given, opened: Opened, plan: Plan, world: World): Promise<void> {
  const { console, project } = opened;
  const format = textOption(given, "format") ?? "text";
  const extras = FORMATS_WITH_PLACES.includes(format) ? await placedExtras(plan, opened) : planExtras(plan);
  const source: Source = (file) => project.sources.get(file)?.text;
  await printPlanJson(given, console, planJson(plan, planMeta(world)), extras, source);
}

/** Looking up lines costs a second parse of the manifests, so it is done for those that show them. */
const FORMATS_WITH_PLACES = ["github", "sarif", "junit", "html"];

/** The extras of a plan with the places of its changes. */
export async function placedExtras(plan: Plan, opened: Opened): Promise<PlanExtras> {
  return { ...planExtras(plan), places: await placesOf(plan, opened) };
}

/** Where the manifest declares what each change is about, or the field that differs. */
async function placesOf(plan: Plan, { project }: Opened): Promise<Readonly<Record<string, Place>>> {
  const resources = new Map(
    project.desired.targets.flatMap(resourcesOf).map((resource) => [resource.address, resource]),
  );
  const wanted = plan.changes.flatMap(({ address, fields }) => {
    const resource = resources.get(address);
    const origin = resource && (originOf(resource, fields[0]?.path) ?? originOf(resource));
    return origin === undefined
      ? []
      : [{ severity: "warning" as const, code: "", summary: "", detail: "", address, origin }];
  });
  const located = await locate(wanted, project.sources);
  return Object.fromEntries(
    located.flatMap(({ address, place }) =>
      address === undefined || place === undefined ? [] : [[address, place]],
    ),
  );
}

/** Prints a plan in its public form, a saved one for instance. */
export async function printPlanJson(
  given: Given,
  console: Console,
  plan: PlanJson,
  extras: PlanExtras,
  source: Source = () => undefined,
): Promise<void> {
  const shown = redactPlan(plan, console.redactor);
  const format = textOption(given, "format") ?? "text";
  if (format !== "text")
    return console.writer.document(await formatted(format, shown, extras, budgetOption(given)));
  const options = {
    style: console.style.stdout,
    width: console.columns,
    verbose: flagOption(given, "verbose"),
    source,
  };
  console.data(renderPlanText(shown, extras, options));
}

/** Each format is loaded only when it is asked for. */
export async function formatted(
  format: string,
  plan: PlanJson,
  extras: PlanExtras,
  budget?: number,
): Promise<string> {
  switch (format) {
    case "markdown":
      return (await import("../render/markdown.ts")).renderPlanMarkdown(plan, extras, budget);
    case "github":
      return (await import("../render/github.ts")).renderPlanGithub(plan, extras);
    case "gitlab":
      return (await import("../render/gitlab.ts")).renderPlanGitlab(plan);
    case "sarif":
      return (await import("../render/sarif.ts")).renderPlanSarif(plan, extras);
    case "junit":
      return (await import("../render/junit.ts")).renderPlanJunit(plan, extras);
    case "html":
      return (await import("../render/html.ts")).renderPlanHtml(plan, extras);
    default:
      return writeJson(plan);
  }
}

/** Characters that a markdown comment may have. */
function budgetOption(given: Given): number | undefined {
  const budget = textOption(given, "budget");
  return budget === undefined ? undefined : Number(budget);
}
