import { parseAddress } from "../../model/address.ts";
import { type DesiredResource, knownText } from "../../model/desired.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { type Field, TEST_CASE_FIELDS } from "../../model/fields.ts";
import type { LiveResource, LiveTestCase } from "../../model/live.ts";
import type { Orphan, PlannedCall } from "../../model/plan.ts";
import { areAccepted } from "../../model/steps.ts";
import { IdOf, Secret, type Value, isSensitive, isUnknown, reveal } from "../../model/value.ts";
import { type SentField, bodyOf, callOf, patchOf, sendableFields, shownFields } from "../calls.ts";
import { compareField, diffFields, display } from "../compare.ts";
import type { MatchedTarget } from "../matched-target.ts";
import { type Decision, UNCHANGED, created, decided, refused } from "../decision.ts";
import { elementBodies } from "../element-bodies.ts";
import { diffElements } from "../element-changes.ts";
import {
  type ElementMatch,
  declaredElements,
  hasOpenLocators,
  namelessElements,
} from "../elements.ts";
import { generationTrouble } from "../generation.ts";
import { type Memory, memoryOf } from "../memory.ts";
import { caution } from "../problem.ts";
import { expectedLive } from "../reference.ts";
import { reviewed } from "../steps.ts";

/** Decides on a test case (service-api.md, operations 8, 9 and 10). */
export function decideTestCase(
  matched: MatchedTarget,
  resource: DesiredResource,
  rediscover: boolean,
): Decision {
  const match = matched.matches.get(resource.address);
  if (match === undefined) return UNCHANGED;
  const { live } = match;
  if (live === undefined) return createTestCase(matched, resource);
  if (live.asDeclared === resource && !rediscover) return UNCHANGED;
  const memory = memoryOf(resource.address, live.id, matched);
  return [
    ...fixedWarnings(matched, resource, live, memory),
    ...namelessElements(resource, live),
    ...updateTestCase(matched, resource, live, memory, rediscover),
  ];
}

/**
 * Returns the declared fields that the service does not show, if a plan has nothing to report on a
 * test case; undefined if it has, or if the test case refers to others, which are not looked at.
 */
export function hiddenIfAsDeclared(
  resource: DesiredResource,
  live: LiveTestCase,
  memory: Memory,
): readonly string[] | undefined {
  let hidden = NONE;
  for (const field of TEST_CASE_FIELDS) {
    const value = resource.fields[field.name];
    if (value === undefined) continue;
    if (field.shape.type === "reference") return undefined;
    const expected = typeof value === "string" ? value : undefined;
    const { kind } = compareField(field, value, live, memory, expected);
    if (kind === "differs") return undefined;
    if (kind === "hidden") hidden = [...hidden, field.name];
  }
  return hasOpenLocators(resource, live, memory) ? undefined : hidden;
}

/** One for all, as there may be 100,000. */
const NONE: readonly string[] = [];

/** Returns warnings for fields that are fixed after creation and differ from the declaration. */
function fixedWarnings(
  matched: MatchedTarget,
  resource: DesiredResource,
  live: LiveResource,
  memory: Memory,
): readonly Diagnostic[] {
  return TEST_CASE_FIELDS.flatMap((field) => {
    const value = resource.fields[field.name];
    if (field.update !== undefined || value === undefined || isUnknown(value)) return [];
    const found = compareField(field, value, live, memory, expectedLive(matched, field, value));
    if (found.kind !== "differs") return [];
    const { before = null } = found;
    return [
      caution(
        "fixed-field-differs",
        resource,
        `${field.name} is fixed after creation and differs`,
        `The service has ${before === null ? "none" : JSON.stringify(before)}, the manifest has ${JSON.stringify(display(value))}. The API cannot change it: declare the live value, or create the test case again under another key.`,
        field.path,
      ),
    ];
  });
}

function updateTestCase(
  matched: MatchedTarget,
  resource: DesiredResource,
  live: LiveResource,
  memory: Memory,
  rediscover: boolean,
): Decision {
  const found = diffFields(resource, live, memory);
  // `--rediscover` sends the prompt even if it has not changed.
  const isForced = rediscover && !found.some(({ field }) => field.generates);
  const forced = isForced ? sendableFields(resource).filter(({ field }) => field.generates) : [];
  const all = [...found, ...forced.map((sent) => ({ ...sent, shown: shownFields([sent]) }))];
  const generates = all.some(({ field }) => field.generates);
  // A generation replaces the accepted steps.
  const isUnreviewed =
    needsAcceptance(matched, resource) && (generates || isUnaccepted(matched, resource, live));
  const staysOff = isUnreviewed || generationTrouble(resource, live, memory)?.staysOff === true;
  const diffs = staysOff ? all.filter(({ field, value }) => !switchesOn(field, value)) : all;
  const held: Decision = diffs.length < all.length ? [{ held: resource.address }] : UNCHANGED;
  const elements = diffElements(resource, live, memory);
  const body = { ...bodyOf(diffs, "update"), ...elements.body };
  const calls = [
    ...(Object.keys(body).length === 0
      ? []
      : [callOf("PATCH", matched, ["test-cases", live.id], body)]),
    ...elements.locators.map((locator) => patchElement(matched, resource, live.id, locator)),
  ];
  if (calls.length === 0) return held;
  // After a new generation, the new elements need their locator lines, too.
  const lines = (): readonly PlannedCall[] =>
    newLines(resource)
      .filter((line) => !elements.locators.some(({ at }) => at === line.at))
      .map((line) => patchElement(matched, resource, live.id, line));
  const takesOutOfRuns = diffs.some(({ field: { off, update = "" } }) => {
    const value = body[update];
    return off !== undefined && (value instanceof Secret ? value.reveal() : value) === off;
  });
  const change = decided(
    resource,
    takesOutOfRuns ? "disable" : generates ? "rediscover" : "update",
    {
      id: live.id,
      fields: [...diffs.flatMap(({ shown }) => shown), ...elements.shown],
      calls,
      followUps: generates
        ? [...followUps(matched, resource, live.id, isUnreviewed), ...lines()]
        : [],
      ...(elements.losses && { losses: elements.losses }),
    },
  );
  return [...change, ...elements.warnings, ...held];
}

