import { type Given, flagOption, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { locate } from "../manifest/document.ts";
import { originOf, resourcesOf } from "../model/desired.ts";
import type { Place } from "../model/diagnostic.ts";
import type { Plan, PlanJson } from "../model/plan.ts";
import { type PlanFormatName, isPlanFormat, renderPlan, showsPlaces } from "../render/formats.ts";
import { type PlanExtras, planExtras, planJson } from "../render/json.ts";
import { redactPlan } from "../render/redact.ts";
import type { Console } from "./console.ts";
import type { Opened } from "./opening.ts";
import { planMeta } from "./plan-meta.ts";

type Source = (file: string) => string | undefined;

/** Prints a plan in the format that was asked for. */
export async function printPlan(given: Given, opened: Opened, plan: Plan, world: World): Promise<void> {
  const { console, project } = opened;
  const extras = showsPlaces(formatOf(given)) ? await placedExtras(plan, opened) : planExtras(plan);
  const source: Source = (file) => project.sources.get(file)?.text;
  await printPlanJson(given, console, planJson(plan, planMeta(world)), extras, source);
}

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
  const format = formatOf(given);
  const budget = textOption(given, "budget");
  const text = await renderPlan(format, redactPlan(plan, console.redactor), extras, {
    style: console.style.stdout,
    width: console.columns,
    verbose: flagOption(given, "verbose"),
    source,
    ...(console.screen === undefined ? {} : { screen: console.screen }),
    ...(budget === undefined ? {} : { budget: Number(budget) }),
  });
  if (format === "text") console.data(text);
  else console.writer.document(text);
}

function formatOf(given: Given): PlanFormatName {
  const format = textOption(given, "format") ?? "text";
  return isPlanFormat(format) ? format : "text";
}
