import type { Json, JsonObject } from "../../model/json.ts";
import {
  ADDRESS,
  ANY_KEY,
  DURATION,
  INTERPOLATED,
  LOGICAL_KEY,
  ONLY_SECRETS,
  URL_TEXT,
  UUID,
} from "../shape/patterns.ts";
import type { ManifestPart, ManifestShape, MapShape, ObjectShape } from "../shape/shape.ts";
import { isHidden } from "../shape/shape.ts";

/**
 * JSON Schema from shapes. Each schema says what it wants with keywords of one type each, in one schema object, so
 * that a value breaks few of them and the message is about its mistake; `anyOf` stands only where an editor needs
 * an `enum` to complete from.
 */

/** What is defined once, under a name, and referred to wherever else it stands. */
export type Definitions = ReadonlyMap<ManifestPart | ObjectShape, string>;

/** The schema of a whole document; `more` are definitions that stand for no part. */
export function documentSchema(
  heading: { readonly $id: string; readonly title: string },
  root: ObjectShape,
  definitions: Definitions,
  more: JsonObject = {},
): JsonObject {
  const schemas = new Schemas(definitions);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    ...heading,
    ...schemas.object(root, false),
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
      additionalProperties: false,
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
    const key = shape.keys === "logical" ? LOGICAL_KEY : ANY_KEY;
    return {
      ...typed("object", nullable),
      patternProperties: { [key]: shape.sensitive === true ? { ...value, writeOnly: true } : value },
      additionalProperties: false,
    };
  }
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
        description: "Name on the service of a test case that nothing here manages.",
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
export const JSON_DEFINITION: JsonObject = {
  json: {
    type: ["object", "array", "string", "number", "boolean", "null"],
    items: ANY_JSON,
    ...JSON_MEMBERS,
  },
};
