import { type Address, targetOf } from "../model/address.ts";
import type { Failure } from "../model/events.ts";
import { countValues } from "../model/collections.ts";
import { ELEMENTS, type Field, GENERATING_KEYS, fieldsOf } from "../model/fields.ts";
import { type Json, isArray, isObject } from "../model/json.ts";
import { type BodyValue, type Change, type PlannedCall, plainBody } from "../model/plan.ts";
import type { StateEvent } from "../model/state.ts";
import { Secret } from "../model/value.ts";
import { NOT_READ_YET, locatorDigest } from "../plan/elements.ts";
import { withSecrets } from "../plan/memory.ts";
import { discoveryMark } from "../plan/generation.ts";
import { isRediscovering, onlyReviewed, withBodyKeys } from "../plan/staleness.ts";
import { ServiceError } from "../service/failure.ts";
import { isSegment } from "../service/request.ts";
import { unsureEvents } from "../state/events.ts";
import {
  type Run,
  type Status,
  allSaved,
  folderName,
  hasStatus,
  filledSegment,
  failureOf,
  mayContinue,
  record,
  recordSoon,
  recordsOf,
  sendCall,
  settle,
  stopped,
} from "./run.ts";
import { create, findDefault, isDefaultCreation } from "./create.ts";

export interface Step {
  readonly change: Change;
  /**
   * Addresses of the same phase that must have been tried before, and whose result must be known by
   * then.
   */
  readonly after: readonly Address[];
  /**
   * The reviewed change, if this step is only a part of it and the rest follows in a later phase.
   */
  readonly partOf?: Change;
}

/**
 * Carries out the changes of one phase concurrently, each after those it depends on. A change is
 * skipped if a resource that it needs was not created. Ready steps run in the given order, so that
 * a run with a concurrency of one is always the same. If nothing more may be started, running steps
 * still finish.
 * @param targetEnded called for each target when its last step has ended
 */
export async function runPhase(
  run: Run,
  steps: readonly Step[],
  targetEnded?: (key: string) => Promise<void>,
): Promise<void> {
  const waitingFor = new Map<Step, number>();
  const dependants = new Map<Address, Step[]>();
  const own = new Set(steps.map(({ change }) => change.address));
  for (const step of steps) {
    const { address, dependsOn } = step.change;
    const needed = new Set(
      [...dependsOn, ...step.after].filter((one) => own.has(one) && one !== address),
    );
    waitingFor.set(step, needed.size);
    for (const one of needed) dependants.set(one, [...(dependants.get(one) ?? []), step]);
  }
  const ready = steps.filter((step) => waitingFor.get(step) === 0);
  const left = new Map(countValues(steps.map(({ change }) => targetOf(change.address))));
  const errors: unknown[] = [];
  let next = 0;
  let running = 0;
  await new Promise<void>((resolve) => {
    const advance = (): void => {
      while (errors.length === 0 && running < run.concurrency && mayContinue(run)) {
        const step = ready[next];
        if (step === undefined) break;
        next++;
        running++;
        void runStep(run, step)
          .then(() => leave(step))
          .catch((error: unknown) => errors.push(error))
          .then(() => ended(step));
      }
      if (running === 0) resolve();
    };
    const leave = async ({ change }: Step): Promise<void> => {
      const key = targetOf(change.address);
      const others = (left.get(key) ?? 1) - 1;
      left.set(key, others);
      if (others === 0) await targetEnded?.(key);
    };
    const ended = ({ change }: Step): void => {
      running--;
      for (const step of dependants.get(change.address) ?? []) {
        const needed = (waitingFor.get(step) ?? 1) - 1;
        waitingFor.set(step, needed);
        if (needed === 0) ready.push(step);
      }
      advance();
    };
    advance();
  });
  if (errors.length > 0) throw errors[0];
  await allSaved(run);
  if (mayContinue(run)) return;
  for (const { change } of steps)
    if (!run.progress.statuses.has(change.address)) settle(run, change.address, stopped(run));
}

async function runStep(run: Run, step: Step): Promise<void> {
  const { address, action } = step.change;
  if (hasStatus(run, address, "failed", "skipped")) return;
  // A resource that was created and failed afterwards is not missing: others can refer to it.
  const isMissing = (one: Address) =>
    hasStatus(run, one, "failed", "skipped") && !run.progress.created.has(one);
  // A similar creation with an unknown result also blocks this step: its resource could be mistaken
  // for this step's.
  const missing =
    step.change.dependsOn.find(isMissing) ?? step.after.find((one) => run.known.open.has(one));
  if (missing !== undefined)
    return settle(run, address, { kind: "skipped", reason: { kind: "needs", address: missing } });
  if (hasStatus(run, address, "halfway")) run.progress.statuses.delete(address);
  else run.emit({ type: "changeStarted", address, action });
  // A change also fails if its answer or its intent could not be recorded.
  const failed = (error: unknown): Status => ({ kind: "failed", failure: failureOf(run, error) });
  settle(run, address, await carryOut(run, step).catch(failed));
}

