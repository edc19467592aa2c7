import { listWords } from "../words.ts";
import type { ManifestPart, ManifestShape } from "./shape.ts";

/** What a part allows, in words that follow "must be". */
export function allowedIn({ shape, nullable, literal }: ManifestPart): string {
  const words = allowed(shape);
  const interpolation =
    literal !== true && isConverted(shape) ? ", or an interpolation that comes to one" : "";
  return `${words}${nullable === true ? ", or null" : ""}${interpolation}`;
}

/** What a shape allows, in words that follow "must be". */
export function allowed(shape: ManifestShape): string {
  switch (shape.type) {
    case "string":
      return (shape.minLength ?? 0) > 0 ? "a text that is not empty" : "a text";
    case "url":
      return "a URL such as `https://shop.example.com`";
    case "integer":
      return `an integer${bounds(shape.minimum)}`;
    case "number":
      return `a number${bounds(shape.minimum, shape.maximum)}`;
    case "version":
      return String(shape.version);
    case "boolean":
      return "`true` or `false`";
    case "enum":
      return `${shape.values.length > 1 ? "one of " : ""}${listWords(shape.values, "or")}`;
    case "duration":
      return "a duration of up to a day, such as `500ms`, `30s` or `2m`";
    case "scalar":
      return "a text, a number or a boolean";
    case "key":
      return "a key: letters, digits, `_` and `-`, the first a letter or a digit";
    case "uuid":
      return "a UUID such as `6f1d8c1e-0b7a-4c55-9a3e-2f2b8f0c9d11`";
    case "address":
      return "an address such as `testCase.shop.login`";
    case "list":
      return "a list";
    case "object":
    case "map":
    case "json":
      return "a map";
    case "reference":
      return shape.to === "environment"
        ? "the key of an environment of the same target"
        : "the key of a test case of the same target, or `{ description: … }` of one that is not managed here";
  }
}

function bounds(minimum: number | undefined, maximum?: number): string {
  if (minimum === undefined) return "";
  return maximum === undefined ? ` of at least ${minimum}` : ` from ${minimum} to ${maximum}`;
}

/** Whether a text in its place is an interpolation or a mistake. */
function isConverted({ type }: ManifestShape): boolean {
  return type === "integer" || type === "number" || type === "boolean" || type === "enum";
}
