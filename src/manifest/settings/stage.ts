import type { Origin } from "../../model/diagnostic.ts";
import { isObject } from "../../model/json.ts";
import type { Document } from "../document.ts";
import { nearest } from "../nearest.ts";
import { manifestError } from "../problem.ts";
import type { ManifestProblem } from "../problem.ts";
import { didYouMean, listWords } from "../words.ts";

const ONLY_STAGE = "default";

/** The stages of a project, in the order of the file. */
export function stagesOf(project: Document): readonly string[] {
  const { stages } = project.value;
  const declared = isObject(stages) ? Object.keys(stages) : [];
  return declared.length === 0 ? [ONLY_STAGE] : declared;
}

export type StageChoice =
  { readonly ok: true; readonly stage: string } | { readonly ok: false; readonly problem: ManifestProblem };

/** The stage by `--stage`, else TASC_STAGE, else `defaultStage`, else the one named `default`, else the only one. */
export function chooseStage(
  project: Document,
  option: string | undefined,
  variable: string | undefined,
): StageChoice {
  const stages = stagesOf(project);
  const wish = wishOf(project, option, variable);
  const [only] = stages;
  if (wish !== undefined)
    return stages.includes(wish.stage)
      ? { ok: true, stage: wish.stage }
      : { ok: false, problem: unknownStage(project, wish, stages) };
  if (stages.includes(ONLY_STAGE)) return { ok: true, stage: ONLY_STAGE };
  if (only !== undefined && stages.length === 1) return { ok: true, stage: only };
  return { ok: false, problem: undecided(project, stages) };
}

interface Wish {
  readonly stage: string;
  readonly source: "--stage" | "TASC_STAGE" | "defaultStage";
}

function wishOf(
  project: Document,
  option: string | undefined,
  variable: string | undefined,
): Wish | undefined {
  const { defaultStage } = project.value;
  if (option !== undefined) return { stage: option, source: "--stage" };
  if (variable !== undefined && variable !== "") return { stage: variable, source: "TASC_STAGE" };
  if (typeof defaultStage === "string") return { stage: defaultStage, source: "defaultStage" };
  return undefined;
}

function unknownStage(
  project: Document,
  { stage, source }: Wish,
  stages: readonly string[],
): ManifestProblem {
  return manifestError(
    "unknown-stage",
    source === "defaultStage" ? { file: project.file, path: ["defaultStage"] } : stagesOrigin(project),
    `There is no stage \`${stage}\``,
    `\`${source}\` asks for it. ${stagesInWords(stages)}${didYouMean(nearest(stage, stages))}`,
  );
}

function undecided(project: Document, stages: readonly string[]): ManifestProblem {
  return manifestError(
    "no-stage",
    stagesOrigin(project),
    "No stage is chosen",
    `${stagesInWords(stages)} Name one by \`--stage\`, by TASC_STAGE, or as \`defaultStage:\` in ${project.file}.`,
  );
}

export function stagesInWords(stages: readonly string[]): string {
  return `The project has ${stages.length === 1 ? "the stage" : "the stages"} ${listWords(stages, "and")}.`;
}

function stagesOrigin({ file, value }: Document): Origin {
  return { file, path: value.stages === undefined ? [] : ["stages"] };
}
