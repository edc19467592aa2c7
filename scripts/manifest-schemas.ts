import { readFileSync } from "node:fs";
import { type Json, type JsonObject, isObject, parseJson } from "../src/model/json.ts";
import {
  ANY_KEY,
  LOGICAL_KEY,
  type ManifestPart,
  type ManifestShape,
  type MapShape,
  type Branches,
  type ObjectShape,
  type Parts,
  TEXTS,
  foreignKeys,
  isHidden,
  isTextual,
} from "../src/manifest/shape.ts";
import {
  OVERRIDABLE,
  PROJECT,
  SECTIONS,
  STATE_BRANCHES,
  TARGET_DOCUMENT,
  TARGET_KEYS,
} from "../src/manifest/tables.ts";

/** A key of a map with keys of the user; keys that begin with `x-` are ignored. */
const MAP_KEY = LOGICAL_KEY.replace("^", "^(?!x-)");

/** Matches an interpolation, whose value is not known yet. */
const INTERPOLATED = "\\$\\{";

/** Matches only secrets, files and variables, all of which may contain secrets. */
const ONLY_SECRETS = "^(?:\\$\\{(?:secret|file|var):[^}]*\\})+$";

/** All documents that have a schema and a validator. The schema of a plan is written by hand. */
export const SCHEMA_NAMES = ["project", "target", "plan"] as const;
export type SchemaName = (typeof SCHEMA_NAMES)[number];

/**
 * The address of a schema, where editors and SchemaStore find it: the file of the newest release of
 * this major version. The local name stays in the comment.
 */
function addressOf(name: string): { readonly $id: string; readonly $comment: string } {
  const $id = `https://raw.githubusercontent.com/tasc-cli/tasc/v2/schemas/${name}.schema.json`;
  return { $id, $comment: `urn:tasc:schema:${name}:1` };
}

/** A document's JSON Schema, made from the tables. Must run in the root of the repository. */
export function schemaOf(name: SchemaName): JsonObject {
  switch (name) {
    case "project":
      return documentSchema(
        { ...addressOf("project"), title: "tasc project file" },
        PROJECT,
        projectDefinitions(),
        { definitions: JSON_DEFINITION, allOf: [requiredByBranch("state", STATE_BRANCHES)] },
      );
    case "target":
      return documentSchema(
        { ...addressOf("target"), title: "tasc target document" },
        TARGET_DOCUMENT,
        targetDefinitions(),
        { definitions: JSON_DEFINITION },
      );
    case "plan": {
      const plan = parseJson(readFileSync("schemas/plan.schema.json", "utf8"));
      if (!isObject(plan)) throw new Error("a schema is an object");
      return plan;
    }
  }
}

/**
 * JSON Schema from shapes. Each schema uses keywords of one type each, in one schema object, so
 * that a value breaks few of them and the message names the actual mistake. `anyOf` is only used if
 * an editor needs an `enum` for completion.
 */

/** The parts that are defined once, under a name, and referenced everywhere else. */
type Definitions = ReadonlyMap<ManifestPart | ObjectShape, string>;

function projectDefinitions(): Definitions {
  const defaults = objectIn(OVERRIDABLE, "defaults");
  return new Map<ManifestPart | ObjectShape, string>([
    [OVERRIDABLE, "stage"],
    ...Object.entries(OVERRIDABLE.parts).map(([key, part]) => [part, key] as const),
    ...SECTIONS.flatMap(({ kind, name }) => named(kind, objectIn(defaults, name).parts)),
  ]);
}

/** For documents, overrides and defaults. */
function targetDefinitions(): Definitions {
  const defaults = objectIn(TARGET_DOCUMENT, "defaults");
  const { parts } = TARGET_DOCUMENT;
  const own = Object.entries(parts).filter(([key]) => TARGET_KEYS.includes(key));
  return new Map<ManifestPart | ObjectShape, string>([
    [itemsIn(TARGET_DOCUMENT, "stages"), "stage"],
    [partIn(TARGET_DOCUMENT, "defaults"), "defaults"],
    [itemsIn(TARGET_DOCUMENT, "moved"), "move"],
    ...named("target", Object.fromEntries(own)),
    ...SECTIONS.flatMap(({ kind, name }): [ManifestPart | ObjectShape, string][] => [
      [partIn(TARGET_DOCUMENT, name), name],
      [itemsIn(TARGET_DOCUMENT, name), kind],
      ...named(kind, objectIn(defaults, name).parts),
    ]),
  ]);
}

function named(kind: string, parts: Parts): [ManifestPart, string][] {
  return Object.entries(parts).map(([key, part]) => [part, `${kind}.${key}`]);
}

function partIn({ parts }: ObjectShape, key: string): ManifestPart {
  const part = parts[key];
  if (part === undefined) throw new Error(`there is no ${key}`);
  return part;
}

function objectIn(object: ObjectShape, key: string): ObjectShape {
  return asObject(partIn(object, key).shape);
}

/** The items of a list or a map. */
function itemsIn(object: ObjectShape, key: string): ObjectShape {
  const { shape } = partIn(object, key);
  return asObject(shape.type === "map" || shape.type === "list" ? shape.of : shape);
}

function asObject(shape: ManifestShape): ObjectShape {
  if (shape.type !== "object") throw new Error(`${shape.type} is not an object`);
  return shape;
}

