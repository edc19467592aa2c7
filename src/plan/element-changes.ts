import type { DesiredResource } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { ELEMENTS } from "../model/fields.ts";
import { defined, isArray, isObject } from "../model/json.ts";
import type { LiveElement, LiveResource } from "../model/live.ts";
import {
  type BodyValue,
  type ChangedBy,
  type FieldChange,
  type PlannedCall,
  type StepLosses,
  isBodyObject,
} from "../model/plan.ts";
import { type Value, isSensitive, isUnknown, isValueObject, reveal } from "../model/value.ts";
import { type Authors, authorsOf } from "./element-authors.ts";
import { elementBodies } from "./element-bodies.ts";
import {
  type ElementMatch,
  alignElements,
  declaredElements,
  elementInWords,
  locatorDifference,
  projectElement,
  sameElement,
  sameElements,
  withoutLine,
} from "./elements.ts";
import { type Memory, mayHoldSecret } from "./memory.ts";
import { differences, ordered } from "./normalise.ts";
import { caution, problem } from "./problem.ts";

/**
 * The differences of elements: a part of a PATCH, and the locator lines that need separate calls.
 */
interface ElementsDiff {
  readonly body: PlannedCall["body"];
  readonly locators: readonly ElementMatch[];
  readonly shown: readonly FieldChange[];
  readonly warnings: readonly Diagnostic[];
  readonly losses?: StepLosses | undefined;
}

const NO_DIFFERENCE: ElementsDiff = { body: {}, locators: [], shown: [], warnings: [] };

/**
 * Compares elements. If only locator lines differ, each gets a call; otherwise one PATCH has all,
 * and lines follow.
 */
export function diffElements(
  resource: DesiredResource,
  { elements: current = [] }: LiveResource,
  memory: Memory,
): ElementsDiff {
  const value = resource.fields["elements"];
  if (value === undefined) return NO_DIFFERENCE;
  const declared = declaredElements(value);
  const isSame = sameElements(declared, current);
  // The usual case comes first: it needs no search of which step is which.
  if (isSame && declared.every((step) => step["locatorLine"] === undefined)) return NO_DIFFERENCE;
  if (isUnknown(value)) return NO_DIFFERENCE;
  const matches = alignElements(declared, current, memory);
  const locators = matches.filter((match) => locatorDifference(match, memory) !== undefined);
  const lines = locators.map((match): FieldChange => {
    const path = ["elements", match.at, "locatorLine"];
    const by = locatorDifference(match, memory);
    const after = match.declared["locatorLine"] ?? null;
    return {
      path,
      ...(isSensitive(value) ? { sensitive: true } : { after: reveal(after) }),
      ...(by === undefined || by === "new" ? {} : { changedBy: by }),
    };
  });
  if (isSame) return { body: {}, locators, shown: lines, warnings: [] };
  const mayHold = mayHoldSecret(ELEMENTS, memory);
  const authors = authorsOf(declared, matches, current, memory);
  const changes = elementChanges(matches, current, authors);
  const elements = elementBodies(matches, current, mayHold);
  // Bodies are made of these. Hardly any has such a number, so hardly any body is made for that.
  const mayBeRounded = isRounded(declared) || current.some(({ raw }) => isRounded(raw));
  return {
    body: { elements },
    locators,
    shown: [...(isSensitive(value) || mayHold ? [hiddenChange(changes)] : changes), ...lines],
    warnings: [
      ...matches.flatMap((match) => keptParts(resource, match)),
      ...(mayBeRounded && isRounded(elements.read()) ? [roundedNumber(resource)] : []),
    ],
    losses: stepLosses(matches, current),
  };
}

/**
 * Returns the differences step by step, as the PATCH handles them: a step inserted at the front is
 * one insertion.
 */
function elementChanges(
  matches: readonly ElementMatch[],
  current: readonly LiveElement[],
  authors: Authors | undefined,
): readonly FieldChange[] {
  const kept = new Set(matches.map(({ live }) => live));
  const changes: FieldChange[] = [];
  let next = 0;
  const reportRemoved = (until: number): void => {
    for (const element of current.slice(next, until)) {
      const lost = element.parts["assertion"] ? ({ harmful: "assertion lost" } as const) : {};
      const path = ["elements", next++];
      if (kept.has(element)) continue;
      const before = ordered(elementInWords(element));
      changes.push({
        path,
        before,
        ...lost,
        ...defined({ changedBy: authors?.ofUndeclared(element) }),
      });
    }
  };
  for (const match of matches) {
    if (match.live !== undefined && match.movedFrom === undefined)
      reportRemoved(current.indexOf(match.live));
    const changedBy = authors?.ofDeclared(match);
    changes.push(
      ...elementChange(match).map((change) => ({ ...change, ...defined({ changedBy }) })),
    );
  }
  reportRemoved(current.length);
  return changes;
}

