import type { Json, Path } from "../model/json.ts";
import type { LiveElement } from "../model/live.ts";

/**
 * The field table. Each row is all that tasc knows of one manifest field; validation, JSON Schema, diff,
 * lowering, redaction, import, promotion and the reference read it here and nowhere else.
 */

/** What a value may look like, apart from null. */
export type Shape =
  | { readonly type: "string"; readonly minLength?: number }
  | { readonly type: "url" }
  | { readonly type: "integer"; readonly minimum?: number }
  | { readonly type: "boolean" }
  | { readonly type: "enum"; readonly values: readonly string[] }
  | { readonly type: "list"; readonly of: Shape; readonly unique?: true }
  | {
      readonly type: "object";
      readonly parts: Readonly<Record<string, Part>>;
      readonly required?: readonly string[];
    }
  /** A map with keys of the user's own choice. */
  | { readonly type: "map"; readonly of: Shape; readonly sensitive?: true }
  /** Any JSON object; service-api.md does not show more. */
  | { readonly type: "json" }
  /** A key of the same target, or `{ description }` of a test case that nothing here manages. */
  | { readonly type: "reference"; readonly to: "environment" | "testCase" };

/** A part of an object-shaped field. */
export interface Part {
  readonly shape: Shape;
  readonly nullable?: true;
  /** Its value comes from `${secret:…}` or `${file:…}` alone and never shows. */
  readonly secret?: true;
  readonly description: string;
}

/**
 * How a field's live value is known.
 * - readable: `read` gives it; `undefined` means that the answer did not show it, and then the field counts as
 *   write-only for that resource.
 * - indirect: written by name, read as an id (folders).
 * - writeOnly: never shown; known by the fingerprint of the last write.
 * - fixed: set at creation and never again; a difference is worth a warning where `read` gives a value.
 */
export type Behaviour<L> =
  | { readonly kind: "readable"; readonly read: (live: L) => Json | undefined; readonly compare: Compare }
  /** Compared by position, part by part as declared. */
  | { readonly kind: "elements"; readonly read: (live: L) => readonly LiveElement[] }
  | { readonly kind: "indirect"; readonly readId: (live: L) => string | null }
  | { readonly kind: "writeOnly" }
  | { readonly kind: "fixed"; readonly read: (live: L) => Json | undefined };

/** What counts as equal: the same data, the same address, the same members. */
export type Compare = "plain" | "url" | "set";

export interface Field<L> {
  /** The dotted path in the manifest; also the name under which state keeps its record. */
  readonly name: string;
  readonly path: Path;
  readonly shape: Shape;
  /** Whether the interface lets a PATCH set it to null. */
  readonly nullable: boolean;
  readonly behaviour: Behaviour<L>;
  /** Key in the body of the creating POST, where that carries the field. */
  readonly create?: string;
  /** Key in the body of a PATCH. */
  readonly update?: string;
  /** Whether `promote` carries it from stage to stage (design contract, section 7). */
  readonly promoted?: true;
  /** Whether the service generates anew when it is written. */
  readonly generates?: true;
  readonly description: string;
}

/** A row from what is particular about it. */
export function field<L>(
  name: string,
  row: Omit<Field<L>, "name" | "path" | "nullable"> & { readonly nullable?: true },
): Field<L> {
  return { ...row, name, path: name.split("."), nullable: row.nullable ?? false };
}

export function readable<L>(read: (live: L) => Json | undefined, compare: Compare = "plain"): Behaviour<L> {
  return { kind: "readable", read, compare };
}

export const TEXT: Shape = { type: "string" };
export const NAME: Shape = { type: "string", minLength: 1 };
export const URL_TEXT: Shape = { type: "url" };
