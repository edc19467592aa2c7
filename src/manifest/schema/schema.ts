import { KINDS } from "../../model/address.ts";
import type { Json, JsonObject } from "../../model/json.ts";
import { ACTIONS, CAUSES } from "../../model/plan.ts";
import {
  ADDRESS,
  ANY_KEY,
  DURATION,
  INTERPOLATED,
  LOGICAL_KEY,
  MAP_KEY,
  type ManifestPart,
  type ManifestShape,
  type MapShape,
  ONLY_SECRETS,
  RATE,
  type Branches,
  type ObjectShape,
  URL_TEXT,
  UUID,
  foreignKeys,
  isHidden,
} from "../shape.ts";
import {
  PROJECT,
  PROJECT_DEFINITIONS,
  STATE_BRANCHES,
  TARGET_DEFINITIONS,
  TARGET_DOCUMENT,
} from "../tables.ts";

/** All documents that have a schema; also the arguments of `tasc schema`. */
export const SCHEMA_NAMES = ["project", "target", "plan"] as const;
export type SchemaName = (typeof SCHEMA_NAMES)[number];

/** A document's JSON Schema, made from the tables. */
export function schemaOf(name: SchemaName): JsonObject {
  switch (name) {
    case "project":
      return documentSchema(
        { $id: "urn:tasc:schema:project:1", title: "tasc project file" },
        PROJECT,
        PROJECT_DEFINITIONS,
        { definitions: JSON_DEFINITION, allOf: [requiredByBranch("state", STATE_BRANCHES)] },
      );
    case "target":
      return documentSchema(
        { $id: "urn:tasc:schema:target:1", title: "tasc target document" },
        TARGET_DOCUMENT,
        TARGET_DEFINITIONS,
        { definitions: JSON_DEFINITION },
      );
    case "plan":
      return planSchema();
  }
}

const PLAN_ADDRESS = `^(?:target|(?:${KINDS.filter((kind) => kind !== "target").join("|")})\\.[^.]+)\\.[^.]+$`;

/** The schema of a plan as `--format json` prints it and `--out` saves it (`PlanJson` in the model). */
function planSchema(): JsonObject {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "urn:tasc:schema:plan:1",
    title: "tasc plan",
    description: "A plan. A saved plan has further keys, which only `tasc apply` and `tasc show` read.",
    ...open({
      formatVersion: text("Version of this format. A new minor version only adds.", {
        pattern: "^1\\.[0-9]+$",
      }),
      tool: text("The program that created the plan, and its version."),
      stage: text("The stage that was planned."),
      baseUrl: text("The service's base address."),
      createdAt: text(
        "When the plan was created, in ISO 8601. The only value that differs between plans of the same inputs.",
      ),
      summary: { $ref: "#/$defs/summary" },
      changes: list("The changes, sorted by address.", "change"),
      orphaned: list(
        "Resources that are bound in state but no longer declared. They are not changed.",
        "orphan",
      ),
      diagnostics: list("Errors and warnings.", "diagnostic"),
    }),
    $defs: definitions(),
  };
}

function definitions(): JsonObject {
  return {
    address: text("A resource's address: `target.shop`, `testCase.shop.login`.", { pattern: PLAN_ADDRESS }),
    path: {
      description: "Path in the resource: keys and list positions.",
      type: "array",
      items: { type: ["string", "integer"] },
    },
    summary: summarySchema(),
    change: changeSchema(),
    field: fieldSchema(),
    call: callSchema(),
    orphan: closed({
      address: { $ref: "#/$defs/address" },
      id: text("Id on the service."),
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
      rediscover: count("Test cases that are regenerated from a changed prompt."),
      disable: count("Test cases that are taken out of runs, including those with other changes."),
      unchanged: count("Declared resources without changes."),
      orphaned: count("Resources that are bound and no longer declared."),
      unmanaged: count("Live test cases and environments of managed targets that no manifest declares."),
      calls: {
        description: "Requests that are always sent, by method.",
        ...closed({ POST: count("Creations."), PATCH: count("Changes.") }),
      },
      followUps: count("Requests after discoveries, sent only if the service's values then differ."),
    }),
  };
}

function changeSchema(): JsonObject {
  return {
    description: "One resource that changes.",
    ...closed(
      {
        address: { $ref: "#/$defs/address" },
        action: { description: "The action.", enum: [...ACTIONS] },
        cause: {
          description:
            "With `--base REF`: the manifests differ from REF, REF would change it already, or drift.",
          enum: [...CAUSES],
        },
        id: text("Id on the service, or `(known after apply)`."),
        fields: list("The changed fields.", "field"),
        calls: list("Requests that are always sent, in order.", "call"),
        followUps: list("Requests that are sent only if the service's values then differ.", "call"),
      },
      ["address", "action", "id", "fields", "calls", "followUps"],
    ),
  };
}

