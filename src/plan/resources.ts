import { type Address, type Kind, addressOf, compareText, parseAddress } from "../model/address.ts";
import {
  type DesiredResource,
  type DesiredTarget,
  byAddress,
  resourcesOf,
  knownText,
  sendable,
} from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { DELETED, type Field, TEST_CASE_FIELDS, fieldsOf } from "../model/fields.ts";
import { type Json, valueAt } from "../model/json.ts";
import type { LiveResource, LiveTarget, LiveTestCase } from "../model/live.ts";
import type { BodyValue, Change, Orphan, PlannedCall } from "../model/plan.ts";
import type { State } from "../model/state.ts";
import { areAccepted } from "../model/steps.ts";
import { IdOf, Secret, type Value, isSensitive, isUnknown, reveal } from "../model/value.ts";
import {
  type FieldDiff,
  type MatchedTarget,
  compareField,
  declaredChanges,
  diffFields,
  display,
} from "./compare.ts";
import {
  type ElementMatch,
  type Body,
  declaredElements,
  diffElements,
  elementBodies,
  hasOpenLocators,
  namelessElements,
} from "./elements.ts";
import { idsOf, ranWith } from "./batches.ts";
import { generationTrouble } from "./generation.ts";
import type { PlanInput } from "./input.ts";
import { caution, fewOf, problem } from "./problem.ts";
import { ordered } from "./normalise.ts";
import {
  type Match,
  type Matches,
  NAMED_BY,
  matchEnvironments,
  matchTestCases,
  matchedIds,
} from "./match.ts";
import { type Memory, type SecretFields, keyHolds, memoryOf } from "./memory.ts";
import { reviewed } from "./steps.ts";
import { countUnmanaged, leftOffWarnings, renamedWarnings, undeclaredBindings } from "./orphans.ts";

/** A test case that the plan would switch on if it had steps, and these were as accepted. */
interface Held {
  readonly held: Address;
}

/** The changes and diagnostics of one address. */
type Decision = readonly (Change | Diagnostic | Held)[];

const UNCHANGED: Decision = [];

const isChange = (one: Decision[number]) => "action" in one;
const isDiagnostic = (one: Decision[number]) => "severity" in one;
const isHeld = (one: Decision[number]) => "held" in one;

function decided(
  { address }: Pick<Change, "address">,
  action: Change["action"],
  rest: Pick<Change, "fields" | "calls"> & Partial<Change>,
): Decision {
  return [{ address, action, followUps: [], dependsOn: [], ...rest }];
}

function refused(...refusal: Parameters<typeof problem>): Decision {
  return [problem(...refusal)];
}

/** A declared field with the value to send, if any. */
type Sent = Pick<FieldDiff, "field"> & { readonly value: BodyValue | undefined };

/**
 * Makes a call below a target (service-api.md, "Endpoints"). Keys inside fields are sorted, so that
 * the bytes do not depend on the manifest; fields are already in the order of the field table.
 * @param path segments after the target's id
 */
function callOf(
  method: PlannedCall["method"],
  { live, target }: MatchedTarget,
  path: PlannedCall["path"],
  body: Body,
): PlannedCall {
  const id = live?.id ?? new IdOf(target.address);
  const inOrder = Object.entries(body).map(([key, value]) => [key, ordered(value)] as const);
  return {
    method,
    path: ["apiKey", "v3", "test-targets", id, ...path],
    body: Object.fromEntries(inOrder),
  };
}

/** Returns a PATCH of the fields, or an empty list if nothing is sent. */
function patchOf(
  matched: MatchedTarget,
  path: PlannedCall["path"],
  sent: readonly Sent[],
): PlannedCall[] {
  return sent.length === 0 ? [] : [callOf("PATCH", matched, path, bodyOf(sent, "update"))];
}

/**
 * Returns a body with each field under its name on the service; objects have all declared parts.
 */
