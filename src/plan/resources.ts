import { type Address, addressOf, compareText } from "../model/address.ts";
import { type DesiredResource, type DesiredTarget, byAddress, resourcesOf } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import {
  BATCH_GENERATION_FIELDS,
  DELETED,
  ENVIRONMENT_FIELDS,
  type Field,
  TARGET_FIELDS,
  TEST_CASE_FIELDS,
} from "../model/fields.ts";
import type { Json } from "../model/json.ts";
import type { LiveEnvironment, LiveTarget, LiveTestCase } from "../model/live.ts";
import type { BodyValue, Change, Orphan, PlannedCall } from "../model/plan.ts";
import type { Fingerprint, State } from "../model/state.ts";
import { IdOf, IdOfElement, Secret, type Value, isSensitive, isUnknown, reveal } from "../model/value.ts";
import {
  type Decision,
  type FieldDiff,
  type MatchedTarget,
  UNCHANGED,
  compareField,
  declaredChanges,
  diffFields,
  fixedWarnings,
  needsTarget,
  targetId,
  testCaseReference,
  unmanagedByName,
} from "./compare.ts";
import {
  type ElementMatch,
  alignElements,
  declaredElements,
  diffElements,
  elementBodies,
  locatorsToWrite,
  namelessElements,
} from "./elements.ts";
import { type Fingerprinter, type PlanInput, caution, knownText, problem, sendable } from "./input.ts";
import { type Match, matchEnvironments, matchTestCases } from "./match.ts";
import { type Memory, keyHolds, memoryOf } from "./memory.ts";
import { countUnmanaged, disableOrphan, orphansOf, renamedWarnings } from "./orphans.ts";

/** service-api.md, operations 2 and 4. */
function decideTarget(matched: MatchedTarget): Decision {
  return matched.live === undefined ? createTarget(matched) : updateTarget(matched, matched.live);
}

function updateTarget({ target, state, fingerprints }: MatchedTarget, live: LiveTarget): Decision {
  const diffs = diffFields(
    TARGET_FIELDS,
    target,
    live,
    memoryOf(target.address, live.id, state, fingerprints),
  );
  if (diffs.length === 0) return UNCHANGED;
  return {
    change: {
      address: target.address,
      action: "update",
      id: live.id,
      fields: diffs.flatMap((diff) => diff.shown),
      calls: [patchTarget(live.id, bodyOf(diffs))],
      followUps: [],
      dependsOn: [],
    },
    diagnostics: [],
  };
}

function createTarget({ target }: MatchedTarget): Decision {
  const environment = target.environments.find((candidate) => candidate.key === "default");
  const app = sendable(target, "app");
  const discoveryUrl = environment && sendable(environment, "discoveryUrl");
  if (app === undefined || discoveryUrl === undefined) return uncreatable(target, app === undefined);
  const declared = TARGET_FIELDS.flatMap((field) => {
    const value = target.fields[field.name];
    return value === undefined || value === null || isUnknown(value) ? [] : [{ field, value }];
  });
  const settings = declared.filter(({ field }) => field.create === undefined);
  return {
    change: {
      address: target.address,
      action: "create",
      fields: declared.flatMap(({ field, value }) => declaredChanges(field, value)),
      calls: [
        {
          method: "POST",
          path: ["apiKey", "v3", "test-targets"],
          body: { testTarget: { app, discoveryUrl } },
        },
        ...(settings.length === 0 ? [] : [patchTarget(new IdOf(target.address), bodyOf(settings))]),
      ],
      followUps: [],
      dependsOn: [],
    },
    diagnostics: [],
  };
}

function uncreatable(target: MatchedTarget["target"], lacksApp: boolean): Decision {
  const missing = lacksApp ? "app" : "environments.default.discoveryUrl";
  return {
    diagnostics: [
      problem(
        "cannot-create",
        target,
        `No live test target matches, and it cannot be created without ${missing}`,
        `Declare \`${missing}\` of ${target.address}, or bind it to a live one with \`id:\`.`,
      ),
    ],
  };
}

