import { TEST_CASE_FIELDS } from "../fields/test-case.ts";
import type { Field } from "../fields/field.ts";
import type { Address } from "../model/address.ts";
import { compareText } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Json } from "../model/json.ts";
import type { LiveTestCase } from "../model/live.ts";
import type { BodyValue, Change, FieldChange, PlannedCall } from "../model/plan.ts";
import { IdOf, IdOfElement, isSensitive, isUnknown, reveal, Secret } from "../model/value.ts";
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
import { declaredChanges, readableChanges } from "./field-changes.ts";
import { changedBy, diffFields, fixedWarnings } from "./field-diff.ts";
import type { FieldDiff } from "./field-diff.ts";
import { memoryOf } from "./memory.ts";
import type { Memory } from "./memory.ts";
import { knownText } from "./declared.ts";
import { caution, problem } from "./problem.ts";
import { needsTarget, targetId, testCaseReference, UNCHANGED, unmanagedByName } from "./seen.ts";
import type { Decision, Seen } from "./seen.ts";
import { bodyOf } from "./target.ts";

type TestCase = DesiredResource<"testCase">;

/** service-api.md, operations 8, 9 and 10. */
export function decideTestCase(seen: Seen, resource: TestCase, rediscover: boolean): Decision {
  const match = seen.testCaseMatches.get(resource.address);
  if (match === undefined) return UNCHANGED;
  if (!match.found) return createTestCase(seen, resource);
  const memory = memoryOf(resource.address, match.id, seen.state, seen.fingerprints);
  const change = updateTestCase(seen, resource, match.live, memory, rediscover);
  const diagnostics = [
    ...fixedWarnings(TEST_CASE_FIELDS, resource, match.live, (field, value) =>
      expectedLive(seen, field, value),
    ),
    ...namelessElements(resource, match.live),
  ];
  return change === undefined ? { diagnostics } : { change, diagnostics };
}

/** What the service would show for a fixed field; `undefined` where that cannot be told. */
function expectedLive(seen: Seen, field: Field<LiveTestCase>, value: Value): Json | undefined {
  if (field.shape.type !== "reference") return typeof value === "string" ? value : undefined;
  const reference = testCaseReference(seen, value);
  if (reference === undefined) return undefined;
  if ("description" in reference) return unmanagedByName(seen, reference.description)[0]?.id;
  const match = seen.testCaseMatches.get(reference.key);
  return match?.found === true ? match.id : undefined;
}

