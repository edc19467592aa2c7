import type { Layer } from "../../model/desired.ts";
import { isObject } from "../../model/json.ts";
import type { Document } from "../document.ts";

/** What `tasc.yaml` says for a stage, lowest first: the project's own settings, and the stage's. */
export function settingsLayers(project: Document, stage: string): readonly Layer[] {
  const { file, value } = project;
  const base: Layer = { kind: "base", file, path: [], value };
  const stages = isObject(value.stages) ? value.stages : {};
  const own = Object.hasOwn(stages, stage) ? stages[stage] : undefined;
  return isObject(own) ? [base, { kind: "stage", file, path: ["stages", stage], value: own }] : [base];
}