function patchTarget(id: string | IdOf, body: PlannedCall["body"]): PlannedCall {
  return { method: "PATCH", path: ["apiKey", "v3", "test-targets", id], body };
}

/** The body of a PATCH: each differing field under its name on the service, objects with all declared parts. */
function bodyOf(
  diffs: readonly { readonly field: { readonly update?: string }; readonly value: BodyValue }[],
): { readonly [key: string]: BodyValue } {
  const body: Record<string, BodyValue> = {};
  for (const { field, value } of diffs) if (field.update !== undefined) body[field.update] = value;
  return body;
}

type DesiredEnvironment = DesiredResource<"environment">;

/** service-api.md, operations 5 and 6. */
function decideEnvironment(matched: MatchedTarget, resource: DesiredEnvironment): Decision {
  const match = matched.environmentMatches.get(resource.address);
  if (match === undefined) return UNCHANGED;
  if (match.found) return updateEnvironment(matched, resource, match.live);
  if (resource.key !== "default") return createEnvironment(matched, resource);
  return matched.live === undefined ? createDefault(matched, resource) : withoutDefault(resource);
}

function updateEnvironment(
  matched: MatchedTarget,
  resource: DesiredEnvironment,
  live: LiveEnvironment,
): Decision {
  const memory = memoryOf(resource.address, live.id, matched.state, matched.fingerprints);
  const diffs = diffFields(ENVIRONMENT_FIELDS, resource, live, memory);
  if (diffs.length === 0) return UNCHANGED;
  return {
    change: {
      address: resource.address,
      action: "update",
      id: live.id,
      fields: diffs.flatMap((diff) => diff.shown),
      calls: [patchEnvironment(matched, live.id, bodyOf(diffs))],
      followUps: [],
      dependsOn: [],
    },
    diagnostics: [],
  };
}

function createEnvironment(matched: MatchedTarget, resource: DesiredEnvironment): Decision {
  const declared = declaredFields(resource);
  const body: Record<string, BodyValue> = { name: resource.key };
  for (const { field, value } of declared) if (field.create !== undefined) body[field.create] = value;
  return {
    change: {
      address: resource.address,
      action: "create",
      fields: declared.flatMap(({ field, value }) => declaredChanges(field, value)),
      calls: [
        { method: "POST", path: ["apiKey", "v3", "test-targets", targetId(matched), "environments"], body },
      ],
      followUps: [],
      dependsOn: needsTarget(matched),
    },
    diagnostics: [],
  };
}

/** It is made with the target, URL and all; what else is declared of it takes a PATCH. */
function createDefault(matched: MatchedTarget, resource: DesiredEnvironment): Decision {
  const declared = declaredFields(resource);
  const settings = declared.filter(({ field }) => field.name !== "discoveryUrl");
  return {
    change: {
      address: resource.address,
      action: "create",
      fields: declared.flatMap(({ field, value }) => declaredChanges(field, value)),
      calls:
        settings.length === 0
          ? []
          : [patchEnvironment(matched, new IdOf(resource.address), bodyOf(settings))],
      followUps: [],
      dependsOn: needsTarget(matched),
    },
    diagnostics: [],
  };
}

/** What a creation sends of the declared fields: a null is left out, and so is what is not known. */
function declaredFields(resource: DesiredEnvironment) {
  return ENVIRONMENT_FIELDS.flatMap((field) => {
    const value = resource.fields[field.name];
    return value === undefined || value === null || isUnknown(value) ? [] : [{ field, value }];
  });
}

function withoutDefault(resource: DesiredEnvironment): Decision {
  return {
    diagnostics: [
      problem(
        "no-default-environment",
        resource,
        "The live test target has no DEFAULT environment",
        "The service creates it together with the target, and the API cannot add one later. Bind the right environment with `id:`, or declare it under another key.",
      ),
    ],
  };
}