/** A live element that bears a locator line and has no id cannot be called (operation 9). */
function namelessElements(resource: TestCase, live: LiveTestCase): readonly Diagnostic[] {
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

function updateTestCase(
  seen: Seen,
  resource: TestCase,
  live: LiveTestCase,
  memory: Memory,
  rediscover: boolean,
): Change | undefined {
  const diffs = withRediscovery(diffFields(TEST_CASE_FIELDS, resource, live, memory), resource, rediscover);
  const elements = diffElements(resource, live, memory);
  const body = { ...bodyOf(diffs), ...elements.body };
  const generates = diffs.some((diff) => diff.field.generates);
  const calls = [
    ...(Object.keys(body).length === 0 ? [] : [patchTestCase(seen, live.id, body)]),
    ...elements.locators.map((locator) => patchElement(seen, resource, live.id, locator)),
  ];
  if (calls.length === 0) return undefined;
  return {
    address: resource.address,
    action: generates ? "rediscover" : "update",
    id: live.id,
    fields: [...diffs.flatMap((diff) => diff.shown), ...elements.shown],
    calls,
    followUps: generates ? regenerated(seen, resource, live.id, elements.locators) : [],
    dependsOn: [],
  };
}

/** What may be left to do once the service has generated again: new elements want their locator lines, too. */
function regenerated(
  seen: Seen,
  resource: TestCase,
  id: string,
  announced: readonly ElementMatch[],
): readonly PlannedCall[] {
  const positions = new Set(announced.map(({ at }) => at));
  const lines = newLocators(resource).filter(({ at }) => !positions.has(at));
  return [...followUps(seen, resource, id), ...lines.map((line) => patchElement(seen, resource, id, line))];
}

/** `--rediscover` sends a prompt that, by all that is known, is already there. */
function withRediscovery(
  diffs: readonly FieldDiff<LiveTestCase>[],
  resource: TestCase,
  rediscover: boolean,
): readonly FieldDiff<LiveTestCase>[] {
  if (!rediscover || diffs.some((diff) => diff.field.generates)) return diffs;
  const forced = TEST_CASE_FIELDS.filter((field) => field.generates).flatMap((field) => {
    const value = resource.fields[field.name];
    if (value === undefined || isUnknown(value)) return [];
    return [{ field, value, shown: declaredChanges(field, value) }];
  });
  return [...diffs, ...forced];
}

interface ElementsDiff {
  readonly body: { readonly [key: string]: BodyValue };
  readonly locators: readonly ElementMatch[];
  readonly shown: readonly FieldChange[];
}

const ELEMENTS = TEST_CASE_FIELDS.find((field) => field.name === "elements");

/** When only locator lines differ, an element call each; else one PATCH of all elements, and lines after it. */
function diffElements(resource: TestCase, live: LiveTestCase, memory: Memory): ElementsDiff {
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

function createTestCase(seen: Seen, resource: TestCase): Decision {
  const name = knownText(resource, "description");
  const prompt = knownText(resource, "discovery.prompt");
  if (name === undefined || prompt === undefined)
    return uncreatable(resource, name === undefined ? "description" : "discovery.prompt");
  const prerequisite = prerequisiteOf(seen, resource);
  if (prerequisite.problem !== undefined) return { diagnostics: [prerequisite.problem] };
  const self = new IdOf(resource.address);
  const afterwards = writtenAfterwards(resource);
  return {
    change: {
      address: resource.address,
      action: "create",
      fields: TEST_CASE_FIELDS.flatMap((field) => {
        const value = resource.fields[field.name];
        return value === undefined || value === null || isUnknown(value) ? [] : declaredChanges(field, value);
      }),
      calls: [
        {
          method: "POST",
          path: ["apiKey", "v3", "test-targets", targetId(seen), "discoveries"],
          body: discoveryBody(resource, prerequisite.name),
        },
        ...(afterwards.length === 0 ? [] : [patchTestCase(seen, self, bodyOf(afterwards))]),
        ...newLocators(resource).map((match) => patchElement(seen, resource, self, match)),
      ],
      followUps: followUps(seen, resource, self),
      dependsOn: [...needsTarget(seen), ...prerequisite.dependsOn],
    },
    diagnostics: [],
  };
}

function uncreatable(resource: TestCase, missing: string): Decision {
  // A missing secret is said elsewhere, and nothing is planned from it.
  if (isUnknown(resource.fields[missing] ?? null)) return UNCHANGED;
  return {
    diagnostics: [
      problem(
        "cannot-create",
        resource,
        `No live test case fits, and it cannot be created without ${missing}`,
        `Declare \`${missing}\`, or bind it to a live test case with \`id:\`. The interface makes test cases from a prompt alone.`,
      ),
    ],
  };
}

function discoveryBody(
  resource: TestCase,
  prerequisiteName: BodyValue | undefined,
): { readonly [key: string]: BodyValue } {
  const body: Record<string, BodyValue> = {};
  for (const field of TEST_CASE_FIELDS) {
    const value = resource.fields[field.name];
    if (field.create === undefined || field.shape.type === "reference") continue;
    if (value !== undefined && value !== null && !isUnknown(value)) body[field.create] = value;
  }
  return prerequisiteName === undefined ? body : { ...body, prerequisiteName };
}

/** Write-only fields that the POST does not carry: they take a PATCH whatever the service makes of the prompt. */
function writtenAfterwards(resource: TestCase) {
  return TEST_CASE_FIELDS.flatMap((field) => {
    const value = resource.fields[field.name];
    const left = field.behaviour.kind === "writeOnly" && field.create === undefined;
    return !left || value === undefined || value === null || isUnknown(value) ? [] : [{ field, value }];
  });
}

function newLocators(resource: TestCase): readonly ElementMatch[] {
  return declaredElements(resource.fields["elements"])
    .map((declared, at) => ({ declared, at, live: undefined }))
    .filter(({ declared }) => declared["locatorLine"] !== undefined && !isUnknown(declared));
}

/**
 * What the service may have set otherwise by the time it has generated: readable fields that the POST does not carry,
 * or leaves out because they are null.
 */
function followUps(seen: Seen, resource: TestCase, id: string | IdOf): readonly PlannedCall[] {
  const open = TEST_CASE_FIELDS.flatMap((field) => {
    const value = resource.fields[field.name];
    if (value === undefined || isUnknown(value) || field.update === undefined || field.generates) return [];
    if (field.behaviour.kind === "writeOnly" || (field.create !== undefined && value !== null)) return [];
    return [{ field, value: field.name === "elements" ? elementsFromNothing(value, seen, resource) : value }];
  });
  return open.length === 0 ? [] : [patchTestCase(seen, id, bodyOf(open))];
}

function elementsFromNothing(value: Value, seen: Seen, resource: TestCase): BodyValue {
  const memory = memoryOf(resource.address, "", undefined, seen.fingerprints);
  return elementBodies(alignElements(declaredElements(value), [], memory), []);
}

interface Prerequisite {
  readonly name?: BodyValue;
  readonly dependsOn: readonly Address[];
  readonly problem?: Diagnostic;
}

/**
 * The service finds a prerequisite by its name, so the name must be the one it has when the POST arrives: renames
 * come after the creations, so that is the live name where there is one.
 */
function prerequisiteOf(seen: Seen, resource: TestCase): Prerequisite {
  const reference = testCaseReference(seen, resource.fields["discovery.prerequisite"]);
  if (reference === undefined) return { dependsOn: [] };
  if ("description" in reference) return unmanagedPrerequisite(seen, resource, reference.description);
  const match = seen.testCaseMatches.get(reference.key);
  const name = seen.resources.get(reference.key)?.fields["description"];
  if (match?.found === true && match.live.description !== undefined)
    return { name: likeDeclared(name, match.live.description), dependsOn: [] };
  return {
    ...(name === undefined ? {} : { name }),
    dependsOn: match?.found === true ? [] : [reference.key],
  };
}

/** The live form of what is declared as sensitive is so as well. */
function likeDeclared(declared: Value | undefined, live: string): Value {
  return declared !== undefined && isSensitive(declared) ? new Secret(live) : live;
}

function unmanagedPrerequisite(seen: Seen, resource: TestCase, description: string): Prerequisite {
  const found = unmanagedPrerequisiteProblem(seen, resource, description, "discovery.prerequisite");
  return found === undefined ? { name: description, dependsOn: [] } : { dependsOn: [], problem: found };
}

/** The error for `{ description: … }` that does not name exactly one unmanaged live test case. */
export function unmanagedPrerequisiteProblem(
  seen: Seen,
  resource: DesiredResource,
  description: string,
  field: string,
): Diagnostic | undefined {
  const found = unmanagedByName(seen, description);
  if (found.length === 1) return undefined;
  const list = found
    .map((testCase) => `  ${testCase.id}`)
    .toSorted(compareText)
    .join("\n");
  return problem(
    "prerequisite-by-name",
    resource,
    found.length === 0
      ? `No unmanaged live test case is named ${JSON.stringify(description)}`
      : `${found.length} unmanaged live test cases are named ${JSON.stringify(description)}`,
    found.length === 0
      ? "Correct the name, or, if a manifest declares the test case, write its key instead."
      : `The service finds a prerequisite by its name, so it must be the only one:\n${list}\nRename the others.`,
    field.split("."),
  );
}

function patchTestCase(seen: Seen, id: string | IdOf, body: PlannedCall["body"]): PlannedCall {
  return { method: "PATCH", path: [...testCasePath(seen), id], body };
}

function patchElement(
  seen: Seen,
  resource: TestCase,
  id: string | IdOf,
  { declared, at, live }: ElementMatch,
): PlannedCall {
  const line = declared["locatorLine"] ?? "";
  const hide = typeof line === "string" && isSensitive(resource.fields["elements"] ?? null);
  return {
    method: "PATCH",
    path: [...testCasePath(seen), id, "elements", live?.id ?? new IdOfElement(at)],
    body: { locatorLine: hide ? new Secret(line) : line },
  };
}

function testCasePath(seen: Seen): PlannedCall["path"] {
  return ["apiKey", "v3", "test-targets", targetId(seen), "test-cases"];
}
