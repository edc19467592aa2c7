import { isObject } from "../../model/json.ts";
import { nearest } from "../nearest.ts";
import { manifestError } from "../problem.ts";
import type { ManifestProblem } from "../problem.ts";
import { stagesInWords } from "../settings/stage.ts";
import { didYouMean } from "../words.ts";
import type { DocumentSubject } from "./document-subject.ts";

/** Every key under `stages` is a stage of the project. */
export function overridesAreForKnownStages({
  document,
  stages,
}: DocumentSubject): readonly ManifestProblem[] {
  const { file, value } = document;
  if (stages === undefined || !isObject(value.stages)) return [];
  return Object.keys(value.stages)
    .filter((stage) => !stages.includes(stage))
    .map((stage) =>
      manifestError(
        "unknown-stage",
        { file, path: ["stages", stage] },
        `There is no stage \`${stage}\``,
        `${stagesInWords(stages)}${didYouMean(nearest(stage, stages))}`,
        { at: "key" },
      ),
    );
}
