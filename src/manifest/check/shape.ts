import type { Path } from "../../model/json.ts";
import type { Document } from "../document.ts";
import type { ManifestProblem } from "../problem.ts";
import type { ManifestPart } from "../shape/shape.ts";
import { SECTIONS, TARGET_KEYS } from "../tables/kinds.ts";
import { PROJECT } from "../tables/project.ts";
import { TARGET_DOCUMENT } from "../tables/target.ts";
import type { SchemaFinding } from "../schema/validator.ts";
import { explainFindings } from "./explain.ts";
import { nearest } from "../nearest.ts";
import { withoutAll } from "../pointer.ts";

export interface CheckedDocument {
  /** Without what is wrong in it, so that the rest can be checked in the same run. */
  readonly document: Document;
  readonly problems: readonly ManifestProblem[];
  /** What went with the wrong is more than a field, so that references to what is not there prove nothing. */
  readonly lossy: boolean;
}

const PROJECT_PART: ManifestPart = { shape: PROJECT, description: "" };
const TARGET_PART: ManifestPart = { shape: TARGET_DOCUMENT, description: "" };

/** The mistakes behind what JSON Schema found in a document, and what is left of it without them. */
export function explainShape(
  kind: "project" | "target",
  document: Document,
  findings: readonly SchemaFinding[],
): CheckedDocument {
  const [root, isLoss] = kind === "project" ? [PROJECT_PART, isLossOfStages] : [TARGET_PART, isLossOfResources];
  const mistakes = explainFindings(document.file, document.value, root, findings);
  const spoilt = mistakes.flatMap((mistake) => (mistake.spoilt === undefined ? [] : [mistake.spoilt]));
  return {
    document: { ...document, value: withoutAll(document.value, spoilt) },
    problems: mistakes.map(({ problem }) => problem),
    lossy: mistakes.some(({ spoilt: path, problem }) => isLoss(path ?? problem.origin.path)),
  };
}

/** Whether stages, or the patterns of manifests, went with what was at a path. */
function isLossOfStages(path: Path): boolean {
  const [first] = path;
  if (first === undefined) return false;
  if (path.length === 1) return nearest(String(first), CHOOSING) !== undefined;
  return first === "manifests" || (first === "stages" && path.length === 2);
}

/** Keys that decide on stages and files; a misspelt one was meant to. */
const CHOOSING = ["manifests", "stages", "defaultStage"];

/** Whether a resource, or more, went with what was at a path. */
function isLossOfResources(path: Path): boolean {
  const inside = path[0] === "stages" ? path.slice(2) : path;
  const [first] = inside;
  if (inside.length > 1) return inside.length === 2 && SECTIONS.some(({ name }) => name === first);
  return !FIELDS_OF_TARGETS.has(String(first));
}

const FIELDS_OF_TARGETS: ReadonlySet<string> = new Set([...TARGET_KEYS, "defaults", "moved"]);
