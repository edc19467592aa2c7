import type { Json, JsonObject } from "../src/model/json.ts";

const text = { type: "string" };
const list = (items: Json): JsonObject => ({ type: "array", items });
const map = (values: Json): JsonObject => ({ type: "object", additionalProperties: values });
const textOrNull = { type: ["string", "null"] };
const whole = { type: "integer", minimum: 1 };
const address = {
  type: "string",
  pattern: "^(target|(environment|testCase|batchGeneration)\\.[^.]+)\\.[^.]+$",
};

function object(
  properties: JsonObject,
  required: readonly string[] = Object.keys(properties),
): JsonObject {
  return { type: "object", properties, required };
}

/** Members of a saved plan beyond the public schema, under `apply`. Only tasc itself reads them. */
export const SAVED_PLAN: JsonObject = object(
  {
    only: list(text),
    exclude: list(text),
    shard: { anyOf: [{ type: "null" }, object({ index: whole, count: whole })] },
    run: list(address),
    rediscover: list(address),
    targets: map(textOrNull),
    made: object({ by: text, job: text, commit: text, clean: { type: "boolean" }, expires: text }, [
      "by",
    ]),
    extras: object(
      {
        changedBy: map(map({ enum: ["manifest", "service", "both"] })),
        dependsOn: map(list(address)),
        places: map(object({ file: text, line: whole, column: whole })),
        diagnostics: list(
          object({ code: text, path: list({ type: ["string", "integer"] }) }, ["code"]),
        ),
      },
      [],
    ),
    guards: map(object({ id: textOrNull, declared: text, live: map(text) })),
  },
  ["only", "exclude", "run", "rediscover", "targets", "made", "extras", "guards"],
);
