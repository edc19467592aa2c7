import { parseDuration } from "./duration.ts";
import { ADDRESS, LOGICAL_KEY, URL_TEXT, UUID } from "./patterns.ts";
import type { ManifestShape } from "./shape.ts";

export type Scalar = string | number | boolean;

const INTEGER = /^[-+]?[0-9]+$/;
const NUMBER = /^[-+]?[0-9]+(?:\.[0-9]+)?$/;
const IS_KEY = new RegExp(LOGICAL_KEY, "u");
const IS_URL = new RegExp(URL_TEXT, "u");
const IS_UUID = new RegExp(UUID, "u");
const IS_ADDRESS = new RegExp(ADDRESS, "u");

/**
 * What an interpolated value is in a place of this shape: `"10"` in an integer's place is 10. `undefined` where it
 * does not fit. Values that stand in the manifest as they are never come here; JSON Schema has checked them.
 */
export function convert(shape: ManifestShape, value: Scalar): Scalar | undefined {
  const text = String(value);
  switch (shape.type) {
    case "string":
      return text.length >= (shape.minLength ?? 0) ? text : undefined;
    case "url":
      return IS_URL.test(text) && URL.canParse(text) ? text : undefined;
    case "integer":
      return inside(INTEGER.test(text) ? Number(text) : Number.NaN, shape, Number.isSafeInteger);
    case "number":
      return inside(NUMBER.test(text) ? Number(text) : Number.NaN, shape, Number.isFinite);
    case "version":
      return Number(text) === shape.version ? shape.version : undefined;
    case "boolean":
      return text === "true" ? true : text === "false" ? false : undefined;
    case "enum":
      return shape.values.includes(text) ? text : undefined;
    case "duration":
      return parseDuration(text) === undefined ? undefined : text;
    case "reference":
    case "key":
      return IS_KEY.test(text) ? text : undefined;
    case "uuid":
      return IS_UUID.test(text) ? text : undefined;
    case "address":
      return IS_ADDRESS.test(text) ? text : undefined;
    case "scalar":
    case "json":
      return value;
    case "list":
    case "object":
    case "map":
      return undefined;
  }
}

function inside(
  number: number,
  { minimum = -Infinity, maximum = Infinity }: { readonly minimum?: number; readonly maximum?: number },
  holds: (number: number) => boolean,
): number | undefined {
  return holds(number) && number >= minimum && number <= maximum ? number : undefined;
}
