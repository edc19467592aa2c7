import { TEST_CASE_FIELDS } from "../fields/test-case.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { LiveTestCase } from "../model/live.ts";
import type { BodyValue, Change, PlannedCall } from "../model/plan.ts";
import { IdOf, IdOfElement, isSensitive, isUnknown, Secret } from "../model/value.ts";
import type { Value } from "../model/value.ts";
import { knownText } from "./declared.ts";
import { elementBodies } from "./element-bodies.ts";
import { diffElements, namelessElements } from "./element-changes.ts";
import { alignElements, declaredElements } from "./elements.ts";
import type { ElementMatch } from "./elements.ts";
import { declaredChanges } from "./field-changes.ts";
import { diffFields, fixedWarnings } from "./field-diff.ts";
import type { FieldDiff } from "./field-diff.ts";
import { memoryOf } from "./memory.ts";
import type { Memory } from "./memory.ts";
import { expectedLive, prerequisiteOf } from "./prerequisite.ts";
import { problem } from "./problem.ts";
import { needsTarget, targetId, UNCHANGED } from "./seen.ts";
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
  if (change !== undefined) return { change, diagnostics };
  return diagnostics.length === 0 ? UNCHANGED : { diagnostics };
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
    action: takesOutOfRuns(body) ? "disable" : generates ? "rediscover" : "update",
    id: live.id,
    fields: [...diffs.flatMap((diff) => diff.shown), ...elements.shown],
    calls,
    followUps: generates ? regenerated(seen, resource, live.id, elements.locators) : [],
    dependsOn: [],
  };
}

/** Whether a PATCH takes a test case out of runs: its status to DISABLED, or its run status to OFF. */
function takesOutOfRuns(body: PlannedCall["body"]): boolean {
  const sets = (value: BodyValue | undefined, text: string): boolean =>
    value === text || (value instanceof Secret && value.reveal() === text);
  return sets(body["status"], "DISABLED") || sets(body["runStatus"], "OFF");
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