function elementChange({ declared, at, live, movedFrom }: ElementMatch): readonly FieldChange[] {
  const path = ["elements", at];
  if (live !== undefined && movedFrom === undefined && sameElement(declared, live)) return [];
  const after = ordered(reveal(withoutLine(declared)));
  if (live === undefined) return [{ path, after }];
  if (movedFrom !== undefined) return [{ path, after, movedFrom }];
  return differences(ordered(projectElement(declared, live)), after).map((difference) => {
    const [part] = difference.path;
    const isLost = part === "assertion" && live.parts["assertion"] && difference.after === null;
    const isIgnored = part === "ignoreFailure" && difference.after === true;
    const harmful = isLost ? "assertion lost" : isIgnored ? "failure ignored" : undefined;
    return { ...difference, path: [...path, ...difference.path], ...defined({ harmful }) };
  });
}

/** Returns one change without values in place of all: they may contain a secret. */
function hiddenChange(changes: readonly FieldChange[]): FieldChange {
  const harmful = changes.find((change) => change.harmful !== undefined)?.harmful;
  const changedBy = commonAuthor(changes);
  return { path: ["elements"], sensitive: true, ...defined({ harmful, changedBy }) };
}

/** Returns who changed the list of steps as a whole; `undefined` if state cannot tell. */
export function elementsChangedBy(
  declared: Value,
  current: readonly LiveElement[],
  memory: Memory,
): ChangedBy | undefined {
  const steps = declaredElements(declared);
  const matches = alignElements(steps, current, memory);
  const authors = authorsOf(steps, matches, current, memory);
  return commonAuthor(elementChanges(matches, current, authors));
}

function commonAuthor(changes: readonly FieldChange[]): ChangedBy | undefined {
  const [first, ...others] = new Set(changes.map(({ changedBy }) => changedBy));
  return others.length === 0 ? first : "both";
}

/** Returns what the live steps lose by a PATCH; undefined if they lose nothing. */
function stepLosses(
  matches: readonly ElementMatch[],
  current: readonly LiveElement[],
): StepLosses | undefined {
  const kept = new Set(matches.map(({ live }) => live));
  const removed = current.filter((element) => !kept.has(element));
  const losses = { assertions: 0, steps: 0, ignored: 0, emptied: 0 };
  for (const { parts } of removed) losses[parts["assertion"] ? "assertions" : "steps"]++;
  const has = ({ declared, live }: ElementMatch, part: "interaction" | "assertion"): boolean =>
    Boolean(declared[part] === undefined ? live?.parts[part] : declared[part]);
  const isStep = (match: ElementMatch): boolean =>
    has(match, "interaction") || has(match, "assertion");
  for (const match of matches) {
    const { declared, live } = match;
    if (live === undefined) continue;
    if (declared["ignoreFailure"] === true && live.parts["ignoreFailure"] !== true)
      losses.ignored++;
    if (live.parts["assertion"] && !has(match, "assertion")) losses.assertions++;
    else if (live.parts["interaction"] && !isStep(match)) losses.emptied++;
  }
  if (Object.values(losses).every((lost) => lost === 0)) return undefined;
  return { ...losses, all: !matches.some(isStep) };
}

/**
 * Warns if an assertion is added to a step with an interaction, or vice versa: the user may want to
 * replace the step.
 */
function keptParts(
  resource: DesiredResource,
  { declared, at, live }: ElementMatch,
): readonly Diagnostic[] {
  return Object.entries({ interaction: "assertion", assertion: "interaction" }).flatMap(
    ([kept, added]) => {
      const had = (part: string): boolean => isObject(live?.parts[part]);
      const isAdded = had(kept) && !had(added) && isValueObject(declared[added]);
      if (!isAdded || declared[kept] !== undefined) return [];
      const detail = `The manifest declares an ${added} for a step that has an ${kept}. What is not declared stays, so the step has both. To replace the step, declare \`${kept}: null\` and \`ignoreFailure\`.`;
      return [
        caution("step-keeps-part", resource, `elements[${at}] keeps its ${kept}`, detail, [
          "elements",
          at,
        ]),
      ];
    },
  );
}

function roundedNumber(resource: DesiredResource): Diagnostic {
  const summary = "An undeclared number in its elements is too large to be sent back as it is";
  const why =
    "Numbers beyond 2^53 lose digits as they are read. Declare the `options` that have it.";
  return problem("rounded-number", resource, summary, why, ["elements"]);
}

/**
 * Whether a number in a value may have lost digits when it was read. In manifests, integers of that
 * size are refused.
 */
function isRounded(value: BodyValue): boolean {
  if (typeof value === "number") return Math.abs(value) > Number.MAX_SAFE_INTEGER;
  if (isArray(value)) return value.some(isRounded);
  if (!isBodyObject(value)) return false;
  for (const key in value) if (isRounded(value[key] ?? null)) return true;
  return false;
}