function fieldSchema(): JsonObject {
  const properties = {
    path: { $ref: "#/$defs/path" },
    before: { description: "The live value. Absent in a creation, for write-only fields and for secrets." },
    after: { description: "The new value. Absent for removed values and for secrets." },
    sensitive: { description: "Its values are not shown.", const: true },
    movedFrom: {
      description: "Previous position of a list item that moves.",
      type: "integer",
      minimum: 0,
    },
    harmful: {
      description: "How the change weakens a test that still runs.",
      enum: ["assertion lost", "failure ignored"],
    },
  };
  return { description: "One value that changes.", ...closed(properties, ["path"]) };
}

function callSchema(): JsonObject {
  return {
    description: "A request to the service.",
    ...closed({
      method: { description: "HTTP method.", enum: ["POST", "PATCH"] },
      path: text("Path from `/apiKey/v3` on. An unknown id is `(known after apply)`."),
      body: { description: "The body. A sensitive value is `(sensitive)`.", type: "object" },
    }),
  };
}

function diagnosticSchema(): JsonObject {
  const properties = {
    severity: { description: "A plan with errors cannot be applied.", enum: ["error", "warning"] },
    address: { $ref: "#/$defs/address" },
    summary: text("One short sentence."),
    detail: text("The problem, its effect and how to fix it."),
    file: text("Path of the manifest, relative to the project folder."),
    line: { description: "Line, from 1.", type: "integer", minimum: 1 },
    column: { description: "Column, from 1, in UTF-16 units.", type: "integer", minimum: 1 },
  };
  return {
    description: "An error or a warning.",
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

/**
 * JSON Schema from shapes. Each schema says what it wants with keywords of one type each, in one schema object, so
 * that a value breaks few of them and the message is about its mistake; `anyOf` stands only where an editor needs
 * an `enum` to complete from.
 */

/** What is defined once, under a name, and referred to wherever else it stands. */
export type Definitions = ReadonlyMap<ManifestPart | ObjectShape, string>;

/** The schema of a whole document; `definitions` among the rest are of no part. */
function documentSchema(
  heading: { readonly $id: string; readonly title: string },
  root: ObjectShape,
  definitions: Definitions,
  {
    definitions: more = {},
    ...conditions
  }: { readonly definitions?: JsonObject; readonly allOf?: Json } = {},
): JsonObject {
  const schemas = new Schemas(definitions);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    ...heading,
    ...schemas.object(root, false),
    ...conditions,
    $defs: { ...schemas.definitions(), ...more },
  };
}

/** How a part stands where it does, apart from its shape. */
interface Manner {
  readonly nullable: boolean;
  /** No interpolation. */
  readonly literal: boolean;
}

const PLAIN: Manner = { nullable: false, literal: false };
const ANY_JSON = { $ref: "#/$defs/json" };

class Schemas {
  readonly #definitions: Definitions;

  constructor(definitions: Definitions) {
    this.#definitions = definitions;
  }

  definitions(): JsonObject {
    const named = [...this.#definitions].map(([defined, name]): [string, Json] => [
      name,
      "type" in defined ? this.object(defined, false) : this.#part(defined),
    ]);
    return Object.fromEntries(named);
  }

  object(shape: ObjectShape, nullable: boolean): JsonObject {
    const { parts, required, description } = shape;
    const properties = Object.entries(parts).map(([key, part]): [string, Json] => [
      key,
      this.#partOrReference(part),
    ]);
    return {
      ...(description === undefined ? {} : { description }),
      ...typed("object", nullable),
      properties: Object.fromEntries(properties),
      ...(required === undefined ? {} : { required }),
      ...OWN_KEYS_ALONE,
      ...(shape.branches === undefined ? {} : { allOf: branchSchemas(shape.branches) }),
    };
  }

  #partOrReference(part: ManifestPart): JsonObject {
    const name = this.#definitions.get(part);
    return name === undefined ? this.#part(part) : { $ref: `#/$defs/${name}` };
  }

  #part(part: ManifestPart): JsonObject {
    return {
      description: part.description,
      ...(part.default === undefined ? {} : { default: part.default }),
      ...(isHidden(part) ? { writeOnly: true } : {}),
      ...this.#shape(part.shape, { nullable: part.nullable ?? false, literal: part.literal ?? false }),
      ...(part.secret === true ? { pattern: ONLY_SECRETS } : {}),
    };
  }

  #shape(shape: ManifestShape, manner: Manner): JsonObject {
    if (shape.type === "list") return this.#list(shape, manner);
    if (shape.type === "map") return this.#map(shape, manner);
    if (shape.type !== "object") return leafSchema(shape, manner);
    const name = this.#definitions.get(shape);
    return name === undefined ? this.object(shape, manner.nullable) : { $ref: `#/$defs/${name}` };
  }

  #list(shape: ManifestShape & { readonly type: "list" }, { nullable, literal }: Manner): JsonObject {
    return {
      ...typed("array", nullable),
      items: this.#shape(shape.of, { nullable: false, literal }),
      ...(shape.unique === true ? { uniqueItems: true } : {}),
    };
  }

  #map(shape: MapShape, { nullable }: Manner): JsonObject {
    const value = this.#shape(shape.of, PLAIN);
    if (shape.keys === "logical")
      return {
        ...typed("object", nullable),
        patternProperties: { [MAP_KEY]: value, ...OWN_KEYS_ALONE.patternProperties },
        additionalProperties: false,
      };
    return {
      ...typed("object", nullable),
      patternProperties: { [ANY_KEY]: shape.sensitive === true ? { ...value, writeOnly: true } : value },
      additionalProperties: false,
    };
  }
}

