import type { Json, JsonObject } from "../../model/json.ts";
import { KINDS } from "../../model/address.ts";
import { ACTIONS } from "../../model/plan.ts";

const ADDRESS = `^(?:target|(?:${KINDS.filter((kind) => kind !== "target").join("|")})\\.[^.]+)\\.[^.]+$`;

/** The schema of a plan as `--format json` prints it and `--out` saves it (`PlanJson` in the model). */
export function planSchema(): JsonObject {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "urn:tasc:schema:plan:1",
    title: "tasc plan",
    description: "A plan. A saved one carries further keys, which only `tasc apply` and `tasc show` read.",
    ...open({
      formatVersion: text("Version of this format. A new minor version only adds.", {
        pattern: "^1\\.[0-9]+$",
      }),
      tool: text("The program that made the plan, and its version."),
      stage: text("The stage that was planned."),
      baseUrl: text("The service's base address."),
      createdAt: text("When the plan was made, ISO 8601. All else is the same for the same inputs."),
      summary: { $ref: "#/$defs/summary" },
      changes: list("What differs, sorted by address.", "change"),
      orphaned: list("What is bound in state and no longer declared. It is not touched.", "orphan"),
      diagnostics: list("Errors and warnings.", "diagnostic"),
    }),
    $defs: definitions(),
  };
}

function definitions(): JsonObject {
  return {
    address: text("A resource's address: `target.shop`, `testCase.shop.login`.", { pattern: ADDRESS }),
    path: {
      description: "Where in the resource: keys, and positions in lists.",
      type: "array",
      items: { type: ["string", "integer"] },
    },
    summary: summarySchema(),
    change: changeSchema(),
    field: fieldSchema(),
    call: callSchema(),
    orphan: closed({
      address: { $ref: "#/$defs/address" },
      id: text("The service's id."),
    }),
    diagnostic: diagnosticSchema(),
  };
}

function summarySchema(): JsonObject {
  return {
    description: "The plan in numbers.",
    ...closed({
      create: count("Resources to be created."),
      update: count("Resources to be changed."),
      rediscover: count("Test cases whose changed prompt makes the service generate again."),
      disable: count("Test cases that are taken out of runs, whatever else changes of them."),
      unchanged: count("Declared resources that are as declared."),
      orphaned: count("Resources that are bound and no longer declared."),
      unmanaged: count("Live test cases and environments of managed targets that nothing declares."),
      calls: {
        description: "Calls that are certain, by method.",
        ...closed({ POST: count("Creations."), PATCH: count("Changes.") }),
      },
      followUps: count("Calls after discoveries, sent only if the service's own values differ by then."),
    }),
  };
}

function changeSchema(): JsonObject {
  return {
    description: "One resource that changes.",
    ...closed({
      address: { $ref: "#/$defs/address" },
      action: { description: "What is done.", enum: [...ACTIONS] },
      id: text("The service's id, or `(known after apply)`."),
      fields: list("What changes.", "field"),
      calls: list("Calls that are certain, in order.", "call"),
      followUps: list("Calls that are sent only if the service's own values differ by then.", "call"),
    }),
  };
}

function fieldSchema(): JsonObject {
  const properties = {
    path: { $ref: "#/$defs/path" },
    before: { description: "The live value. Absent in a creation, for what is never read, and for secrets." },
    after: { description: "The wanted value. Absent for what goes, and for secrets." },
    sensitive: { description: "Its values do not show.", const: true },
    movedFrom: {
      description: "Position before, of a list item that stays and changes its place.",
      type: "integer",
      minimum: 0,
    },
    harmful: {
      description: "How the change makes a test weaker while it still runs.",
      enum: ["assertion lost", "failure ignored"],
    },
  };
  return { description: "One value that changes.", ...closed(properties, ["path"]) };
}

function callSchema(): JsonObject {
  return {
    description: "A call to the service.",
    ...closed({
      method: { description: "HTTP method.", enum: ["POST", "PATCH"] },
      path: text("From `/apiKey/v3` on. An id that is not known yet reads `(known after apply)`."),
      body: { description: "The body. A sensitive value reads `(sensitive)`.", type: "object" },
    }),
  };
}

function diagnosticSchema(): JsonObject {
  const properties = {
    severity: { description: "An error keeps the plan from being applied.", enum: ["error", "warning"] },
    address: { $ref: "#/$defs/address" },
    summary: text("One short sentence."),
    detail: text("What was found, why it matters, what to do."),
    file: text("Manifest, from the project folder."),
    line: { description: "Line, from 1.", type: "integer", minimum: 1 },
    column: { description: "Column, from 1, in UTF-16 units.", type: "integer", minimum: 1 },
  };
  return {
    description: "Something to know or mend.",
    ...closed(properties, ["severity", "summary", "detail"]),
  };
}

function open(properties: JsonObject): JsonObject {
  return { type: "object", properties, required: Object.keys(properties) };
}

function closed(properties: JsonObject, required = Object.keys(properties)): JsonObject {
  return { type: "object", properties, required, additionalProperties: false };
}

function text(description: string, more: JsonObject = {}): JsonObject {
  return { description, type: "string", ...more };
}

function count(description: string): JsonObject {
  return { description, type: "integer", minimum: 0 };
}

function list(description: string, definition: string): { readonly [key: string]: Json } {
  return { description, type: "array", items: { $ref: `#/$defs/${definition}` } };
}