/** Carries out one change: its calls one after another, each recorded as soon as it is answered. */
async function carryOut(run: Run, { change, partOf }: Step): Promise<Status> {
  const { address } = change;
  const resource = run.resources.get(address);
  if (resource !== undefined && isDefaultCreation(change)) await findDefault(run, resource);
  let elements: readonly string[] = [];
  let failure: Failure | undefined;
  // The remaining calls refer to elements whose ids only another look can show.
  let isHalfway = false;
  let isOvertaken = false;
  for (const call of change.calls) {
    if (!mayContinue(run)) {
      if (failure === undefined) return stopped(run);
      break;
    }
    const isUnknown = (id: unknown): boolean =>
      typeof id === "number" && elements[id] === undefined;
    if (call.path.some((segment) => typeof segment === "object" && isUnknown(segment.of))) {
      isHalfway = true;
      continue;
    }
    try {
      const answer = await (call.method === "POST" ? post : patch)(run, change, call, elements);
      run.progress.answered.set(address, (run.progress.answered.get(address) ?? 0) + 1);
      if (Object.hasOwn(call.body, "elements")) elements = elementIds(answer);
    } catch (error) {
      const refusal = failureOf(run, error);
      if (canBeOvertaken(run, change, call, refusal)) isOvertaken = true;
      else failure ??= refusal;
      // Continue with the other elements, which do not depend on this one.
      if (refusal.fatal || !call.path.includes("elements")) break;
    }
  }
  if (isOvertaken) run.generations.overtaken.add(address);
  if (failure !== undefined) return { kind: "failed", failure };
  if (isHalfway || isOvertaken || partOf !== undefined)
    return { kind: "halfway", change: partOf ?? change };
  return { kind: "done", change };
}

/**
 * Whether a refusal may come from a generation that has ended meanwhile: it replaces the elements,
 * so their old ids are gone. A generation ends only once, so a refusal after another look has
 * another reason.
 */
function canBeOvertaken(
  { sessions, generations }: Run,
  { address }: Change,
  { path, body }: PlannedCall,
  failure: Failure,
): boolean {
  const namesElements = path.includes("elements") || Object.hasOwn(body, "elements");
  if (
    failure.fatal ||
    failure.acted !== "no" ||
    !namesElements ||
    generations.overtaken.has(address)
  )
    return false;
  const binding = sessions.get(targetOf(address))?.state.bindings.get(address);
  return generations.started.has(address) || binding?.generating !== undefined;
}

async function post(run: Run, { address }: Change, call: PlannedCall): Promise<undefined> {
  const resource = run.resources.get(address);
  if (resource === undefined)
    throw new TypeError(`a creation of ${address}, which is not declared`);
  await create(run, resource, call);
  if (resource.kind === "testCase") {
    run.generations.started.add(address);
    noteFolder(run, address, call);
  }
}

async function patch(
  run: Run,
  change: Change,
  call: PlannedCall,
  elements: readonly string[],
): Promise<Json | undefined> {
  const { address } = change;
  const secrets = secretsIn(run, change, call);
  // From now on, the service may show them, even if the answer is lost.
  if (secrets.length > 0)
    await record(run, targetOf(address), [{ type: "wrote", address, fields: {}, secrets }]);
  const answer = await sendCall(run, address, call, elements).catch((error: unknown) => {
    if (error instanceof ServiceError && error.failure.acted !== "no")
      recordSoon(run, targetOf(address), unsureOf(run, change, call, elements), "from a crash");
    throw error;
  });
  const events: StateEvent[] = [...patchEvents(run, change, call, elements, answer, secrets)];
  const generates = GENERATING_KEYS.some((key) => Object.hasOwn(call.body, key));
  if (generates) {
    run.generations.started.add(address);
    // The mark of its discovery when the plan was made.
    const match = run.planned.matched.get(targetOf(address))?.matches.get(address);
    events.push({ type: "generating", address, shown: discoveryMark(match?.live?.discovery) });
  }
  noteFolder(run, address, call);
  events.push({ type: "answered", address });
  // Durable, because sending a prompt again would generate again, and that costs.
  recordSoon(run, targetOf(address), events, generates ? "for good" : "from a crash");
  return answer;
}

function noteFolder({ known }: Run, address: Address, call: PlannedCall): void {
  const folder = folderName(call);
  if (folder !== undefined) known.folders.set(address, folder);
}

/**
 * Returns the events that record a PATCH whose outcome is unknown: the service may have either
 * value now, or get the new one later, so no record of an earlier value may stay.
 */
