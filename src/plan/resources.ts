import { type Address, type Kind, addressOf, compareText, parseAddress } from "../model/address.ts";
import { type DesiredResource, type DesiredTarget, byAddress, resourcesOf } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { DELETED, type Field, TEST_CASE_FIELDS, fieldsOf } from "../model/fields.ts";
import { type Json, valueAt } from "../model/json.ts";
import type { LiveResource, LiveTarget, LiveTestCase } from "../model/live.ts";
import type { BodyValue, Change, Orphan, PlannedCall } from "../model/plan.ts";
import type { Fingerprint, State } from "../model/state.ts";
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
import {
  type Fingerprinter,
  type PlanInput,
  caution,
  fewOf,
  knownText,
  ordered,
  problem,
  sendable,
} from "./input.ts";
import {
  type Match,
  type Matches,
  NAMED_BY,
  matchEnvironments,
  matchTestCases,
  matchedIds,
} from "./match.ts";
import { type Memory, type SecretFields, keyHolds, memoryOf } from "./memory.ts";
import { countUnmanaged, leftOffWarnings, renamedWarnings, undeclaredBindings } from "./orphans.ts";

/** What is to happen to one address, and what is to be said about it. */
type Decision = readonly (Change | Diagnostic)[];

const UNCHANGED: Decision = [];

const isChange = (one: Change | Diagnostic) => "action" in one;
const isSaid = (one: Change | Diagnostic) => "severity" in one;

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

/** A declared field with what is sent of it, if anything is. */
type Sent = Pick<FieldDiff, "field"> & { readonly value: BodyValue | undefined };

/**
 * service-api.md, "Endpoints": all calls begin alike. They are the same bytes in whatever order a manifest writes its maps;
 * the fields of a body stand in the order of the field table already. @param path what follows the target's id
 */
function callOf(
  method: PlannedCall["method"],
  { live, target }: MatchedTarget,
  path: PlannedCall["path"],
  body: Body,
): PlannedCall {
  const id = live?.id ?? new IdOf(target.address);
  const inOrder = Object.entries(body).map(([key, value]) => [key, ordered(value)] as const);
  return { method, path: ["apiKey", "v3", "test-targets", id, ...path], body: Object.fromEntries(inOrder) };
}

/** A PATCH of fields; none where there are none. */
function patchOf(matched: MatchedTarget, path: PlannedCall["path"], sent: readonly Sent[]): PlannedCall[] {
  return sent.length === 0 ? [] : [callOf("PATCH", matched, path, bodyOf(sent, "update"))];
}

/** Each field under its name on the service, objects with all declared parts. */
function bodyOf(sent: readonly Sent[], as: "create" | "update"): Body {
  const body: Record<string, BodyValue> = {};
  for (const { field, value } of sent) {
    const key = field[as];
    if (key !== undefined && value !== undefined) body[key] = value;
  }
  return body;
}

/** The declared fields that a creation sends: a null is left out, and so is what is not known. */
function sentFields(resource: DesiredResource) {
  return fieldsOf(resource.kind).flatMap((field) => {
    const value = sendable(resource, field.name);
    return value === undefined ? [] : [{ field, value }];
  });
}

function shownFields(sent: ReturnType<typeof sentFields>): Change["fields"] {
  return sent.flatMap(({ field, value }) => declaredChanges(field, value));
}

/** Changes that must come first because the target itself is yet to be made. */
function needsTarget({ live, target }: MatchedTarget): readonly Address[] {
  return live === undefined ? [target.address] : [];
}

/** service-api.md, operations 2 and 4. */
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

/** @param path what follows the target's id */
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

