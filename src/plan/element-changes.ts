import { TEST_CASE_FIELDS } from "../fields/test-case.ts";
import type { Field } from "../fields/field.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { LiveTestCase } from "../model/live.ts";
import type { BodyValue, FieldChange } from "../model/plan.ts";
import { isSensitive, isUnknown, reveal } from "../model/value.ts";
import type { Value } from "../model/value.ts";
import { elementBodies } from "./element-bodies.ts";
import {
  alignElements,
  ALL_PARTS,
  declaredElements,
  locatorDifference,
  projectElement,
  sameElements,
  withoutLine,
} from "./elements.ts";
import type { ElementMatch } from "./elements.ts";
import { readableChanges } from "./field-changes.ts";
import { changedBy } from "./field-diff.ts";
import type { Memory } from "./memory.ts";
import { caution } from "./problem.ts";

type TestCase = DesiredResource<"testCase">;

/** What differs of the elements, as a part of a PATCH and calls of their own. */
export interface ElementsDiff {
  readonly body: { readonly [key: string]: BodyValue };
  readonly locators: readonly ElementMatch[];
  readonly shown: readonly FieldChange[];
}

const ELEMENTS = TEST_CASE_FIELDS.find((field) => field.name === "elements");

/** When only locator lines differ, an element call each; else one PATCH of all elements, and lines after it. */
export function diffElements(resource: TestCase, live: LiveTestCase, memory: Memory): ElementsDiff {
  const value = resource.fields["elements"];
  if (ELEMENTS === undefined || value === undefined || isUnknown(value))
    return { body: {}, locators: [], shown: [] };
  const declared = declaredElements(value);
  const current = live.elements ?? [];
  const same = sameElements(declared, current);
  const matches = same
    ? declared.map((element, at) => ({ declared: element, at, live: current[at] }))
    : alignElements(declared, current, memory);
  const locators = matches.filter((match) => locatorDifference(match, memory) !== undefined);
  const lines = locators.flatMap((match) => locatorChanges(ELEMENTS, value, match, memory));
  if (same) return { body: {}, locators, shown: lines };
  const before = current.map((element, at) => projectElement(declared[at] ?? ALL_PARTS, element));
  const after = declared.map(withoutLine);
  return {
    body: { elements: elementBodies(matches, current) },
    locators,
    shown: [
      ...readableChanges(ELEMENTS, before, after, changedBy(ELEMENTS, after, before, memory)),
      ...lines,
    ],
  };
}

function locatorChanges(
  field: Field<LiveTestCase>,
  elements: Value,
  match: ElementMatch,
  memory: Memory,
): readonly FieldChange[] {
  const line = match.declared["locatorLine"];
  const path = [...field.path, match.at, "locatorLine"];
  const difference = locatorDifference(match, memory);
  const by = difference === undefined || difference === "new" ? {} : { changedBy: difference };
  if (line === undefined) return [];
  return [isSensitive(elements) ? { path, sensitive: true, ...by } : { path, after: reveal(line), ...by }];
}

/** A live element that bears a locator line and has no id cannot be called (operation 9). */
export function namelessElements(resource: TestCase, live: LiveTestCase): readonly Diagnostic[] {
  const declared = declaredElements(resource.fields["elements"]);
  const nameless = (live.elements ?? []).some(
    ({ id }, at) => id === undefined && declared[at]?.["locatorLine"] !== undefined,
  );
  if (!nameless) return [];
  return [
    caution(
      "element-without-id",
      resource,
      "Locator lines cannot be written",
      "The service shows no id of the elements, and the interface writes a locator line by it.",
      ["elements"],
    ),
  ];
}
