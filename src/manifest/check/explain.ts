import type { JsonObject, Path } from "../../model/json.ts";
import { nearest } from "../nearest.ts";
import type { ManifestProblem } from "../problem.ts";
import type { SchemaFinding } from "../schema/validator.ts";
import { partsAlong } from "../shape/shape.ts";
import type { ManifestPart } from "../shape/shape.ts";
import { explainKey, explainMissing } from "./explain-key.ts";
import { explainValue } from "./explain-value.ts";
import { pathOf, valueAt } from "../pointer.ts";
import { knownKeys } from "./site.ts";
import type { Site } from "./site.ts";

/** A mistake in the shape of a document. */
export interface Mistake {
  readonly problem: ManifestProblem;
  /** What of the document cannot be used because of it; nothing where something is missing. */
  readonly spoilt: Path | undefined;
}

/**
 * The mistakes behind what JSON Schema found: one for each key that may not be there, each that is missing and
 * each value that does not fit, however many keywords it breaks.
 */
export function explainFindings(
  file: string,
  document: JsonObject,
  root: ManifestPart,
  findings: readonly SchemaFinding[],
): readonly Mistake[] {
  const bySite = new Map<string, SchemaFinding[]>();
  for (const finding of findings)
    bySite.set(finding.instancePath, [...(bySite.get(finding.instancePath) ?? []), finding]);
  return [...bySite].flatMap(([pointer, found]) => {
    const path = pathOf(pointer, document);
    return explainSite({ file, path, value: valueAt(document, path), parts: partsAlong(root, path) }, found);
  });
}

function explainSite(site: Site, findings: readonly SchemaFinding[]): Mistake[] {
  const strange = namesIn(findings, "additionalProperties", "additionalProperty");
  // Who misspelt a key that must be there has made one mistake, not two.
  const meant = new Set(strange.map((key) => nearest(key, knownKeys(site))));
  const missing = namesIn(findings, "required", "missingProperty").filter((key) => !meant.has(key));
  const unfit = findings.some(({ keyword }) => keyword !== "additionalProperties" && keyword !== "required");
  return [
    ...strange.map((key) => ({ problem: explainKey(site, key), spoilt: [...site.path, key] })),
    ...missing.map((key) => ({ problem: explainMissing(site, key), spoilt: undefined })),
    ...(unfit ? [{ problem: explainValue(site), spoilt: site.path }] : []),
  ];
}

function namesIn(findings: readonly SchemaFinding[], keyword: string, parameter: string): string[] {
  return findings
    .filter((finding) => finding.keyword === keyword)
    .map(({ params }) => params[parameter])
    .filter((name) => typeof name === "string");
}