function unsureOf(
  run: Run,
  { address }: Change,
  call: PlannedCall,
  elements: readonly string[],
): readonly StateEvent[] {
  if (Object.hasOwn(call.body, "locatorLine"))
    return unsureEvents(address, [], [filledSegment(run, call.path.at(-1) ?? "", elements)]);
  const rows = fieldsOf(run.resources.get(address)?.kind ?? "testCase");
  const carried = rows.filter(({ update }) => update && Object.hasOwn(call.body, update));
  return unsureEvents(
    address,
    carried.map(({ name }) => name),
  );
}

/** Returns the events that record an answered PATCH. */
function patchEvents(
  run: Run,
  { address, action, id = run.known.ids.get(address) }: Change,
  call: PlannedCall,
  elements: readonly string[],
  answer: Json | undefined,
  shown: readonly string[],
): readonly StateEvent[] {
  const { fingerprints } = run;
  // The desired values of a test case that left the manifests.
  const disabled = {
    kind: "testCase",
    address,
    key: "",
    fields: { status: "DISABLED" },
    layers: [],
  } as const;
  const resource = run.resources.get(address) ?? (action === "disable" ? disabled : undefined);
  if (resource === undefined || id === undefined) return [];
  const { locatorLine: line } = call.body;
  if (typeof line === "string" || line instanceof Secret) {
    const element = filledSegment(run, call.path.at(-1) ?? "", elements);
    // Until the element is read, the selectors that the service makes of the line are unknown.
    // Later plans compare with the selectors in the list.
    const record = { line: locatorDigest(fingerprints, element, line), selectors: NOT_READ_YET };
    return [{ type: "located", address, locators: { [element]: record } }];
  }
  const isCarried = ({ update = "" }: Field) => Object.hasOwn(call.body, update);
  const records = recordsOf(fingerprints, resource, id, isCarried);
  const name = folderName(call);
  const folderId = isObject(answer) ? answer["folderId"] : undefined;
  const learnt: readonly StateEvent[] =
    name !== undefined && typeof folderId === "string"
      ? [{ type: "folder", name, id: folderId }]
      : [];
  const secrets = withSecrets([...new Set([...(records.secrets ?? []), ...shown])]);
  return [{ type: "wrote", address, ...records, ...secrets }, ...learnt];
}

/**
 * Returns the readable fields that a call writes a secret to, including elements that contain it or
 * derive from it.
 */
function secretsIn(
  { resources }: Run,
  { address }: Change,
  { body }: PlannedCall,
): readonly string[] {
  if (body["locatorLine"] instanceof Secret) return ["elements"];
  if (!hasSecret(body)) return [];
  const rows = fieldsOf(resources.get(address)?.kind ?? "testCase");
  return rows.flatMap(({ name, read, update = "", generates }) =>
    read && hasSecret(body[update]) ? [name, ...(generates ? [ELEMENTS.name] : [])] : [],
  );
}

function hasSecret(value: BodyValue = null): boolean {
  let has = false;
  plainBody(value, (leaf) => {
    has ||= leaf instanceof Secret;
    return null;
  });
  return has;
}

/**
 * Returns the ids of the elements in an answer, ordered by position; empty if it does not show them
 * all.
 */
function elementIds(answer: Json | undefined): readonly string[] {
  const elements =
    isObject(answer) && isArray(answer["elements"]) ? answer["elements"].filter(isObject) : [];
  const sorted = elements.toSorted((a, b) => Number(a["index"] ?? 0) - Number(b["index"] ?? 0));
  const ids = sorted.map(({ id }) => id);
  return ids.every(isSegment) ? ids : [];
}

/** Returns the part of a reviewed change to carry out in this phase, given the current change. */
export function patchStep(run: Run, reviewed: Change, current: Change | undefined): Step {
  const patches = { ...reviewed, calls: [], dependsOn: [] };
  // A list may lag behind: a test case that it does not show is not created again, and the final
  // check reports it.
  if (current === undefined || current.action === "create") return { change: patches, after: [] };
  if (hasStatus(run, reviewed.address, "halfway"))
    return { change: { ...patches, calls: withoutGenerating(current).calls }, after: [] };
  const { calls } = current === reviewed ? reviewed : onlyReviewed(current, reviewed.calls);
  if (!isRediscovering(reviewed))
    return { change: { ...patches, fields: current.fields, calls }, after: [] };
  // The service may create new elements now, so locator lines wait until the new elements can be
  // read.
  const early = calls.filter(({ body }) => !Object.hasOwn(body, "locatorLine"));
  return {
    change: { ...patches, fields: current.fields, calls: early },
    after: [],
    partOf: reviewed,
  };
}

/**
 * Leaves out generating keys, so that a prompt that the service shows differently is not generated
 * a second time.
 */
export function withoutGenerating(change: Change): Change {
  return withBodyKeys(change, (key) => !GENERATING_KEYS.includes(key));
}
