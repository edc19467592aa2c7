import type { Json } from "../../model/json.ts";
import type { LiveEnvironment, LiveTarget } from "../../model/live.ts";
import type { Misfit } from "../failure.ts";
import type { Result } from "../result.ts";
import { aList, anObject, checked, id, list, requiredText, text } from "./shape.ts";

/** The answer of operation 1 (service-api.md, "Test target"). */
export function readTargets(answer: Json): Result<readonly LiveTarget[], Misfit> {
  return checked(() => aList(answer, target));
}

/** The answer of operation 3. */
export function readTarget(answer: Json): Result<LiveTarget, Misfit> {
  return checked(() => target(answer));
}

function target(json: Json): LiveTarget {
  const fields = anObject(json);
  return {
    id: id(fields, "id"),
    app: requiredText(fields, "app"),
    environments: list(fields, "environments", environment) ?? [],
  };
}

/** A reader for `shape.ts`: one item of a target's `environments`. */
export function environment(json: Json): LiveEnvironment {
  const fields = anObject(json);
  return {
    id: id(fields, "id"),
    type: text(fields, "type"),
    discoveryUrl: text(fields, "discoveryUrl"),
  };
}
