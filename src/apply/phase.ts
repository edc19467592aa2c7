import type { Address } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { Failure, SkipReason } from "../model/events.ts";
import { GENERATING_KEYS } from "../model/fields.ts";
import type { Json } from "../model/json.ts";
import type { Change, PlannedCall } from "../model/plan.ts";
import type { StateEvent } from "../model/state.ts";
import { IdOfElement, Secret, type Value } from "../model/value.ts";
import { targetOf } from "../plan/input.ts";
import type { Planned } from "../plan/plan.ts";
import { discoveryMark } from "../plan/record.ts";
import { isRediscovering, onlyReviewed, withBodyKeys } from "../plan/staleness.ts";
import {
  type Answered,
  type Run,
  allSaved,
  elementIds,
  folderEvents,
  folderName,
  idOf,
  loseState,
  mayContinue,
  patchedRecords,
  recordSoon,
  sessionOf,
  writtenLocator,
} from "./context.ts";
import { awaitsElement, create, findDefault, isDefaultCreation, sendCall } from "./create.ts";

export interface Step {
  readonly change: Change;
  /** Addresses of the same phase that must have been tried before, and whose outcome must be known by then. */
  readonly after: readonly Address[];
  /** The reviewed change, where this is but a part of it and the rest follows in a later phase. */
  readonly partOf?: Change;
}

/** Carries out the changes of one phase side by side; what needs something that did not come about is skipped. */
export async function runPhase(run: Run, steps: readonly Step[]): Promise<void> {
  const tasks = steps.map((step) => ({
    key: step.change.address,
    after: [...step.change.dependsOn, ...step.after],
    run: () => runStep(run, step),
  }));
  await runTasks(tasks, run.context.concurrency, () => mayContinue(run));
  await allSaved(run);
  if (mayContinue(run)) return;
  for (const { change } of steps)
    if (!isFinished(run, change.address)) skip(run, change.address, whyStopped(run));
}

async function runStep(run: Run, step: Step): Promise<void> {
  const { context, progress } = run;
  const { address, action } = step.change;
  if (progress.failed.has(address) || progress.skipped.has(address)) return;
  const missing = missingFor(run, step);
  if (missing !== undefined) return skip(run, address, { kind: "needs", address: missing });
  if (!progress.halfway.has(address)) context.emit({ type: "changeStarted", address, action });
  progress.halfway.delete(address);
  const end = await carriedOut(run, step.change);
  switch (end.kind) {
    case "failed":
      return fail(run, address, end.failure);
    case "stopped":
      return skip(run, address, whyStopped(run));
    case "halfway":
      return void progress.halfway.set(address, step.partOf ?? step.change);
    case "done":
      if (step.partOf === undefined) finishChange(run, step.change);
      else progress.halfway.set(address, step.partOf);
  }
}

/** A change whose answer, or whose intent, could not be recorded has failed. */
async function carriedOut(run: Run, change: Change): Promise<End> {
  try {
    return await carryOut(run, change);
  } catch (error) {
    return { kind: "failed", failure: loseState(run.progress, error) };
  }
}

/** What must be there and is not; or what could be taken for what this step makes, as long as it is not known. */
function missingFor({ progress }: Run, { change, after }: Step): Address | undefined {
  const { created, failed, skipped, open } = progress;
  const isMissing = (address: Address): boolean =>
    // One that came about and failed afterwards can be built upon.
    (failed.has(address) || skipped.has(address)) && !created.has(address);
  return change.dependsOn.find(isMissing) ?? after.find((address) => open.has(address));
}

/** Whether a change is done when its calls are answered: nothing is to be looked at afterwards. */
export function endsWithAnswers({ calls, followUps }: Change): boolean {
  return calls.length > 0 && followUps.length === 0;
}

export function finishChange(run: Run, change: Change): void {
  const { context, progress } = run;
  const { address, action } = change;
  progress.done.add(address);
  if (context.run !== undefined && !endsWithAnswers(change))
    recordSoon(run, targetOf(address), [{ type: "answered", address, last: true }], "from a crash");
  context.emit({ type: "changeDone", address, action });
}

export function fail({ context, progress }: Run, address: Address, failure: Failure): void {
  if (failure.fatal) progress.fatal = failure;
  progress.done.delete(address);
  progress.halfway.delete(address);
  progress.failed.set(address, { address, failure });
  context.emit({ type: "changeFailed", address, failure });
}

/** Whether it is known, or will be in a later phase, what became of an address. */
export function isFinished({ progress }: Run, address: Address): boolean {
  const { done, failed, skipped, halfway } = progress;
  return done.has(address) || failed.has(address) || skipped.has(address) || halfway.has(address);
}