function bodyOf(sent: readonly Sent[], as: "create" | "update"): Body {
  const body: Record<string, BodyValue> = {};
  for (const { field, value } of sent) {
    const key = field[as];
    if (key !== undefined && value !== undefined) body[key] = value;
  }
  return body;
}

/** Returns the declared fields that a creation sends, without null and unknown values. */
function sentFields(resource: DesiredResource) {
  return fieldsOf(resource.kind).flatMap((field) => {
    const value = field.local ? undefined : sendable(resource, field.name);
    return value === undefined ? [] : [{ field, value }];
  });
}

function shownFields(sent: ReturnType<typeof sentFields>): Change["fields"] {
  return sent.flatMap(({ field, value }) => declaredChanges(field, value));
}

/** Returns the target's address if the target must be created first. */
function needsTarget({ live, target }: MatchedTarget): readonly Address[] {
  return live === undefined ? [target.address] : [];
}

/** Decides on a target (service-api.md, operations 2 and 4). */
function decideTarget(matched: MatchedTarget): Decision {
  const { target, live } = matched;
  if (live !== undefined) return updated(matched, target, live, []);
  const environment = target.environments.find(({ key }) => key === "default");
  const app = sendable(target, "app");
  const discoveryUrl = environment && sendable(environment, "discoveryUrl");
  if (app === undefined || discoveryUrl === undefined) {
    const missing = app === undefined ? "app" : "environments.default.discoveryUrl";
    return refused(
      "cannot-create",
      target,
      `No live test target matches, and it cannot be created without ${missing}`,
      `Declare \`${missing}\` of ${target.address}, or bind it to a live one with \`id:\`.`,
    );
  }
  const sent = sentFields(target);
  const settings = sent.filter(({ field }) => field.create === undefined);
  const path = ["apiKey", "v3", "test-targets"];
  const post: PlannedCall = { method: "POST", path, body: { testTarget: { app, discoveryUrl } } };
  return decided(target, "create", {
    fields: shownFields(sent),
    calls: [post, ...patchOf(matched, [], settings)],
  });
}

/** Plans the update of a live target or environment. @param path segments after the target's id */
function updated(
  matched: MatchedTarget,
  resource: DesiredResource,
  live: LiveResource,
  path: PlannedCall["path"],
): Decision {
  const diffs = diffFields(resource, live, memoryOf(resource.address, live.id, matched));
  if (diffs.length === 0) return UNCHANGED;
  const fields = diffs.flatMap(({ shown }) => shown);
  return decided(resource, "update", { id: live.id, fields, calls: patchOf(matched, path, diffs) });
}

/** Decides on an environment (service-api.md, operations 5 and 6). */
function decideEnvironment(matched: MatchedTarget, resource: DesiredResource): Decision {
  const match = matched.matches.get(resource.address);
  if (match === undefined) return UNCHANGED;
  const { live } = match;
  if (live !== undefined) return updated(matched, resource, live, ["environments", live.id]);
  const sent = sentFields(resource);
  const create = (calls: readonly PlannedCall[]): Decision =>
    decided(resource, "create", {
      fields: shownFields(sent),
      calls,
      dependsOn: needsTarget(matched),
    });
  const body = { name: resource.key, ...bodyOf(sent, "create") };
  if (resource.key !== "default") return create([callOf("POST", matched, ["environments"], body)]);
  // The service creates it with the target, including the URL; other declared fields need a PATCH.
  const settings = sent.filter(({ field }) => field.name !== "discoveryUrl");
  if (matched.live === undefined)
    return create(patchOf(matched, ["environments", new IdOf(resource.address)], settings));
  return refused(
    "no-default-environment",
    resource,
    "The live test target has no DEFAULT environment",
    "The service creates it together with the target, and the API cannot add one later. Bind the right environment with `id:`, or declare it under another key.",
  );
}

