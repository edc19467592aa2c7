import type { Json, Path } from "../../model/json.ts";
import { bare, holdsHidden, isHidden } from "../shape/shape.ts";
import type { ManifestPart } from "../shape/shape.ts";

/** Where a mistake is, in the document and in the tables. */
export interface Site {
  readonly file: string;
  readonly path: Path;
  readonly value: Json | undefined;
  /** From the root to the value, as far as the tables know. */
  readonly parts: readonly ManifestPart[];
}

const UNKNOWN_PART = bare({ type: "json" });

/** What the tables say of the value. */
export function partAt({ path, parts }: Site): ManifestPart {
  return parts[path.length] ?? UNKNOWN_PART;
}

/** Whether the value may be repeated in a message: nothing in it, and nothing that it is in, is to be hidden. */
export function mayShow(site: Site): boolean {
  return !site.parts.some(isHidden) && !holdsHidden(partAt(site));
}

/** The keys that may stand at a site; none where they are the user's own. */
export function knownKeys(site: Site): readonly string[] {
  const { shape } = partAt(site);
  if (shape.type === "object") return Object.keys(shape.parts);
  return shape.type === "reference" ? ["description"] : [];
}