/** Keys that begin with `x-` may be anywhere and hold anything: a place for YAML anchors. */
const OWN_KEYS_ALONE = { patternProperties: { "^x-": true }, additionalProperties: false };

/** What may not be there with each value of the deciding key, where that is written out. */
function branchSchemas(branches: Branches): JsonObject[] {
  return Object.keys(branches.of).map((value) => {
    const foreign = foreignKeys(branches, value).map((name) => [name, false] as const);
    return whereKey(branches.key, value, { properties: Object.fromEntries(foreign) });
  });
}

/**
 * What must be there with each value of the deciding key. It holds for the project's own `state` where there are no
 * stages, which could add what is missing.
 */
function requiredByBranch(section: string, { key, of }: Branches): JsonObject {
  const complete = Object.entries(of)
    .filter(([, { required }]) => required.length > 0)
    .map(([value, { required }]) => {
      const properties = Object.fromEntries(required.map((name) => [name, true]));
      return whereKey(key, value, { type: "object", properties, required });
    });
  return conditional({ properties: { stages: false } }, { properties: { [section]: { allOf: complete } } });
}

function whereKey(key: string, value: string, schema: JsonObject): JsonObject {
  return conditional({ type: "object", properties: { [key]: { const: value } }, required: [key] }, schema);
}

function conditional(condition: JsonObject, schema: JsonObject): JsonObject {
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  return { if: condition, then: schema };
}

type LeafShape = Exclude<ManifestShape, { readonly type: "list" | "map" | "object" }>;

function leafSchema(shape: LeafShape, manner: Manner): JsonObject {
  switch (shape.type) {
    case "string":
      return {
        ...typed("string", manner.nullable),
        ...(shape.minLength === undefined ? {} : { minLength: shape.minLength }),
      };
    case "url":
      return matching(URL_TEXT, manner);
    case "duration":
      return matching(DURATION, manner);
    case "rate":
      return matching(RATE, manner);
    case "key":
      return matching(LOGICAL_KEY, manner);
    case "uuid":
      return matching(UUID, manner);
    case "address":
      return matching(ADDRESS, manner);
    case "integer":
    case "number":
      return { ...converted(shape.type, manner), ...bounds(shape) };
    case "boolean":
      return converted(shape.type, manner);
    case "version":
      return { const: shape.version };
    case "enum":
      return enumSchema(shape.values, manner);
    case "scalar":
      return { type: ["string", "number", "boolean"] };
    case "json":
      return { ...typed("object", manner.nullable), ...JSON_MEMBERS };
    case "reference":
      return referenceSchema(shape.to, manner);
  }
}

function typed(type: string, nullable: boolean): JsonObject {
  return { type: nullable ? [type, "null"] : type };
}

function matching(pattern: string, { nullable, literal }: Manner): JsonObject {
  return { ...typed("string", nullable), pattern: literal ? pattern : `${pattern}|${INTERPOLATED}` };
}

/** A value that is no text, or a text that comes to one by interpolation. */
function converted(type: string, { nullable, literal }: Manner): JsonObject {
  if (literal) return typed(type, nullable);
  return { type: [type, "string", ...(nullable ? ["null"] : [])], pattern: INTERPOLATED };
}

function bounds({ minimum, maximum }: { readonly minimum?: number; readonly maximum?: number }): JsonObject {
  return { ...(minimum === undefined ? {} : { minimum }), ...(maximum === undefined ? {} : { maximum }) };
}

function enumSchema(values: readonly string[], { nullable, literal }: Manner): JsonObject {
  const listed: JsonObject = { enum: nullable ? [...values, null] : values };
  return literal ? listed : { anyOf: [listed, { type: "string", pattern: INTERPOLATED }] };
}

function referenceSchema(to: "environment" | "testCase", manner: Manner): JsonObject {
  const key = matching(LOGICAL_KEY, manner);
  if (to === "environment") return key;
  return {
    ...key,
    type: ["string", "object", ...(manner.nullable ? ["null"] : [])],
    properties: {
      description: {
        description: "Name on the service of a test case that is not managed here.",
        type: "string",
        minLength: 1,
      },
    },
    required: ["description"],
    additionalProperties: false,
  };
}

const JSON_MEMBERS: JsonObject = {
  patternProperties: { [ANY_KEY]: ANY_JSON },
  additionalProperties: false,
};

/** The recursive definition that `json` shapes refer to. */
const JSON_DEFINITION: JsonObject = {
  json: {
    type: ["object", "array", "string", "number", "boolean", "null"],
    items: ANY_JSON,
    ...JSON_MEMBERS,
  },
};
