import { isObject } from "../../model/json.ts";
import type { JsonObject, Path } from "../../model/json.ts";
import type { Document } from "../document.ts";
import type { ManifestProblem } from "../problem.ts";
import type { ManifestPart } from "../shape/shape.ts";
import type { FoundTemplate } from "../template/find.ts";

/** What can be said of one document alone, for all its stages at once. */
export interface DocumentSubject {
  readonly document: Document;
  /** What the tables say of the whole document. */
  readonly root: ManifestPart;
  readonly templates: readonly FoundTemplate[];
  /** The project's stages; `undefined` where they are not known. */
  readonly stages: readonly string[] | undefined;
}

export interface DocumentLayer {
  readonly path: Path;
  readonly value: JsonObject;
}

export type DocumentRule = (subject: DocumentSubject) => readonly ManifestProblem[];

/** The document itself, and its overrides for each stage: maps with the same keys. */
export function documentLayers({ value }: Document): readonly DocumentLayer[] {
  const layers: DocumentLayer[] = [{ path: [], value }];
  if (isObject(value.stages))
    for (const [stage, override] of Object.entries(value.stages))
      if (isObject(override)) layers.push({ path: ["stages", stage], value: override });
  return layers;
}
