import type { Shape } from "../../fields/field.ts";
import type { Path } from "../../model/json.ts";

/**
 * What values of a manifest look like: the shapes of the field table, and some more that only the rest of the
 * documents has. JSON Schema, conversion after interpolation and messages are all made from these.
 */
export type ManifestShape =
  | Exclude<Shape, { readonly type: "list" | "object" | "map" }>
  | { readonly type: "number"; readonly minimum?: number; readonly maximum?: number }
  /** `500ms`, `30s`, `2m`, `1h`. */
  | { readonly type: "duration" }
  /** A text, a number or a boolean. */
  | { readonly type: "scalar" }
  /** A logical key. */
  | { readonly type: "key" }
  | { readonly type: "uuid" }
  | { readonly type: "address" }
  /** This number and no other. */
  | { readonly type: "version"; readonly version: number }
  | { readonly type: "list"; readonly of: ManifestShape; readonly unique?: true }
  | MapShape
  | ObjectShape;

export interface MapShape {
  readonly type: "map";
  readonly of: ManifestShape;
  readonly sensitive?: true;
  /** Keys are logical keys; else they are any texts but JavaScript's own traps. */
  readonly keys?: "logical";
}

export interface ObjectShape {
  readonly type: "object";
  readonly parts: Parts;
  readonly required?: readonly string[];
  readonly description?: string;
}

export type Parts = Readonly<Record<string, ManifestPart>>;

export interface ManifestPart {
  readonly shape: ManifestShape;
  readonly nullable?: boolean;
  /** Its value comes from `${secret:…}` or `${file:…}` alone and never shows. */
  readonly secret?: true;
  /** It never shows, wherever it comes from. */
  readonly sensitive?: true;
  /** It shows wherever it is used, so that it cannot be a secret. */
  readonly open?: true;
  /** It must stand there as it is: it is read before anything is interpolated. */
  readonly literal?: true;
  /** What holds where it is left out; for documentation. */
  readonly default?: string | number;
  readonly description: string;
}

/** A part of which only the shape is known: an item of a list, an entry of a map. */
export function bare(shape: ManifestShape): ManifestPart {
  return { shape, description: "" };
}

const JSON_PART = bare({ type: "json" });
/** The description in a reference's `{ description: … }`. */
const NAME_PART = bare({ type: "string", minLength: 1 });

/** What stands at an index of a part's list. */
export function itemOf({ shape, open }: ManifestPart): ManifestPart {
  if (shape.type !== "list") return JSON_PART;
  return open === true ? { ...bare(shape.of), open } : bare(shape.of);
}

/** What stands under a key of a part's map; `undefined` where there is no such key, or none that we know of. */
export function entryOf({ shape }: ManifestPart, key: string): ManifestPart | undefined {
  if (shape.type === "object") return Object.hasOwn(shape.parts, key) ? shape.parts[key] : undefined;
  if (shape.type === "map")
    return shape.sensitive === true ? { ...bare(shape.of), sensitive: true } : bare(shape.of);
  return shape.type === "reference" && key === "description" ? NAME_PART : undefined;
}

/** The parts along a path, the root first; it ends early where the shapes know no further. */
export function partsAlong(root: ManifestPart, path: Path): readonly ManifestPart[] {
  const parts = [root];
  for (const step of path) {
    const last = parts.at(-1) ?? root;
    const next = typeof step === "number" ? itemOf(last) : entryOf(last, step);
    if (next === undefined) break;
    parts.push(next);
  }
  return parts;
}

/** Whether the whole of it must not show. */
export function isHidden(part: ManifestPart): boolean {
  return part.secret === true || part.sensitive === true;
}

/** Whether it, or anything in it, must not show, whatever it is made of. */
export function holdsHidden(part: ManifestPart): boolean {
  return isHidden(part) || shapeHoldsHidden(part.shape);
}

function shapeHoldsHidden(shape: ManifestShape): boolean {
  if (shape.type === "list") return shapeHoldsHidden(shape.of);
  if (shape.type === "map") return shape.sensitive === true || shapeHoldsHidden(shape.of);
  return shape.type === "object" && Object.values(shape.parts).some(holdsHidden);
}
