import type { Kind } from "../../model/address.ts";
import { originOf, resourcesOf } from "../../model/desired.ts";
import type { DesiredResource, DesiredTarget } from "../../model/desired.ts";
import type { Path } from "../../model/json.ts";
import type { Value } from "../../model/value.ts";
import { manifestError } from "../problem.ts";
import type { ManifestProblem } from "../problem.ts";
import { SECTIONS } from "../tables/kinds.ts";
import type { FieldRow } from "../tables/kinds.ts";

/** A resolved target, and what several rules look at in it. */
export interface TargetSubject {
  readonly target: DesiredTarget;
  readonly references: readonly Reference[];
}

/** A field of a resource that names another one. */
export interface Reference {
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

function referencesIn(target: DesiredTarget): readonly Reference[] {
  const references: Reference[] = [];
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
  return [manifestError(code, origin, summary, detail, { ...extras, address: resource.address })];
}