function patchEnvironment(matched: MatchedTarget, id: string | IdOf, body: PlannedCall["body"]): PlannedCall {
  return {
    method: "PATCH",
    path: ["apiKey", "v3", "test-targets", targetId(matched), "environments", id],
    body,
  };
}

type DesiredTestCase = DesiredResource<"testCase">;

/** service-api.md, operations 8, 9 and 10. */
function decideTestCase(matched: MatchedTarget, resource: DesiredTestCase, rediscover: boolean): Decision {
  const match = matched.testCaseMatches.get(resource.address);
  if (match === undefined) return UNCHANGED;
  if (!match.found) return createTestCase(matched, resource);
  if (match.live.asDeclared === resource && !rediscover) return UNCHANGED;
  const memory = memoryOf(resource.address, match.id, matched.state, matched.fingerprints);
  const change = updateTestCase(matched, resource, match.live, memory, rediscover);
  const diagnostics = [
    ...fixedWarnings(TEST_CASE_FIELDS, resource, match.live, memory, (field, value) =>
      expectedLive(matched, field, value),
    ),
    ...namelessElements(resource, match.live),
  ];
  if (change !== undefined) return { change, diagnostics };
  return diagnostics.length === 0 ? UNCHANGED : { diagnostics };
}

/**
 * Whether a plan has nothing to say of a test case that is bound to a resource: told from the two alone, and so without
 * those that refer to others.
 */
export function isAsDeclared(resource: DesiredTestCase, live: LiveTestCase, memory: Memory): boolean {
  for (const field of TEST_CASE_FIELDS) {
    const value = resource.fields[field.name];
    if (value === undefined) continue;
    if (field.shape.type === "reference") return false;
    const expected = typeof value === "string" ? value : undefined;
    if (compareField(field, value, live, memory, expected).kind === "differs") return false;
  }
  return (
    locatorsToWrite(resource, live, memory).length === 0 && namelessElements(resource, live).length === 0
  );
}

function updateTestCase(
  matched: MatchedTarget,
  resource: DesiredTestCase,
  live: LiveTestCase,
  memory: Memory,
  rediscover: boolean,
): Change | undefined {
  const diffs = withRediscovery(diffFields(TEST_CASE_FIELDS, resource, live, memory), resource, rediscover);
  const elements = diffElements(resource, live, memory);
  const body = { ...bodyOf(diffs), ...elements.body };
  const generates = diffs.some((diff) => diff.field.generates);
  const calls = [
    ...(Object.keys(body).length === 0 ? [] : [patchTestCase(matched, live.id, body)]),
    ...elements.locators.map((locator) => patchElement(matched, resource, live.id, locator)),
  ];
  if (calls.length === 0) return undefined;
  return {
    address: resource.address,
    action: takesOutOfRuns(body) ? "disable" : generates ? "rediscover" : "update",
    id: live.id,
    fields: [...diffs.flatMap((diff) => diff.shown), ...elements.shown],
    calls,
    followUps: generates ? regenerated(matched, resource, live.id, elements.locators) : [],
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
  matched: MatchedTarget,
  resource: DesiredTestCase,
  id: string,
  announced: readonly ElementMatch[],
): readonly PlannedCall[] {
  const positions = new Set(announced.map(({ at }) => at));
  const lines = newLocators(resource).filter(({ at }) => !positions.has(at));
  return [
    ...followUps(matched, resource, id),
    ...lines.map((line) => patchElement(matched, resource, id, line)),
  ];
}

/** `--rediscover` sends a prompt that, by all that is known, is already there. */
function withRediscovery(
  diffs: readonly FieldDiff<LiveTestCase>[],
  resource: DesiredTestCase,
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

function createTestCase(matched: MatchedTarget, resource: DesiredTestCase): Decision {
  const name = knownText(resource, "description");
  const prompt = knownText(resource, "discovery.prompt");
  if (name === undefined || prompt === undefined)
    return testCaseCannotBeCreated(resource, name === undefined ? "description" : "discovery.prompt");
  const prerequisite = prerequisiteOf(matched, resource);
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
          path: ["apiKey", "v3", "test-targets", targetId(matched), "discoveries"],
          body: discoveryBody(resource, prerequisite.name),
        },
        ...(afterwards.length === 0 ? [] : [patchTestCase(matched, self, bodyOf(afterwards))]),
        ...newLocators(resource).map((match) => patchElement(matched, resource, self, match)),
      ],
      followUps: followUps(matched, resource, self),
      dependsOn: [...needsTarget(matched), ...prerequisite.dependsOn],
    },
    diagnostics: [],
  };
}

