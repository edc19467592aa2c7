import type { Layer } from "../../model/desired.ts";
import { isObject } from "../../model/json.ts";
import type { Variable } from "../template/surroundings.ts";

/** The variables of a stage, each with the place that counts. */
export function variablesOf(layers: readonly Layer[]): ReadonlyMap<string, Variable> {
  const variables = new Map<string, Variable>();
  for (const { file, path, value } of layers)
    for (const [name, text] of Object.entries(isObject(value.vars) ? value.vars : {}))
      if (typeof text === "string" || typeof text === "number" || typeof text === "boolean")
        variables.set(name, { value: text, origin: { file, path: [...path, "vars", name] } });
  return variables;
}