/** Why what was not started, or not finished, was not. */
export function whyStopped({ progress }: Run): SkipReason {
  return { kind: progress.fatal === undefined ? "interrupted" : "fatal" };
}

export function skip({ context, progress }: Run, address: Address, reason: SkipReason): void {
  progress.done.delete(address);
  progress.halfway.delete(address);
  progress.skipped.set(address, { address, reason });
  context.emit({ type: "changeSkipped", address, reason });
}

/**
 * Runs tasks side by side, at most `limit` at once, each after those it depends on. Tasks that become ready run in
 * the order in which they were given, so that a run with a limit of one is the same every time.
 */
export interface Task<K> {
  readonly key: K;
  /** Keys that are not among the tasks count as done. */
  readonly after: readonly K[];
  readonly run: () => Promise<void>;
}

/**
 * Resolves when every task that was started has ended. `mayStart` is asked before each; once it says no, nothing
 * further is started. A task that throws ends the schedule with its error once those under way have ended.
 */
async function runTasks<K>(tasks: readonly Task<K>[], limit: number, mayStart: () => boolean): Promise<void> {
  const waiting = new Map<K, number>();
  const dependants = new Map<K, Task<K>[]>();
  const keys = new Set(tasks.map((task) => task.key));
  for (const task of tasks) {
    const needed = new Set(task.after.filter((key) => keys.has(key) && key !== task.key));
    waiting.set(task.key, needed.size);
    for (const key of needed) dependants.set(key, [...(dependants.get(key) ?? []), task]);
  }
  const ready = tasks.filter((task) => waiting.get(task.key) === 0);

  await new Promise<void>((resolve, reject) => {
    let next = 0;
    let running = 0;
    const errors: unknown[] = [];
    const advance = (): void => {
      while (errors.length === 0 && running < limit && next < ready.length && mayStart()) {
        const task = ready[next++];
        if (task === undefined) break;
        running++;
        task.run().then(
          () => ended(task),
          (error: unknown) => {
            errors.push(error);
            ended(task);
          },
        );
      }
      if (running > 0) return;
      if (errors.length === 0) resolve();
      else reject(errors[0]);
    };
    const ended = (task: Task<K>): void => {
      running--;
      for (const dependant of dependants.get(task.key) ?? []) {
        const left = (waiting.get(dependant.key) ?? 1) - 1;
        waiting.set(dependant.key, left);
        if (left === 0) ready.push(dependant);
      }
      advance();
    };
    advance();
  });
}

/** How far a change came. */
export type End =
  | { readonly kind: "done" }
  /** What is left names elements whose ids only another look can tell, or can tell again. */
  | { readonly kind: "halfway" }
  /** Nothing further may be started. */
  | { readonly kind: "stopped" }
  | { readonly kind: "failed"; readonly failure: Failure };

/** Carries out one change: its calls in turn, each recorded as soon as it is answered. */
async function carryOut(run: Run, change: Change): Promise<End> {
  const resource = run.resources.get(change.address);
  if (resource !== undefined && isDefaultCreation(change)) {
    const failure = await findDefault(run, resource);
    if (failure !== undefined) return { kind: "failed", failure };
  }
  let elements: readonly string[] = [];
  let halfway = false;
  let overtaken = false;
  let failure: Failure | undefined;
  for (const call of change.calls) {
    if (!mayContinue(run) && failure === undefined) return { kind: "stopped" };
    if (!mayContinue(run)) break;
    if (awaitsElement(call, elements)) {
      halfway = true;
      continue;
    }
    const sent =
      call.method === "POST" ? await post(run, change, call) : await patch(run, change, call, elements);
    if (!sent.ok) {
      if (isOvertaken(run, change, call, sent.failure)) overtaken = true;
      else failure ??= sent.failure;
      // An element can be written whatever became of another.
      if (sent.failure.fatal || !call.path.includes("elements")) break;
      continue;
    }
    const { answered } = run.progress;
    answered.set(change.address, (answered.get(change.address) ?? 0) + 1);
    if (Object.hasOwn(call.body, "elements")) elements = elementIds(sent.value);
  }
  if (overtaken) run.progress.overtaken.add(change.address);
  if (failure !== undefined) return { kind: "failed", failure };
  return { kind: halfway || overtaken ? "halfway" : "done" };
}

/**
 * Whether a refusal can come of a generation that has ended meanwhile: it replaces the elements, so the ids of those
 * before are gone. As it ends but once, what is refused after another look is refused for another reason.
 */
function isOvertaken(run: Run, { address }: Change, { path, body }: PlannedCall, failure: Failure): boolean {
  const { generating, overtaken } = run.progress;
  const namesElements = path.includes("elements") || Object.hasOwn(body, "elements");
  if (failure.fatal || failure.acted !== "no" || !namesElements || overtaken.has(address)) return false;
  const { bindings } = sessionOf(run, targetOf(address)).state;
  return generating.has(address) || bindings.get(address)?.generating !== undefined;
}

