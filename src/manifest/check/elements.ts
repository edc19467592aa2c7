import { isArray, isObject } from "../../model/json.ts";
import type { Json, Path } from "../../model/json.ts";
import { manifestError } from "../problem.ts";
import type { ManifestProblem } from "../problem.ts";
import type { DocumentLayer, DocumentSubject } from "./document-subject.ts";

/** An element is found by `locatorLine` or by `selectors`, not by both. */
export function elementsHaveOneLocator({
  document: { file },
  layers,
}: DocumentSubject): readonly ManifestProblem[] {
  return layers
    .flatMap(elementLists)
    .flatMap(({ path, elements }) =>
      elements.flatMap((element, at) => (hasTwoLocators(element) ? [twoLocators(file, [...path, at])] : [])),
    );
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

/** The lists of elements in a layer: of its test cases, and of their defaults. */
function elementLists({ path, value: { testCases, defaults } }: DocumentLayer): ElementList[] {
  const own = Object.entries(isObject(testCases) ? testCases : {});
  const shared = isObject(defaults) ? defaults.testCases : undefined;
  return [
    ...own.flatMap(([key, testCase]) => elementsOf(testCase, [...path, "testCases", key])),
    ...elementsOf(shared, [...path, "defaults", "testCases"]),
  ];
}

function elementsOf(holder: Json | undefined, path: Path): ElementList[] {
  if (!isObject(holder) || !isArray(holder.elements)) return [];
  return [{ path: [...path, "elements"], elements: holder.elements }];
}
