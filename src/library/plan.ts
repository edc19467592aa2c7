import { reviewable } from "../commands/plan.ts";
import { isPolicyRule } from "../commands/policy.ts";
import { surveyOpened } from "../commands/survey.ts";
import type { PlanJson } from "../model/plan.ts";
import type { PolicyRule } from "../model/settings.ts";
import { checkOptions } from "./arguments.ts";
import { CALL_KINDS, type CallOptions, callsGiven } from "./calls.ts";
import { planInsides, projectInsides } from "./inside.ts";
import type { Project } from "./project.ts";
import { libraryWorld, quietly, refusal } from "./silent.ts";

export interface PlanOptions extends CallOptions {
  /** Addresses or globs to narrow the plan to. */
  readonly only?: readonly string[];
  /** Addresses or globs to leave out. */
  readonly exclude?: readonly string[];
  /** Batch generations to run, whatever state says. */
  readonly run?: readonly string[];
  /** Test cases whose prompt to send, whatever state says. */
  readonly rediscover?: readonly string[];
  /** Rules of the project's policy to let through. */
  readonly overridePolicy?: readonly PolicyRule[];
}

const KINDS = {
  only: "texts",
  exclude: "texts",
  run: "texts",
  rediscover: "texts",
  overridePolicy: "texts",
  ...CALL_KINDS,
} as const;

/**
 * Reads the service and the state, and plans what an apply would do. It changes nothing.
 * @returns the plan as `tasc plan --format json` prints it; errors against the live service are among its diagnostics
 * @throws TascError where none could be made
 */
export async function plan(project: Project, options: PlanOptions = {}): Promise<PlanJson> {
  const inside = projectInsides.get(project);
  if (inside === undefined) throw new TypeError("This is no project that loadProject gave");
  checkOptions(options, KINDS);
  for (const rule of options.overridePolicy ?? [])
    if (!isPolicyRule(rule)) throw new TypeError(`There is no policy rule ${String(rule)}`);
  const { only = [], exclude = [], run = [], rediscover = [], overridePolicy = [] } = options;
  return quietly(inside.opened, async (opened) => {
    const world = libraryWorld(opened.root, opened.env);
    const given = { args: [], options: { ...callsGiven(options), only, exclude, run, rediscover } };
    const looked = await surveyOpened(opened, given, world);
    if (!looked.ok) throw refusal(opened.console, looked.code);
    const { planned, request } = looked.value;
    const { saved } = await reviewable(planned, request, new Set(overridePolicy), opened);
    const whole = await saved(world);
    // What is applied is what was reviewed, so nobody may write into it on the way.
    freeze(whole.plan);
    planInsides.set(whole.plan, { ...inside, saved: whole, calls: options });
    return whole.plan;
  });
}

function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  Object.freeze(value);
  for (const part of Object.values(value)) freeze(part);
}