/** Decides on a test case (service-api.md, operations 8, 9 and 10). */
function decideTestCase(
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
 * Whether a plan has nothing to report on a bound test case; false if it refers to others, which
 * are not looked at.
 */
export function isAsDeclared(
  resource: DesiredResource,
  live: LiveTestCase,
  memory: Memory,
): boolean {
  for (const field of TEST_CASE_FIELDS) {
    const value = resource.fields[field.name];
    if (value === undefined) continue;
    if (field.shape.type === "reference") return false;
    const expected = typeof value === "string" ? value : undefined;
    if (compareField(field, value, live, memory, expected).kind === "differs") return false;
  }
  return !hasOpenLocators(resource, live, memory);
}

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
  const forced = isForced ? sentFields(resource).filter(({ field }) => field.generates) : [];
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
  const unsent = newLines(resource).filter(
    (line) => !elements.locators.some(({ at }) => at === line.at),
  );
  const lines = unsent.map((line) => patchElement(matched, resource, live.id, line));
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
        ? [...followUps(matched, resource, live.id, isUnreviewed), ...lines]
        : [],
      ...(elements.losses && { losses: elements.losses }),
    },
  );
  return [...change, ...elements.warnings, ...held];
}

/** Whether writing a value puts a test case into runs. */
function switchesOn({ on }: Field, value: Value): boolean {
  return on !== undefined && reveal(value) === on;
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
  const settings = sentFields(resource).filter(
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
  return staysOff && sentFields(resource).some(({ field, value }) => switchesOn(field, value))
    ? [...decision, { held: resource.address }]
    : decision;
}

/**
 * Plans a creation: the POST carries all the fields it can, with references resolved.
 * @param after calls after the POST
 */
function created(
  matched: MatchedTarget,
  resource: DesiredResource,
  path: string,
  after: Pick<Change, "calls"> & Partial<Change> = { calls: [] },
): Decision {
  const sent = sentFields(resource);
  const meant = sent.map((one) => referred(matched, resource, one));
  const problems = meant.flatMap((one) => one.problem ?? []);
  if (problems.length > 0) return problems;
  return decided(resource, "create", {
    ...after,
    fields: shownFields(sent),
    calls: [callOf("POST", matched, [path], bodyOf(meant, "create")), ...after.calls],
    dependsOn: [...needsTarget(matched), ...meant.flatMap(({ needs }) => needs ?? [])],
  });
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
  const open = TEST_CASE_FIELDS.flatMap((field): readonly Sent[] => {
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

/**
 * Decides on a batch generation (service-api.md, operation 11): it runs once per content and can
 * never be read.
 */
function decideBatchGeneration(
  matched: MatchedTarget,
  resource: DesiredResource,
  run: boolean,
): Decision {
  const { live, state, fingerprints } = matched;
  const record = state?.batchGenerations.get(resource.address);
  // On a target that tasc has applied before, an unrecorded batch generation did not run.
  const isNew = record === undefined && state !== undefined && state.bindings.size > 0;
  // Without the key, or with another one, contents cannot be compared, and it must not run a second
  // time.
  const isOther =
    record?.content !== undefined &&
    record.status !== "held" &&
    fingerprints !== undefined &&
    keyHolds(state, fingerprints) &&
    !Object.values(resource.fields).some(isUnknown) &&
    !ranWith(record, fingerprints, resource, idsOf(matched));
  if (run || live === undefined || record?.status === "undone" || isNew || isOther)
    return created(matched, resource, "batch-generations");
  if (record?.status === "done") return UNCHANGED;
  const { address } = resource;
  const [code, summary, why] =
    record?.status === "uncertain"
      ? [
          "batch-uncertain",
          "Unknown whether it ran",
          "An earlier apply sent it and got no readable answer, and the API cannot read batch generations.",
        ]
      : [
          "batch-held",
          "Held: state does not record whether it ran",
          "The test target existed before tasc recorded state for it.",
        ];
  const ways = `If it ran:      tasc state mark ${address} done\nTo run it now: tasc apply --run ${address}`;
  return [caution(code, resource, summary, `${why}\n${ways}`)];
}

/** A field as a creation sends it: a reference becomes the id or the name of the other resource. */
interface Referred extends Sent {
  /** Resources that must be created first. */
  readonly needs?: readonly Address[];
  readonly problem?: Diagnostic;
}

function referred(
  matched: MatchedTarget,
  resource: DesiredResource,
  sent: ReturnType<typeof sentFields>[number],
): Referred {
  const { field, value } = sent;
  const { shape } = field;
  if (shape.type !== "reference") return sent;
  const { address, name, live } = referents(matched, shape.to, value);
  const [found, ...others] = live;
  if (address === undefined && (found === undefined || others.length > 0))
    return { field, value: undefined, problem: notOneByName(resource, name, live, field) };
  const needs = address === undefined || found !== undefined ? [] : [address];
  if (shape.by !== "name")
    return { field, value: found?.id ?? (address && new IdOf(address)), needs };
  // The service looks up the name when the POST arrives. Renames come later, so the live name takes
  // precedence.
  const shown = found?.[NAMED_BY.testCase];
  const declared = address && matched.resources.get(address)?.fields[NAMED_BY.testCase];
  // The live name is sensitive if the declared name is, or was when it was written.
  const wasSecret =
    address !== undefined &&
    found !== undefined &&
    memoryOf(address, found.id, matched).secrets.includes(NAMED_BY.testCase);
  const isSecret = wasSecret || (declared !== undefined && isSensitive(declared));
  return {
    field,
    value: (shown !== undefined && isSecret ? new Secret(shown) : shown) ?? declared,
    needs,
  };
}

/**
 * Resolves a reference: a key of the same target, or the live test cases with a name that no
 * address matches.
 */
function referents(
  { target, matches, testCases }: MatchedTarget,
  to: Exclude<Kind, "target">,
  value: Value,
): { readonly address?: Address; readonly name?: Json; readonly live: readonly LiveResource[] } {
  const plain = reveal(value);
  if (typeof plain === "string") {
    const address = addressOf(to, target.key, plain);
    const live = matches.get(address)?.live;
    return { address, live: live === undefined ? [] : [live] };
  }
  const name = valueAt(plain, [NAMED_BY.testCase]) ?? null;
  const managed = matchedIds(matches);
  return {
    name,
    live: testCases.filter((one) => one.description === name && !managed.has(one.id)),
  };
}

/**
 * Makes the error for a `{ description: … }` that does not name exactly one unmanaged live test
 * case.
 */
function notOneByName(
  resource: DesiredResource,
  description: Json | undefined,
  found: readonly LiveResource[],
  { path }: Field,
): Diagnostic {
  const ids = found.map(({ id }) => `  ${id}`).toSorted(compareText);
  const name = JSON.stringify(description);
  const [summary, detail] =
    ids.length === 0
      ? [
          `No unmanaged live test case is named ${name}`,
          "Correct the name, or, if a manifest declares the test case, write its key instead.",
        ]
      : [
          `${ids.length} unmanaged live test cases are named ${name}`,
          `The service finds a prerequisite by its name, so it must be the only one:\n${fewOf(ids, "\n")}\nRename the others.`,
        ];
  return problem("prerequisite-by-name", resource, summary, detail, path);
}

/**
 * Returns the value that the service would show for a fixed field, or `undefined` if it is unknown.
 */
export function expectedLive(
  matched: MatchedTarget,
  { shape }: Field,
  value: Value,
): Json | undefined {
  if (shape.type !== "reference") return typeof value === "string" ? value : undefined;
  return value === null || isUnknown(value)
    ? undefined
    : referents(matched, shape.to, value).live[0]?.id;
}

/**
 * Plans to set an orphaned test case that is still in use to DISABLED (`onRemove: disable`). If
 * only an import has bound it, it is left alone: its manifests may still be on a branch, or may
 * have been abandoned.
 */
function disableOrphan(matched: MatchedTarget, orphan: Orphan): Decision {
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

/** The plan of one target. */
export interface TargetPlan {
  /** Absent if the target itself is unclear, so that nothing in it can be planned. */
  readonly matched?: MatchedTarget;
  readonly changes: readonly Change[];
  readonly held: readonly Address[];
  readonly orphans: readonly Orphan[];
  readonly unmanaged: number;
  readonly diagnostics: readonly Diagnostic[];
}

const UNCLEAR: TargetPlan = { changes: [], held: [], orphans: [], unmanaged: 0, diagnostics: [] };

/** Matches all resources of a target, and decides on each of them. */
export function planTarget(
  target: DesiredTarget,
  match: Match<LiveTarget> | undefined,
  state: State | undefined,
  input: PlanInput,
  secrets: SecretFields,
): TargetPlan {
  const { live } = match ?? {};
  if (match === undefined || (live === undefined && target.left)) return UNCLEAR;
  const testCases = (input.live.testCases.get(live?.id ?? "") ?? []).filter(
    ({ status }) => status !== DELETED,
  );
  // A target that left the manifests counts as orphaned, so no address matches it.
  const matches: Matches = new Map(target.left ? [] : [[target.address, match]]);
  const problems = [
    ...matchEnvironments(target, live?.environments ?? [], state, matches),
    ...matchTestCases(target, testCases, state, matches),
  ];
  const matched: MatchedTarget = {
    target,
    resources: byAddress(resourcesOf(target)),
    live,
    testCases,
    state,
    fingerprints: input.fingerprints,
    secrets,
    matches,
    steps: input.steps,
  };
  const own = decideTarget(matched);
  if (live === undefined && !own.some(isChange))
    return { ...UNCLEAR, diagnostics: own.filter(isDiagnostic) };
  const { orphans } = undeclaredBindings(matched);
  const disables = input.disableRemoved || target.onRemove === "disable" ? orphans : [];
  const decided = [
    own,
    ...target.environments.map((one) => decideEnvironment(matched, one)),
    ...target.testCases.map((one) =>
      decideTestCase(matched, one, input.rediscover.has(one.address)),
    ),
    ...target.batchGenerations.map((one) =>
      decideBatchGeneration(matched, one, input.run.has(one.address)),
    ),
    ...disables.map((one) => disableOrphan(matched, one)),
  ].flat();
  const changes = decided.filter(isChange);
  // Not a loop: for it, V8 would optimise this whole function, which takes longer than the rest of
  // a plan.
  const warnings = [...matches].flatMap(([address, { removed, live: now }]) => {
    const resource = matched.resources.get(address);
    if (removed === undefined || resource === undefined) return [];
    const next = now
      ? `${now.id} has its name and will be used instead; set \`id:\` if another one is meant.`
      : "It will be created again. To prevent this, remove it from the manifest; if other stages still have it, leave it out of this stage with `onlyStages` instead.";
    const detail = `It was ${removed}, which the service no longer lists. ${next}`;
    return [caution("removed-outside", resource, "Removed outside tasc", detail)];
  });
  if (input.fingerprints !== undefined && !keyHolds(state, input.fingerprints))
    warnings.unshift(
      caution(
        "key-changed",
        target,
        input.fingerprints.source === "fingerprintKey"
          ? "`state.fingerprintKey` is not the key that state was written with, so write-only fields are sent again; unless the key was changed on purpose, it is the wrong one"
          : "State was written with another API key, or by tasc 1.0, so write-only fields are sent again; set `state.fingerprintKey` to avoid this when keys change",
        "Prompts and batch generations are not re-sent. If you changed any together with the key, use `--rediscover` or `--run`.",
      ),
    );
  return {
    matched,
    changes,
    held: decided.filter(isHeld).map(({ held }) => held),
    orphans,
    unmanaged: countUnmanaged(matched, orphans),
    diagnostics: [
      ...warnings,
      ...problems,
      ...decided.filter(isDiagnostic),
      ...renamedWarnings(matched, changes, orphans),
      ...leftOffWarnings(matched),
    ],
  };
}