function testCaseCannotBeCreated(resource: DesiredTestCase, missing: string): Decision {
  // A missing secret is said elsewhere, and nothing is planned from it.
  if (isUnknown(resource.fields[missing] ?? null)) return UNCHANGED;
  return {
    diagnostics: [
      problem(
        "cannot-create",
        resource,
        `No live test case matches, and it cannot be created without ${missing}`,
        `Declare \`${missing}\`, or bind it to a live test case with \`id:\`. The API creates test cases only from a prompt.`,
      ),
    ],
  };
}

function discoveryBody(
  resource: DesiredTestCase,
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
function writtenAfterwards(resource: DesiredTestCase) {
  return TEST_CASE_FIELDS.flatMap((field) => {
    const value = resource.fields[field.name];
    const left = field.behaviour.kind === "writeOnly" && field.create === undefined;
    return !left || value === undefined || value === null || isUnknown(value) ? [] : [{ field, value }];
  });
}

function newLocators(resource: DesiredTestCase): readonly ElementMatch[] {
  return declaredElements(resource.fields["elements"])
    .map((declared, at) => ({ declared, at, live: undefined }))
    .filter(({ declared }) => declared["locatorLine"] !== undefined && !isUnknown(declared));
}

/**
 * What the service may have set otherwise by the time it has generated: readable fields that the POST does not carry,
 * or leaves out because they are null.
 */
function followUps(
  matched: MatchedTarget,
  resource: DesiredTestCase,
  id: string | IdOf,
): readonly PlannedCall[] {
  const open = TEST_CASE_FIELDS.flatMap((field) => {
    const value = resource.fields[field.name];
    if (value === undefined || isUnknown(value) || field.update === undefined || field.generates) return [];
    if (field.behaviour.kind === "writeOnly" || (field.create !== undefined && value !== null)) return [];
    return [
      { field, value: field.name === "elements" ? elementsFromNothing(value, matched, resource) : value },
    ];
  });
  return open.length === 0 ? [] : [patchTestCase(matched, id, bodyOf(open))];
}

function elementsFromNothing(value: Value, matched: MatchedTarget, resource: DesiredTestCase): BodyValue {
  const memory = memoryOf(resource.address, "", undefined, matched.fingerprints);
  return elementBodies(alignElements(declaredElements(value), [], memory), []);
}

function patchTestCase(matched: MatchedTarget, id: string | IdOf, body: PlannedCall["body"]): PlannedCall {
  return { method: "PATCH", path: [...testCasePath(matched), id], body };
}

function patchElement(
  matched: MatchedTarget,
  resource: DesiredTestCase,
  id: string | IdOf,
  { declared, at, live }: ElementMatch,
): PlannedCall {
  const line = declared["locatorLine"] ?? "";
  const hide = typeof line === "string" && isSensitive(resource.fields["elements"] ?? null);
  return {
    method: "PATCH",
    path: [...testCasePath(matched), id, "elements", live?.id ?? new IdOfElement(at)],
    body: { locatorLine: hide ? new Secret(line) : line },
  };
}

function testCasePath(matched: MatchedTarget): PlannedCall["path"] {
  return ["apiKey", "v3", "test-targets", targetId(matched), "test-cases"];
}

type BatchGeneration = DesiredResource<"batchGeneration">;

/** service-api.md, operation 11: it runs once per content, and nothing can be read of it afterwards. */
function decideBatchGeneration(matched: MatchedTarget, resource: BatchGeneration, run: boolean): Decision {
  if (run || matched.live === undefined) return runBatchGeneration(matched, resource);
  const record = matched.state?.batchGenerations.get(resource.address);
  if (record === undefined)
    return hasHistory(matched) ? runBatchGeneration(matched, resource) : held(resource);
  switch (record.status) {
    case "undone":
      return runBatchGeneration(matched, resource);
    case "held":
      return held(resource);
    case "done":
      return contentChanged(matched, resource, record.content)
        ? runBatchGeneration(matched, resource)
        : UNCHANGED;
    case "uncertain":
      return contentChanged(matched, resource, record.content)
        ? runBatchGeneration(matched, resource)
        : uncertain(resource);
  }
}

/** A target that tasc has applied before: what it has not recorded there did not run. */
function hasHistory({ state }: MatchedTarget): boolean {
  return state !== undefined && state.bindings.size > 0;
}

/** Without the key, or with another one, nobody can tell; and then it must not run a second time. */
function contentChanged(
  matched: MatchedTarget,
  resource: BatchGeneration,
  recorded: Fingerprint | undefined,
): boolean {
  if (matched.fingerprints === undefined || recorded === undefined) return false;
  if (!keyHolds(matched.state, matched.fingerprints) || Object.values(resource.fields).some(isUnknown))
    return false;
  return batchContent(matched.fingerprints, resource) !== recorded;
}

/** The record of a batch generation's content: of what is sent, wherever `moved:` may have taken the address. */
export function batchContent(fingerprints: Fingerprinter, resource: DesiredResource): Fingerprint {
  const content = sentFields(resource).map(({ field, value }) => [field.name, value] as const);
  return fingerprints.of("batchGeneration", reveal(Object.fromEntries(content)));
}

function held(resource: BatchGeneration): Decision {
  return {
    diagnostics: [
      waysOn(
        resource,
        "batch-held",
        "Held: state does not record whether it ran",
        "The test target existed before tasc recorded state for it.",
      ),
    ],
  };
}

function uncertain(resource: BatchGeneration): Decision {
  return {
    diagnostics: [
      waysOn(
        resource,
        "batch-uncertain",
        "Unknown whether it ran",
        "An earlier apply sent it and got no readable answer, and the API cannot read batch generations.",
      ),
    ],
  };
}

/** A batch generation that is not run again by itself, and the two ways on. */
function waysOn(resource: BatchGeneration, code: string, summary: string, why: string): Diagnostic {
  return caution(
    code,
    resource,
    summary,
    `${why}\nIf it ran:      tasc state mark ${resource.address} done\nTo run it now: tasc apply --run ${resource.address}`,
  );
}

function runBatchGeneration(matched: MatchedTarget, resource: BatchGeneration): Decision {
  const declared = sentFields(resource);
  const lowered = declared.map(({ field, value }) => ({ field, ...lower(matched, resource, field, value) }));
  const problems = lowered.flatMap(({ problem }) => problem ?? []);
  if (problems.length > 0) return { diagnostics: problems };
  const body: Record<string, BodyValue> = {};
  for (const { field, sent } of lowered)
    if (field.create !== undefined && sent !== undefined) body[field.create] = sent;
  return {
    change: {
      address: resource.address,
      action: "create",
      fields: declared.flatMap(({ field, value }) => declaredChanges(field, value)),
      calls: [
        {
          method: "POST",
          path: ["apiKey", "v3", "test-targets", targetId(matched), "batch-generations"],
          body,
        },
      ],
      followUps: [],
      dependsOn: [...needsTarget(matched), ...lowered.flatMap(({ needs }) => needs ?? [])],
    },
    diagnostics: [],
  };
}

/** A declared null is left out, and so is what is not known. */
function sentFields(resource: DesiredResource) {
  return BATCH_GENERATION_FIELDS.flatMap((field) => {
    const value = sendable(resource, field.name);
    return value === undefined ? [] : [{ field, value }];
  });
}

/** A field as it goes into the body, and the creation that must come first; or why it cannot be sent. */
interface Lowered {
  readonly sent?: BodyValue;
  readonly needs?: Address;
  readonly problem?: Diagnostic;
}

function lower(
  matched: MatchedTarget,
  resource: BatchGeneration,
  field: Field<never>,
  value: Value,
): Lowered {
  if (field.shape.type !== "reference") return { sent: value };
  if (field.shape.to === "environment") {
    const address = addressOf("environment", matched.target.key, knownText(resource, field.name) ?? "");
    return idOrNeed(address, matched.environmentMatches.get(address));
  }
  const reference = testCaseReference(matched, value);
  if (reference === undefined) return {};
  if ("key" in reference) return idOrNeed(reference.key, matched.testCaseMatches.get(reference.key));
  const problem = unmanagedPrerequisiteProblem(matched, resource, reference.description, field.name);
  const [found] = unmanagedByName(matched, reference.description);
  return problem === undefined && found !== undefined ? { sent: found.id } : { ...(problem && { problem }) };
}

function idOrNeed(address: Address, match: Match<unknown> | undefined): Lowered {
  return match?.found === true ? { sent: match.id } : { sent: new IdOf(address), needs: address };
}

type PrerequisiteOf = DesiredResource<"testCase">;

export interface Prerequisite {
  readonly name?: BodyValue;
  readonly dependsOn: readonly Address[];
  readonly problem?: Diagnostic;
}

/**
 * The service finds a prerequisite by its name, so the name must be the one it has when the POST arrives: renames
 * come after the creations, so that is the live name where there is one.
 */
function prerequisiteOf(matched: MatchedTarget, resource: PrerequisiteOf): Prerequisite {
  const reference = testCaseReference(matched, resource.fields["discovery.prerequisite"]);
  if (reference === undefined) return { dependsOn: [] };
  if ("description" in reference) return unmanagedPrerequisite(matched, resource, reference.description);
  const match = matched.testCaseMatches.get(reference.key);
  const name = matched.resources.get(reference.key)?.fields["description"];
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

function unmanagedPrerequisite(
  matched: MatchedTarget,
  resource: PrerequisiteOf,
  description: string,
): Prerequisite {
  const found = unmanagedPrerequisiteProblem(matched, resource, description, "discovery.prerequisite");
  return found === undefined ? { name: description, dependsOn: [] } : { dependsOn: [], problem: found };
}

/** The error for `{ description: … }` that does not name exactly one unmanaged live test case. */
function unmanagedPrerequisiteProblem(
  matched: MatchedTarget,
  resource: DesiredResource,
  description: string,
  field: string,
): Diagnostic | undefined {
  const found = unmanagedByName(matched, description);
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

/** What the service would show for a fixed field; `undefined` where that cannot be told. */
export function expectedLive(
  matched: MatchedTarget,
  field: Field<LiveTestCase>,
  value: Value,
): Json | undefined {
  if (field.shape.type !== "reference") return typeof value === "string" ? value : undefined;
  const reference = testCaseReference(matched, value);
  if (reference === undefined) return undefined;
  if ("description" in reference) return unmanagedByName(matched, reference.description)[0]?.id;
  const match = matched.testCaseMatches.get(reference.key);
  return match?.found === true ? match.id : undefined;
}

/** What one target comes to. */
export interface TargetPlan {
  readonly target: DesiredTarget;
  /** Nothing where the target itself is unclear, so that nothing can be said of what is in it. */
  readonly matched: MatchedTarget | undefined;
  readonly changes: readonly Change[];
  readonly disables: readonly Change[];
  readonly orphans: readonly Orphan[];
  readonly unmanaged: number;
  readonly diagnostics: readonly Diagnostic[];
}

/** Matches all that is in a target, and decides on each part of it. */
export function planTarget(
  target: DesiredTarget,
  diagnostics: readonly Diagnostic[],
  match: Match<LiveTarget> | undefined,
  state: State | undefined,
  input: PlanInput,
): TargetPlan {
  if (match === undefined) return unclear(target, diagnostics);
  const live = match.found ? match.live : undefined;
  if (live === undefined && target.left) return unclear(target, diagnostics);
  const testCases = (input.live.testCases.get(live?.id ?? "") ?? []).filter(
    (testCase) => testCase.status !== DELETED,
  );
  const environments = matchEnvironments(target, live?.environments ?? [], state);
  const cases = matchTestCases(target, testCases, state);
  const matched: MatchedTarget = {
    target,
    resources: byAddress(resourcesOf(target)),
    live,
    testCases,
    state,
    fingerprints: input.fingerprints,
    environmentMatches: environments.byAddress,
    testCaseMatches: cases.byAddress,
  };
  const own = decideTarget(matched);
  if (live === undefined && own.change === undefined)
    return unclear(target, [...diagnostics, ...own.diagnostics]);
  const decisions = [own, ...decideParts(matched, input)];
  const orphans = orphansOf(matched);
  const changes = decisions.flatMap(({ change }) => change ?? []);
  return {
    target,
    matched,
    changes,
    disables: disablesOrphans(target, input)
      ? orphans.flatMap((one) => disableOrphan(matched, one) ?? [])
      : [],
    orphans,
    unmanaged: countUnmanaged(matched, orphans),
    diagnostics: [
      ...diagnostics,
      ...keyWarning(matched),
      ...removedWarnings(match, matched),
      ...environments.problems,
      ...cases.problems,
      ...decisions.flatMap((decision) => decision.diagnostics),
      ...renamedWarnings(matched, changes, orphans),
    ],
  };
}

function unclear(target: DesiredTarget, diagnostics: readonly Diagnostic[]): TargetPlan {
  return { target, matched: undefined, changes: [], disables: [], orphans: [], unmanaged: 0, diagnostics };
}

function disablesOrphans(target: DesiredTarget, input: PlanInput): boolean {
  return input.disableRemoved || target.onRemove === "disable";
}

function decideParts(matched: MatchedTarget, input: PlanInput): readonly Decision[] {
  return [
    ...matched.target.environments.map((resource) => decideEnvironment(matched, resource)),
    ...matched.target.testCases.map((resource) =>
      decideTestCase(matched, resource, input.rediscover.has(resource.address)),
    ),
    ...matched.target.batchGenerations.map((resource) =>
      decideBatchGeneration(matched, resource, input.run.has(resource.address)),
    ),
  ];
}

function keyWarning({ target, state, fingerprints }: MatchedTarget): readonly Diagnostic[] {
  if (fingerprints === undefined || keyHolds(state, fingerprints)) return [];
  return [
    caution(
      "key-changed",
      target,
      "State was written with another API key, so write-only fields are sent again; set `state.fingerprintKey` to avoid this when keys change",
      "Prompts and batch generations are not re-sent. If you changed any together with the key, use `--rediscover` or `--run`.",
    ),
  ];
}

function removedWarnings(match: Match<LiveTarget>, matched: MatchedTarget): readonly Diagnostic[] {
  const { target, environmentMatches, testCaseMatches } = matched;
  return [
    ...removedWarning(target, match),
    ...target.environments.flatMap((one) => removedWarning(one, environmentMatches.get(one.address))),
    ...target.testCases.flatMap((one) => removedWarning(one, testCaseMatches.get(one.address))),
  ];
}

function removedWarning(resource: DesiredResource, match: Match<unknown> | undefined): readonly Diagnostic[] {
  if (match === undefined || match.found || match.removed === undefined) return [];
  return [
    caution(
      "removed-outside",
      resource,
      "Removed outside tasc",
      `It was ${match.removed}, which the service no longer lists. It will be created again; remove it from the manifest to prevent this.`,
    ),
  ];
}
