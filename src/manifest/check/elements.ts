import { isArray, isObject } from "../../model/json.ts";
import type { Json, Path } from "../../model/json.ts";
import { manifestError } from "../problem.ts";
import type { ManifestProblem } from "../problem.ts";
import { documentLayers } from "./document-subject.ts";
import type { DocumentLayer, DocumentSubject } from "./document-subject.ts";

/** An element is found by `locatorLine` or by `selectors`, not by both. */
export function elementsHaveOneLocator({ document }: DocumentSubject): readonly ManifestProblem[] {
  const { file, text } = document;
  // Most documents have no locator line, and show it at a glance, unless an escape in double quotes makes the word.
  if (!text.includes("locatorLine") && !text.includes("\\")) return [];
  const problems: ManifestProblem[] = [];
  for (const layer of documentLayers(document))
    for (const { path, elements } of elementLists(layer))
      for (const [at, element] of elements.entries())
        if (hasTwoLocators(element)) problems.push(twoLocators(file, [...path, at]));
  return problems;
}

function hasTwoLocators(element: Json): boolean {
  return isObject(element) && element.locatorLine !== undefined && element.selectors !== undefined;
}

function twoLocators(file: string, path: Path): ManifestProblem {
  return manifestError(
    "two-locators",
    { file, path: [...path, "locatorLine"] },
    "An element has both `locatorLine` and `selectors`",
    "The service makes selectors of the locator line, so one of the two would be lost: keep one.",
    { at: "key" },
  );
}

interface ElementList {
  readonly path: Path;
  readonly elements: readonly Json[];
}

/** The lists of elements in a layer: of its test cases, and of their defaults. Few layers have any. */
function elementLists({ path, value: { testCases, defaults } }: DocumentLayer): readonly ElementList[] {
  const found: ElementList[] = [];
  const look = (holder: Json | undefined, section: string, key: string): void => {
    if (isObject(holder) && isArray(holder.elements))
      found.push({ path: [...path, section, key, "elements"], elements: holder.elements });
  };
  if (isObject(testCases)) for (const key of Object.keys(testCases)) look(testCases[key], "testCases", key);
  if (isObject(defaults)) look(defaults.testCases, "defaults", "testCases");
  return found;
}
