import type { Document } from "../document.ts";
import type { ManifestProblem } from "../problem.ts";
import type { FoundTemplate } from "../interpolation.ts";
import { bare } from "../shape.ts";
import { PROJECT, TARGET_DOCUMENT } from "../tables.ts";
import {
  credentialsAreSecrets,
  elementsHaveOneLocator,
  placeholdersAreKnown,
  protectedGlobsAreGlobs,
  stagesAreKnown,
} from "./rules.ts";
import type { DocumentRule } from "./subject.ts";

const PROJECT_RULES: readonly DocumentRule[] = [
  placeholdersAreKnown,
  credentialsAreSecrets,
  protectedGlobsAreGlobs,
];

const TARGET_RULES: readonly DocumentRule[] = [
  placeholdersAreKnown,
  credentialsAreSecrets,
  stagesAreKnown,
  elementsHaveOneLocator,
];

const PROJECT_ROOT = bare(PROJECT);
const TARGET_ROOT = bare(TARGET_DOCUMENT);

/** Checks `tasc.yaml` beyond its shape. */
export function checkProject(
  document: Document,
  templates: readonly FoundTemplate[],
): readonly ManifestProblem[] {
  const subject = { document, root: PROJECT_ROOT, templates, stages: undefined };
  return PROJECT_RULES.flatMap((rule) => rule(subject));
}

/** Checks a target document beyond its shape; `stages` are the project's, where they are known. */
export function checkTargetDocument(
  document: Document,
  templates: readonly FoundTemplate[],
  stages: readonly string[] | undefined,
): readonly ManifestProblem[] {
  const subject = { document, root: TARGET_ROOT, templates, stages };
  const problems: ManifestProblem[] = [];
  for (const rule of TARGET_RULES) for (const problem of rule(subject)) problems.push(problem);
  return problems;
}