function createTestCase(matched: MatchedTarget, resource: DesiredResource): Decision {
  const missing = ["description", "discovery.prompt"].find(
    (name) => knownText(resource, name) === undefined,
  );
  if (missing !== undefined)
    // A missing secret is reported elsewhere, and nothing is planned from it.
    return isUnknown(resource.fields[missing] ?? null)
      ? UNCHANGED
      : refused(
          "cannot-create",
          resource,
          `No live test case matches, and it cannot be created without ${missing}`,
          `Declare \`${missing}\`, or bind it to a live test case with \`id:\`. The API creates test cases only from a prompt.`,
        );
  const self = new IdOf(resource.address);
  // The POST does not carry these fields and no answer shows them, so they are always written
  // afterwards.
  const settings = sendableFields(resource).filter(
    ({ field }) => (field.read ?? field.create) === undefined,
  );
  const staysOff =
    needsAcceptance(matched, resource) && matched.steps?.isKnown(resource.address) === false;
  const decision = created(matched, resource, "discoveries", {
    calls: [
      ...patchOf(matched, ["test-cases", self], settings),
      ...newLines(resource).map((match) => patchElement(matched, resource, self, match)),
    ],
    followUps: followUps(matched, resource, self, staysOff),
  });
  return staysOff && sendableFields(resource).some(({ field, value }) => switchesOn(field, value))
    ? [...decision, { held: resource.address }]
    : decision;
}

/**
 * Returns a PATCH of readable fields that the service may set when it generates: not in the POST,
 * or left out as null.
 */
function followUps(
  matched: MatchedTarget,
  resource: DesiredResource,
  id: string | IdOf,
  staysOff: boolean,
): readonly PlannedCall[] {
  const open = TEST_CASE_FIELDS.flatMap((field): readonly SentField[] => {
    const value = resource.fields[field.name];
    if (value === undefined || isUnknown(value) || field.update === undefined || field.generates)
      return [];
    if (field.read === undefined || (field.create !== undefined && value !== null)) return [];
    if (staysOff && switchesOn(field, value)) return [];
    return [
      {
        field,
        value: field.compare === "elements" ? elementBodies(newElements(resource), []) : value,
      },
    ];
  });
  return patchOf(matched, ["test-cases", id], open);
}

/** Returns the declared elements as new ones, without live elements that they continue. */
function newElements({ fields: { elements } }: DesiredResource): readonly ElementMatch[] {
  return declaredElements(elements).map((declared, at) => ({ declared, at, live: undefined }));
}

function newLines(resource: DesiredResource): readonly ElementMatch[] {
  return newElements(resource).filter(
    ({ declared }) => declared["locatorLine"] !== undefined && !isUnknown(declared),
  );
}

function patchElement(
  matched: MatchedTarget,
  resource: DesiredResource,
  id: string | IdOf,
  { declared, at, live }: ElementMatch,
): PlannedCall {
  const line = declared["locatorLine"] ?? "";
  const hide = typeof line === "string" && isSensitive(resource.fields["elements"] ?? null);
  const path = ["test-cases", id, "elements", live?.id ?? new IdOf(at)];
  return callOf("PATCH", matched, path, { locatorLine: hide ? new Secret(line) : line });
}

/** Whether a test case runs only after a person has accepted its steps. */
function needsAcceptance({ steps }: MatchedTarget, { fields }: DesiredResource): boolean {
  return steps?.mode === "reviewed" && fields["elements"] === undefined;
}

/** Whether steps that are not as accepted keep a live test case from being switched on. */
function isUnaccepted(
  matched: MatchedTarget,
  resource: DesiredResource,
  live: LiveResource,
): boolean {
  const acceptance = reviewed(matched.steps, resource, live);
  return acceptance !== undefined && !areAccepted(acceptance);
}

/** Whether writing a value puts a test case into runs. */
function switchesOn({ on }: Field, value: Value): boolean {
  return on !== undefined && reveal(value) === on;
}

/**
 * Plans to set an orphaned test case that is still in use to DISABLED (`onRemove: disable`). If
 * only an import has bound it, it is left alone: its manifests may still be on a branch, or may
 * have been abandoned.
 */
export function disableOrphan(matched: MatchedTarget, orphan: Orphan): Decision {
  const { address, id } = orphan;
  const live = matched.testCases.find((testCase) => testCase.id === id);
  if (live === undefined || parseAddress(address)?.kind !== "testCase") return UNCHANGED;
  if (live.status === "DISABLED" || matched.state?.bindings.get(address)?.imported === true)
    return UNCHANGED;
  return decided(orphan, "disable", {
    id,
    fields: [{ path: ["status"], before: live.status ?? null, after: "DISABLED" }],
    calls: [callOf("PATCH", matched, ["test-cases", id], { status: "DISABLED" })],
  });
}