/** The schema of a whole document; the extra `definitions` do not belong to any part. */
function documentSchema(
  heading: { readonly $id: string; readonly $comment: string; readonly title: string },
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

/** The rules for a part at its place, apart from its shape. */
interface Manner {
  readonly nullable: boolean;
  /** Allows no interpolation. */
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
      { ...this.#partOrReference(part), ...exampleOf(key, part) },
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
      ...this.#shape(part.shape, {
        nullable: part.nullable ?? false,
        literal: part.literal ?? false,
      }),
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

  #list(
    shape: ManifestShape & { readonly type: "list" },
    { nullable, literal }: Manner,
  ): JsonObject {
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
      patternProperties: {
        [ANY_KEY]: shape.sensitive === true ? { ...value, writeOnly: true } : value,
      },
      additionalProperties: false,
    };
  }
}

/**
 * Examples that editors show on hover and offer as values, by the key.
 */
const EXAMPLES: Readonly<Record<string, Json>> = {
  apiKey: "${secret:TASC_API_KEY}",
  app: "Web Shop (${stage})",
  baseUrl: "${env:TASC_BASE_URL:-http://127.0.0.1:4010}",
  discoveryUrl: "https://${var:host}",
  entryPointUrlPath: "/login",
  externalId: "SHOP-1",
  folder: "Authentication",
  locatorLine: "getByRole('heading', { name: 'Cart' })",
  moved: [{ from: "testCase.shop.old-login", to: "testCase.shop.login" }],
  onlyStages: ["staging"],
  passedIn: { stage: "staging", passes: 1, soak: "0s" },
  password: "${secret:QA_PASSWORD}",
  prerequisite: "cookie-banner",
  privateLocationName: "berlin",
  prompt: "Log in as the test account and check the greeting.",
  protected: ["testCase.shop.checkout-*"],
  quarantine: { until: "2026-12-15", reason: "Fails at night.", issue: "SHOP-7" },
  removed: [{ address: "testCase.shop.old-login" }],
  requestTimeout: "30s",
  tags: ["smoke", "auth"],
  testIdAttribute: "data-testid",
  timeoutPerStep: 10_000,
  vars: { host: "staging.shop.example.com" },
};

/** The policy, for one, has a `quarantine` with other keys than that of a test case. */
function exampleOf(key: string, { shape }: ManifestPart): JsonObject {
  const example = EXAMPLES[key];
  if (example === undefined) return {};
  const keys = isObject(example) ? Object.keys(example) : [];
  const isOther = shape.type === "object" && keys.some((one) => !(one in shape.parts));
  return isOther ? {} : { examples: [example] };
}

/** Keys that begin with `x-` may be anywhere and have any value: a place for YAML anchors. */
const OWN_KEYS_ALONE = { patternProperties: { "^x-": true }, additionalProperties: false };

/** The keys that are not allowed with each value of the deciding key, if that is written out. */
function branchSchemas(branches: Branches): JsonObject[] {
  return Object.keys(branches.of).map((value) => {
    const foreign = foreignKeys(branches, value).map((name) => [name, false] as const);
    return whereKey(branches.key, value, { properties: Object.fromEntries(foreign) });
  });
}

/**
 * The keys that are required with each value of the deciding key. Applies to the project's own
 * `state` only if there are no stages, because a stage could add missing keys.
 */
function requiredByBranch(section: string, { key, required }: Branches): JsonObject {
  const complete = Object.entries(required).map(([value, names]) => {
    const properties = Object.fromEntries(names.map((name) => [name, true]));
    return whereKey(key, value, { type: "object", properties, required: names });
  });
  return conditional(
    { properties: { stages: false } },
    { properties: { [section]: { allOf: complete } } },
  );
}

function whereKey(key: string, value: string, schema: JsonObject): JsonObject {
  return conditional(
    { type: "object", properties: { [key]: { const: value } }, required: [key] },
    schema,
  );
}

function conditional(condition: JsonObject, schema: JsonObject): JsonObject {
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  return { if: condition, then: schema };
}

type LeafShape = Exclude<ManifestShape, { readonly type: "list" | "map" | "object" }>;

function leafSchema(shape: LeafShape, manner: Manner): JsonObject {
  if (isTextual(shape)) return matching(TEXTS[shape.type].pattern, manner);
  switch (shape.type) {
    case "string":
      return {
        ...typed("string", manner.nullable),
        ...(shape.minLength === undefined ? {} : { minLength: shape.minLength }),
      };
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
  return {
    ...typed("string", nullable),
    pattern: literal ? pattern : `${pattern}|${INTERPOLATED}`,
  };
}

/** A value that is not a text, or a text that becomes one by interpolation. */
function converted(type: string, { nullable, literal }: Manner): JsonObject {
  if (literal) return typed(type, nullable);
  return { type: [type, "string", ...(nullable ? ["null"] : [])], pattern: INTERPOLATED };
}

function bounds({
  minimum,
  maximum,
}: {
  readonly minimum?: number;
  readonly maximum?: number;
}): JsonObject {
  return {
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
  };
}

function enumSchema(values: readonly string[], { nullable, literal }: Manner): JsonObject {
  const listed: JsonObject = { enum: nullable ? [...values, null] : values };
  return literal ? listed : { anyOf: [listed, { type: "string", pattern: INTERPOLATED }] };
}

function referenceSchema(to: "environment" | "testCase", manner: Manner): JsonObject {
  const key = matching(TEXTS.key.pattern, manner);
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
