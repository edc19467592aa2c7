import type { Kind } from "../../model/address.ts";
import { type DesiredResource, type DesiredTarget, originOf, resourcesOf } from "../../model/desired.ts";
import { type Json, type JsonObject, type Path, isObject } from "../../model/json.ts";
import type { Value } from "../../model/value.ts";
import { type Document } from "../document.ts";
import { type ManifestProblem, manifestProblem } from "../problem.ts";
import type { FoundTemplate } from "../interpolation.ts";
import { type ManifestPart, bare, holdsHidden, isHidden } from "../shape.ts";
import { type FieldRow, SECTIONS } from "../tables.ts";

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
export function documentLayers({ root, value }: Document): readonly DocumentLayer[] {
  const layers: DocumentLayer[] = [{ path: root, value }];
  if (isObject(value.stages))
    for (const [stage, override] of Object.entries(value.stages))
      if (isObject(override)) layers.push({ path: [...root, "stages", stage], value: override });
  return layers;
}

/** A resolved target, and what several rules look at in it. */
export interface TargetSubject {
  readonly target: DesiredTarget;
  readonly references: readonly DocumentReference[];
}

/** A field of a resource that names another one. */
export interface DocumentReference {
  readonly from: DesiredResource;
  readonly to: "environment" | "testCase";
  readonly path: Path;
  readonly value: Value;
}

export type TargetRule = (subject: TargetSubject) => readonly ManifestProblem[];

export function subjectOf(target: DesiredTarget): TargetSubject {
  return { target, references: referencesIn(target) };
}

/** The fields that refer to other resources, as the field table has them. */
const REFERRING = new Map<Kind, readonly FieldRow[]>(
  SECTIONS.map(({ kind, fields }) => [kind, fields.filter(({ shape }) => shape.type === "reference")]),
);

function referencesIn(target: DesiredTarget): readonly DocumentReference[] {
  const references: DocumentReference[] = [];
  for (const from of resourcesOf(target))
    for (const { name, path, shape } of REFERRING.get(from.kind) ?? []) {
      const value = from.fields[name];
      if (value !== undefined && value !== null && shape.type === "reference")
        references.push({ from, to: shape.to, path, value });
    }
  return references;
}

/** An error about a resource, or about one of its fields. */
export function errorAbout(
  resource: DesiredResource,
  field: Path,
  code: string,
  summary: string,
  detail: string,
  extras: Pick<ManifestProblem, "related" | "at"> = {},
): ManifestProblem[] {
  const origin = originOf(resource, field);
  if (origin === undefined) return [];
  return [manifestProblem(code, origin, summary, detail, { ...extras, address: resource.address })];
}

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
