import { shortened } from "../manifest/problem.ts";
import { ANY_KEY, type ManifestShape, bare, convert, entryOf } from "../manifest/shape.ts";
import type { Field } from "../model/fields.ts";
import { type Json, isArray, isObject } from "../model/json.ts";
import type { LiveResource } from "../model/live.ts";
import { liveInWords } from "../plan/compare.ts";
import type { SecretFields } from "../plan/memory.ts";
import { escaped } from "./manifests.ts";

/** Options that decide how a live value is declared. */
export interface DeclareOptions {
  readonly elements: boolean;
  /** Whether a value repeats a secret, which no file may show. */
  readonly holdsSecret: (value: Json) => boolean;
  /** Fields whose last written value was a secret. */
  readonly secrets: SecretFields;
  /** Fields that defaults would set if they were left out. */
  readonly defaults: Pick<ReadonlyMap<string, unknown>, "has">;
  readonly folderName?: (id: string) => string | undefined;
}

/** Declares all that the API returns of a resource, except references to other resources. */
export function declareFields(rows: readonly Field[], live: LiveResource, options: DeclareOptions) {
  const notes: string[] = [];
  const fields: Record<string, Json> = {};
  for (const row of rows) {
    const { value, note } = declare(row, live, options);
    if (value !== undefined) fields[row.name] = value;
    if (note !== undefined) notes.push(`${row.name}: ${note}`);
  }
  return { fields, notes };
}

/**
 * Returns a field's value in the manifest, or a note that explains why it is missing, or neither.
 */
function declare(
  row: Field,
  live: LiveResource,
  { elements, defaults, folderName = () => undefined, holdsSecret, secrets }: DeclareOptions,
): { readonly value?: Json | undefined; readonly note?: string } {
  const isElements = row.compare === "elements";
  const reading = liveInWords(row, live, folderName);
  // Folders without a name are reported once for all of their test cases.
  if (row.shape.type === "reference" || reading.kind !== "shown" || (isElements && !elements))
    return {};
  const shown = reading.value;
  const value = isDeclarable(row.shape, shown) ? escaped(shown) : undefined;
  // A fixed value that a creation does not accept gets no note, because it is not a choice that
  // somebody made.
  if (row.update === undefined) return { value };
  // A missing value is left out, unless a default would then replace it.
  if (isNothing(shown))
    return defaults.has(row.name) && (isArray(shown) || row.nullable) ? { value: shown } : {};
  if (secrets.get(live.id)?.includes(row.name) === true)
    return {
      note: "a secret was written to it last, which the live value may still hold, so it is not written here.",
    };
  if (holdsSecret(shown)) {
    const [repeats, is] = isElements ? ["they repeat", "they are"] : ["it repeats", "it is"];
    return { note: `${repeats} the value of a secret, so ${is} not written here.` };
  }
  if (value !== undefined) return { value };
  if (isElements) return { note: "a manifest cannot declare all that they hold." };
  return {
    note: `the service has ${shortened(JSON.stringify(shown))}, which a manifest cannot declare.`,
  };
}

export function isNothing(value: Json): boolean {
  return value === null || (isArray(value) && value.length === 0);
}

const IS_KEY = new RegExp(ANY_KEY, "u");

/**
 * Maximum nesting of a value: our YAML nests a hundred levels at most, and some of them are above
 * the value.
 */
const DEEPEST = 80;

/** Whether a manifest can declare a live value of this shape. */
export function isDeclarable(shape: ManifestShape, live: Json): boolean {
  const { type } = shape;
  if (type === "list") return isArray(live) && live.every((item) => isDeclarable(shape.of, item));
  if (type === "json") return isObject(live) && isDeclarableJson(live, 0);
  if (type === "object" || type === "map")
    return (
      isObject(live) &&
      (type === "map" || (shape.required ?? []).every((key) => Object.hasOwn(live, key))) &&
      Object.entries(live).every(([key, value]) => {
        const part = IS_KEY.test(key) ? entryOf(bare(shape), key) : undefined;
        return part !== undefined && isDeclarable(part.shape, value);
      })
    );
  if (type === "boolean") return typeof live === "boolean";
  if (type === "integer") return typeof live === "number" && convert(shape, live) !== undefined;
  return typeof live === "string" && (type === "reference" || convert(shape, live) !== undefined);
}

function isDeclarableJson(live: Json, depth: number): boolean {
  if (depth > DEEPEST) return false;
  if (isArray(live)) return live.every((item) => isDeclarableJson(item, depth + 1));
  if (!isObject(live)) return true;
  return Object.entries(live).every(
    ([key, value]) => IS_KEY.test(key) && isDeclarableJson(value, depth + 1),
  );
}