/** service-api.md, operations 5 and 6. */
function decideEnvironment(matched: MatchedTarget, resource: DesiredResource): Decision {
  const match = matched.matches.get(resource.address);
  if (match === undefined) return UNCHANGED;
  const { live } = match;
  if (live !== undefined) return updated(matched, resource, live, ["environments", live.id]);
  const sent = sentFields(resource);
  const create = (calls: readonly PlannedCall[]): Decision =>
    decided(resource, "create", { fields: shownFields(sent), calls, dependsOn: needsTarget(matched) });
  const body = { name: resource.key, ...bodyOf(sent, "create") };
  if (resource.key !== "default") return create([callOf("POST", matched, ["environments"], body)]);
  // It is made with the target, URL and all; what else is declared of it takes a PATCH.
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

/** service-api.md, operations 8, 9 and 10. */
function decideTestCase(matched: MatchedTarget, resource: DesiredResource, rediscover: boolean): Decision {
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

/** Whether a plan has nothing to say of a bound test case: told from the two alone, and so without those that refer to others. */
export function isAsDeclared(resource: DesiredResource, live: LiveTestCase, memory: Memory): boolean {
  for (const field of TEST_CASE_FIELDS) {
    const value = resource.fields[field.name];
    if (value === undefined) continue;
    if (field.shape.type === "reference") return false;
    const expected = typeof value === "string" ? value : undefined;
    if (compareField(field, value, live, memory, expected).kind === "differs") return false;
  }
  return !hasOpenLocators(resource, live, memory);
}

/** Warnings for fields that are fixed once the test case is made and differ from what is declared. */
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
  // `--rediscover` sends a prompt that, by all that is known, is already there.
  const isForced = rediscover && !found.some(({ field }) => field.generates);
  const forced = isForced ? sentFields(resource).filter(({ field }) => field.generates) : [];
  const diffs = [...found, ...forced.map((sent) => ({ ...sent, shown: shownFields([sent]) }))];
  const generates = diffs.some(({ field }) => field.generates);
  const elements = diffElements(resource, live, memory);
  const body = { ...bodyOf(diffs, "update"), ...elements.body };
  const calls = [
    ...(Object.keys(body).length === 0 ? [] : [callOf("PATCH", matched, ["test-cases", live.id], body)]),
    ...elements.locators.map((locator) => patchElement(matched, resource, live.id, locator)),
  ];
  if (calls.length === 0) return UNCHANGED;
  // Once the service has generated again, new elements want their locator lines, too.
  const unsent = newLines(resource).filter((line) => !elements.locators.some(({ at }) => at === line.at));
  const lines = unsent.map((line) => patchElement(matched, resource, live.id, line));
  const takesOutOfRuns = diffs.some(({ field: { off, update = "" } }) => {
    const value = body[update];
    return off !== undefined && (value instanceof Secret ? value.reveal() : value) === off;
  });
  const change = decided(resource, takesOutOfRuns ? "disable" : generates ? "rediscover" : "update", {
    id: live.id,
    fields: [...diffs.flatMap(({ shown }) => shown), ...elements.shown],
    calls,
    followUps: generates ? [...followUps(matched, resource, live.id), ...lines] : [],
  });
  return [...change, ...elements.warnings];
}

function createTestCase(matched: MatchedTarget, resource: DesiredResource): Decision {
  const missing = ["description", "discovery.prompt"].find((name) => knownText(resource, name) === undefined);
  if (missing !== undefined)
    // A missing secret is said elsewhere, and nothing is planned from it.
    return isUnknown(resource.fields[missing] ?? null)
      ? UNCHANGED
      : refused(
          "cannot-create",
          resource,
          `No live test case matches, and it cannot be created without ${missing}`,
          `Declare \`${missing}\`, or bind it to a live test case with \`id:\`. The API creates test cases only from a prompt.`,
        );
  const self = new IdOf(resource.address);
  // Whatever the service makes of the prompt, these it cannot have set.
  const settings = sentFields(resource).filter(({ field }) => (field.read ?? field.create) === undefined);
  return created(matched, resource, "discoveries", {
    calls: [
      ...patchOf(matched, ["test-cases", self], settings),
      ...newLines(resource).map((match) => patchElement(matched, resource, self, match)),
    ],
    followUps: followUps(matched, resource, self),
  });
}

/** A creation whose POST carries all that it can, and what references mean. @param after what follows the POST */
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

/** Elements as they are sent where there are none yet. */
function newElements({ fields: { elements } }: DesiredResource): readonly ElementMatch[] {
  return declaredElements(elements).map((declared, at) => ({ declared, at, live: undefined }));
}

function newLines(resource: DesiredResource): readonly ElementMatch[] {
  return newElements(resource).filter(
    ({ declared }) => declared["locatorLine"] !== undefined && !isUnknown(declared),
  );
}

/** What the service may set otherwise as it generates: readable fields that the POST does not carry, or leaves out as null. */
function followUps(
  matched: MatchedTarget,
  resource: DesiredResource,
  id: string | IdOf,
): readonly PlannedCall[] {
  const open = TEST_CASE_FIELDS.flatMap((field): readonly Sent[] => {
    const value = resource.fields[field.name];
    if (value === undefined || isUnknown(value) || field.update === undefined || field.generates) return [];
    if (field.read === undefined || (field.create !== undefined && value !== null)) return [];
    return [
      { field, value: field.compare === "elements" ? elementBodies(newElements(resource), []) : value },
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

/** service-api.md, operation 11: it runs once per content, and nothing can be read of it afterwards. */
function decideBatchGeneration(matched: MatchedTarget, resource: DesiredResource, run: boolean): Decision {
  const { live, state, fingerprints } = matched;
  const record = state?.batchGenerations.get(resource.address);
  // On a target that tasc has applied before, what it has not recorded did not run.
  const isNew = record === undefined && state !== undefined && state.bindings.size > 0;
  // Without the key, or with another one, nobody can tell; and then it must not run a second time.
  const isOther =
    record?.content !== undefined &&
    record.status !== "held" &&
    fingerprints !== undefined &&
    keyHolds(state, fingerprints) &&
    !Object.values(resource.fields).some(isUnknown) &&
    batchContent(fingerprints, resource) !== record.content;
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

/** The record of a batch generation's content: of what is sent, wherever `moved:` may have taken the address. */
export function batchContent(fingerprints: Fingerprinter, resource: DesiredResource): Fingerprint {
  const content = sentFields(resource).map(({ field, value }) => [field.name, value] as const);
  return fingerprints.of("batchGeneration", reveal(Object.fromEntries(content)));
}

/** A field as a creation sends it: what refers to another resource by the id of that, or by its name. */
interface Referred extends Sent {
  /** What must be made before. */
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
  if (shape.by !== "name") return { field, value: found?.id ?? (address && new IdOf(address)), needs };
  // The service looks for the name when the POST arrives: renames come later, so the live one counts first.
  const shown = found?.[NAMED_BY.testCase];
  const declared = address && matched.resources.get(address)?.fields[NAMED_BY.testCase];
  // The live form of what is declared as sensitive, or was when it was written, is so as well.
  const wasSecret =
    address !== undefined &&
    found !== undefined &&
    memoryOf(address, found.id, matched).secrets.includes(NAMED_BY.testCase);
  const isSecret = wasSecret || (declared !== undefined && isSensitive(declared));
  return { field, value: (shown !== undefined && isSecret ? new Secret(shown) : shown) ?? declared, needs };
}

/** What a reference stands for: a key of the target, or the live test cases of a name that no address means. */
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
  return { name, live: testCases.filter((one) => one.description === name && !managed.has(one.id)) };
}

/** The error for `{ description: … }` that does not name exactly one unmanaged live test case. */
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

/** What the service would show for a fixed field; `undefined` where that cannot be told. */
export function expectedLive(matched: MatchedTarget, { shape }: Field, value: Value): Json | undefined {
  if (shape.type !== "reference") return typeof value === "string" ? value : undefined;
  return value === null || isUnknown(value) ? undefined : referents(matched, shape.to, value).live[0]?.id;
}

/**
 * With `onRemove: disable`, an orphaned test case that is still in use is set to DISABLED; not if only an import has bound
 * it: its manifests may be on a branch yet, or given up.
 */
function disableOrphan(matched: MatchedTarget, orphan: Orphan): Decision {
  const { address, id } = orphan;
  const live = matched.testCases.find((testCase) => testCase.id === id);
  if (live === undefined || parseAddress(address)?.kind !== "testCase") return UNCHANGED;
  if (live.status === "DISABLED" || matched.state?.bindings.get(address)?.imported === true) return UNCHANGED;
  return decided(orphan, "disable", {
    id,
    fields: [{ path: ["status"], before: live.status ?? null, after: "DISABLED" }],
    calls: [callOf("PATCH", matched, ["test-cases", id], { status: "DISABLED" })],
  });
}

/** What one target comes to. */
export interface TargetPlan {
  /** Nothing where the target itself is unclear, so that nothing can be said of what is in it. */
  readonly matched?: MatchedTarget;
  readonly changes: readonly Change[];
  readonly orphans: readonly Orphan[];
  readonly unmanaged: number;
  readonly diagnostics: readonly Diagnostic[];
}

const UNCLEAR: TargetPlan = { changes: [], orphans: [], unmanaged: 0, diagnostics: [] };

/** Matches all that is in a target, and decides on each part of it. */
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
  // A target that left the manifests counts as orphaned, so nothing means it.
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
  };
  const own = decideTarget(matched);
  if (live === undefined && !own.some(isChange)) return { ...UNCLEAR, diagnostics: own.filter(isSaid) };
  const { orphans } = undeclaredBindings(matched);
  const disables = input.disableRemoved || target.onRemove === "disable" ? orphans : [];
  const decided = [
    own,
    ...target.environments.map((one) => decideEnvironment(matched, one)),
    ...target.testCases.map((one) => decideTestCase(matched, one, input.rediscover.has(one.address))),
    ...target.batchGenerations.map((one) => decideBatchGeneration(matched, one, input.run.has(one.address))),
    ...disables.map((one) => disableOrphan(matched, one)),
  ].flat();
  const changes = decided.filter(isChange);
  // No loop: V8 would optimise all of this function for it, which takes longer than the rest of a plan.
  const warnings = [...matches].flatMap(([address, { removed }]) => {
    const resource = matched.resources.get(address);
    if (removed === undefined || resource === undefined) return [];
    const detail = `It was ${removed}, which the service no longer lists. It will be created again; remove it from the manifest to prevent this.`;
    return [caution("removed-outside", resource, "Removed outside tasc", detail)];
  });
  if (input.fingerprints !== undefined && !keyHolds(state, input.fingerprints))
    warnings.unshift(
      caution(
        "key-changed",
        target,
        "State was written with another API key, or by tasc 1.0, so write-only fields are sent again; set `state.fingerprintKey` to avoid this when keys change",
        "Prompts and batch generations are not re-sent. If you changed any together with the key, use `--rediscover` or `--run`.",
      ),
    );
  return {
    matched,
    changes,
    orphans,
    unmanaged: countUnmanaged(matched, orphans),
    diagnostics: [
      ...warnings,
      ...problems,
      ...decided.filter(isSaid),
      ...renamedWarnings(matched, changes, orphans),
      ...leftOffWarnings(matched),
    ],
  };
}
