import { TEST_CASE_FIELDS } from "../fields/test-case.ts";
import type { Field } from "../fields/field.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Json } from "../model/json.ts";
import type { LiveElement, LiveTestCase } from "../model/live.ts";
import type { BodyValue, ChangedBy, FieldChange } from "../model/plan.ts";
import { isSensitive, isUnknown, reveal } from "../model/value.ts";
import type { Value, ValueObject } from "../model/value.ts";
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
      ...readableChanges(
        ELEMENTS,
        before,
        after,
        elementsChangedBy(ELEMENTS, { before, after, matches, current }, memory),
      ),
      ...lines,
    ],
  };
}

interface BothLists {
  /** The live list cut down to what is declared at the same places. */
  readonly before: Json;
  readonly after: Value;
  readonly matches: readonly ElementMatch[];
  readonly current: readonly LiveElement[];
}

/**
 * Who changed the list. An element that the manifest has no more shows no longer which of its parts were declared, and
 * so not whether it is as it was applied: that holds if it is so for any choice of parts.
 */
function elementsChangedBy(
  field: Field<LiveTestCase>,
  { before, after, matches, current }: BothLists,
  memory: Memory,
): ChangedBy | undefined {
  const first = changedBy(field, after, before, memory);
  if (first !== "both" || matches.length === current.length) return first;
  const parts = new Map(matches.map(({ declared, live }) => [live, declared]));
  for (const choice of PART_CHOICES) {
    const was = current.map((element) => projectElement(parts.get(element) ?? choice(element), element));
    if (changedBy(field, after, was, memory) === "manifest") return "manifest";
  }
  return first;
}

/** Every choice of parts that an element can be declared with; selectors whole, or without their options. */
const PART_CHOICES: readonly ((element: LiveElement) => ValueObject)[] = subsets(
  Object.keys(ALL_PARTS),
).flatMap((names) => {
  const chosen = Object.fromEntries(Object.entries(ALL_PARTS).filter(([name]) => names.includes(name)));
  const plain = { selectorType: "", selector: "" };
  return names.includes("selectors")
    ? [() => chosen, ({ selectors }: LiveElement) => ({ ...chosen, selectors: selectors.map(() => plain) })]
    : [() => chosen];
});

function subsets(names: readonly string[]): readonly (readonly string[])[] {
  return names.reduce<readonly (readonly string[])[]>(
    (sets, name) => [...sets, ...sets.map((set) => [...set, name])],
    [[]],
  );
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
