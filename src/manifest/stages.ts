import type { Layer } from "../model/desired.ts";
import { type Json, isObject } from "../model/json.ts";
import type { Document } from "./document.ts";
import type { Variable } from "./interpolation.ts";
import {
  type ManifestProblem,
  didYouMean,
  listWords,
  manifestProblem,
  nearest,
} from "./problem.ts";

const ONLY_STAGE = "default";

export function stagesOf(project: Document): readonly string[] {
  const { stages } = project.value;
  const declared = isObject(stages) ? Object.keys(stages) : [];
  return declared.length === 0 ? [ONLY_STAGE] : declared;
}

export function stagesInWords(stages: readonly string[]): string {
  return `The project has ${stages.length === 1 ? "the stage" : "the stages"} ${listWords(stages, "and")}.`;
}

/**
 * Chooses the stage: the first of `--stage`, TASC_STAGE, `defaultStage`, the stage named `default`,
 * and the only stage.
 */
export function chooseStage(
  project: Document,
  option: string | undefined,
  variable: string | undefined,
): string | ManifestProblem {
  const { file, value } = project;
  const stages = stagesOf(project);
  const asked: [stage: Json | undefined, source: string][] = [
    [option, "--stage"],
    [variable === "" ? undefined : variable, "TASC_STAGE"],
    [value.defaultStage, "defaultStage"],
  ];
  const [requested, source] = asked.find(([stage]) => typeof stage === "string") ?? [];
  const only = stages.length === 1 ? stages[0] : undefined;
  const stage = requested ?? (stages.includes(ONLY_STAGE) ? ONLY_STAGE : only);
  if (typeof stage === "string" && stages.includes(stage)) return stage;
  const inFile = source === "defaultStage" ? source : "stages";
  const origin = { file, path: value[inFile] === undefined ? [] : [inFile] };
  const known = stagesInWords(stages);
  if (typeof requested !== "string") {
    const detail = `${known} Choose one with \`--stage\`, TASC_STAGE, or \`defaultStage:\` in ${file}.`;
    return manifestProblem("no-stage", origin, "No stage is selected", detail);
  }
  const summary = `There is no stage \`${requested}\``;
  const detail = `\`${source}\` asks for it. ${known}${didYouMean(nearest(requested, stages))}`;
  return manifestProblem("unknown-stage", origin, summary, detail);
}

/**
 * Returns the layers of `tasc.yaml` for a stage, lowest first: the project's own settings, then the
 * stage's.
 */
export function settingsLayers(project: Document, stage: string): readonly Layer[] {
  const { file, value } = project;
  const base: Layer = { kind: "base", file, path: [], value };
  const stages = isObject(value.stages) ? value.stages : {};
  const own = Object.hasOwn(stages, stage) ? stages[stage] : undefined;
  return isObject(own)
    ? [base, { kind: "stage", file, path: ["stages", stage], value: own }]
    : [base];
}

export function variablesOf(layers: readonly Layer[]): ReadonlyMap<string, Variable> {
  const variables = new Map<string, Variable>();
  for (const { file, path, value } of layers)
    for (const [name, text] of Object.entries(isObject(value.vars) ? value.vars : {}))
      if (typeof text === "string" || typeof text === "number" || typeof text === "boolean")
        variables.set(name, { value: text, origin: { file, path: [...path, "vars", name] } });
  return variables;
}