async function post(run: Run, { address }: Change, call: PlannedCall): Promise<Answered<undefined>> {
  const resource = run.resources.get(address);
  if (resource === undefined) throw new TypeError(`a creation of ${address}, which is not declared`);
  const failure = await create(run, resource, call);
  if (failure !== undefined) return { ok: false, failure };
  if (resource.kind === "testCase") {
    run.progress.generating.add(address);
    noteFolder(run, address, call);
  }
  return { ok: true, value: undefined };
}

async function patch(
  run: Run,
  change: Change,
  call: PlannedCall,
  elements: readonly string[],
): Promise<Answered<Json | undefined>> {
  const { address } = change;
  const answer = await sendCall(run, address, call, elements);
  if (!answer.ok) return answer;
  const generates = GENERATING_KEYS.some((key) => Object.hasOwn(call.body, key));
  if (generates) run.progress.generating.add(address);
  const begun: readonly StateEvent[] = generates
    ? [{ type: "generating", address, shown: shownDiscovery(run, address) }]
    : [];
  noteFolder(run, address, call);
  const events = patchEvents(run, change, call, elements, answer.value);
  // A prompt that is sent again is generated from again, and that costs.
  recordSoon(
    run,
    targetOf(address),
    [...events, ...begun, { type: "answered", address }],
    generates ? "for good" : "from a crash",
  );
  return answer;
}

/** What was shown of the test case's discovery when the plan was made. */
function shownDiscovery({ context }: Run, address: Address): string {
  const match = context.planned.matched.get(targetOf(address))?.matches.get(address);
  return discoveryMark(match?.live?.discovery);
}

function noteFolder({ progress }: Run, address: Address, call: PlannedCall): void {
  const folder = folderName(call.body);
  if (folder !== undefined) progress.folders.set(address, folder);
}

/** What state remembers of an answered PATCH. */
function patchEvents(
  run: Run,
  { address, action, id = idOf(run, address) }: Change,
  call: PlannedCall,
  elements: readonly string[],
  answer: Json | undefined,
): readonly StateEvent[] {
  const resource = run.resources.get(address) ?? (action === "disable" ? disabled(address) : undefined);
  if (resource === undefined || id === undefined) return [];
  const { fingerprints } = run.context;
  const elementId = elementOf(call, elements);
  if (elementId !== undefined) return [writtenLocator(fingerprints, address, elementId, lineOf(call))];
  return [
    { type: "wrote", address, ...patchedRecords(fingerprints, resource, id, call.body) },
    ...folderEvents(call.body, answer),
  ];
}

/** What is wanted of a test case that left the manifests. */
function disabled(address: Address): DesiredResource {
  return { kind: "testCase", address, key: "", fields: { status: "DISABLED" }, layers: [] };
}

/** The element that a call is about; none for a call about the test case itself. */
function elementOf(call: PlannedCall, elements: readonly string[]): string | undefined {
  const at = call.path.indexOf("elements");
  const segment = at < 0 ? undefined : call.path[at + 1];
  if (segment instanceof IdOfElement) return elements[segment.at];
  return typeof segment === "string" ? segment : undefined;
}

function lineOf(call: PlannedCall): Value {
  const line = call.body["locatorLine"];
  return typeof line === "string" || line instanceof Secret ? line : "";
}

export function changesOf({ plan }: Planned): ReadonlyMap<Address, Change> {
  return new Map(plan.changes.map((change) => [change.address, change]));
}

/** The part of a reviewed change that is carried out in this phase, as things are now. */
export function patchStep(run: Run, reviewed: Change, current: Change | undefined): Step {
  const patches = { ...reviewed, calls: [], dependsOn: [] };
  if (current === undefined) return { change: patches, after: [] };
  if (run.progress.halfway.has(reviewed.address))
    return { change: { ...patches, calls: withoutGenerating(current).calls }, after: [] };
  const change = { ...patches, fields: current.fields, calls: onlyReviewed(current, reviewed.calls).calls };
  if (!isRediscovering(reviewed)) return { change, after: [] };
  // The service may make new elements now, so locator lines wait until it can be seen which.
  return { change: withoutLocators(change), after: [], partOf: reviewed };
}

/** What was generated a moment ago must not be generated again because the service shows its prompt otherwise. */
export function withoutGenerating(change: Change): Change {
  return withBodyKeys(change, (key) => !GENERATING_KEYS.includes(key));
}

function withoutLocators(change: Change): Change {
  return { ...change, calls: change.calls.filter((call) => !Object.hasOwn(call.body, "locatorLine")) };
}
