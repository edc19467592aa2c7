import type { Desired } from "../model/desired.ts";
import type { Path } from "../model/json.ts";
import type { Settings } from "../model/settings.ts";
import { checkTargets } from "./check/targets.ts";
import type { Document } from "./document.ts";
import type { ManifestProblem } from "./problem.ts";
import type { ProjectReading } from "./read-project.ts";
import { settingsLayers } from "./settings/layers.ts";
import { resolveSettings } from "./settings/resolve.ts";
import { chooseStage, stagesOf } from "./settings/stage.ts";
import { variablesOf } from "./settings/variables.ts";
import { resolveTarget } from "./target/desired.ts";
import { groupByTarget } from "./target/group.ts";
import { Filler } from "./template/fill.ts";
import type { Environment } from "./template/surroundings.ts";

export interface ResolveOptions {
  /** `--stage`. */
  readonly stage?: string | undefined;
  readonly env: Environment;
  /** `--allow-missing-secrets`. */
  readonly allowMissingSecrets?: boolean;
  /** `false` for what never calls the service: the API key may then be missing. */
  readonly needsApiKey?: boolean;
}

export interface Resolution {
  /** Absent where no stage could be chosen. Of use only if no problem is an error. */
  readonly resolved?: { readonly settings: Settings; readonly desired: Desired };
  readonly problems: readonly ManifestProblem[];
  /** All texts met that must not show, from 4 characters up, longest first. */
  readonly secrets: readonly string[];
}

/** What a project means in one stage. Pure: the same reading can be resolved for several stages. */
export function resolveProject(reading: ProjectReading, options: ResolveOptions): Resolution {
  const { project } = reading;
  if (project === undefined) return { problems: [], secrets: [] };
  const choice = chooseStage(project, options.stage, options.env.TASC_STAGE);
  if (!choice.ok) return { problems: [choice.problem], secrets: [] };
  return resolveStage(project, choice.stage, reading, options);
}

function resolveStage(
  project: Document,
  stage: string,
  reading: ProjectReading,
  options: ResolveOptions,
): Resolution {
  const layers = settingsLayers(project, stage);
  const filler = new Filler({
    stage,
    env: options.env,
    files: reading.textFiles,
    vars: variablesOf(layers),
    allowMissingSecrets: options.allowMissingSecrets ?? false,
  });
  const problems: ManifestProblem[] = [];
  const needsApiKey = options.needsApiKey ?? true;
  const settings = resolveSettings({
    stage,
    stages: stagesOf(project),
    layers,
    filler,
    needsApiKey,
    isSpoilt: (path) => isSpoilt(project, path, reading.problems),
  });
  problems.push(...settings.problems);
  const request = { stage, filler, onRemove: settings.settings.policy.onRemove };
  const targets = groupByTarget(reading.documents).map((target) => resolveTarget(target, request, problems));
  problems.push(...checkTargets(targets, reading.complete));
  const resolved = { settings: settings.settings, desired: { stage, targets } };
  return { resolved, problems: distinct(problems), secrets: secretsOf(filler) };
}

/** Whether a problem of `tasc.yaml` lies at a path, or above it, for the project or for any stage. */
function isSpoilt({ file }: Document, path: Path, problems: readonly ManifestProblem[]): boolean {
  return problems.some(({ origin }) => {
    const inside = origin.path[0] === "stages" ? origin.path.slice(2) : origin.path;
    const above = inside.length > 0 && inside.every((step, at) => step === path[at]);
    return origin.file === file && above;
  });
}

/** A default or a variable at fault is met once for each resource that uses it, and told once. */
function distinct(problems: readonly ManifestProblem[]): readonly ManifestProblem[] {
  const known = new Map<string, ManifestProblem>();
  for (const problem of problems) {
    const { code, summary, origin, within = "" } = problem;
    const key = JSON.stringify([origin.file, origin.path, code, summary, within]);
    if (!known.has(key)) known.set(key, problem);
  }
  return [...known.values()];
}

/** Shorter texts would black out half of every output. */
const SHORTEST_SECRET = 4;

function secretsOf(filler: Filler): readonly string[] {
  return [...filler.secrets]
    .filter((text) => text.length >= SHORTEST_SECRET)
    .toSorted((a, b) => b.length - a.length);
}
