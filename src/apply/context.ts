import type { Address } from "../model/address.ts";
import { type DesiredResource, byAddress, resourcesOf } from "../model/desired.ts";
import type { ApplyEvent, Failed, Failure, Skipped } from "../model/events.ts";
import { type Field, fieldsOf, isFixed } from "../model/fields.ts";
import { type Json, isArray, isObject } from "../model/json.ts";
import type { Live, LiveTarget, LiveTestCase } from "../model/live.ts";
import type { Change, Method, PlannedCall } from "../model/plan.ts";
import type { FieldRecord, Intent, RunRecord, State, StateEvent } from "../model/state.ts";
import { type Value, isSensitive, isUnknown } from "../model/value.ts";
import { NOT_READ_YET, locatorDigest } from "../plan/elements.ts";
import type { Fingerprinter, PlanInput } from "../plan/input.ts";
import { recordField, secretsAmong } from "../plan/memory.ts";
import { type Planned, makePlan } from "../plan/plan.ts";
import { StateFailure, explainProblem } from "../state/problem.ts";

/** The state of one target while its lock is held. */
export interface StateSession {
  readonly state: State;
  /** Resolves when the events are durable. */
  record(events: readonly StateEvent[]): Promise<void>;
  /** The same for what may be done again without harm: a power cut may take it. */
  note(events: readonly StateEvent[]): Promise<void>;
  /** Aborted, with a StateFailure, once nothing can be saved any more: nothing may be sent then. */
  readonly lost?: AbortSignal;
}

/** What an apply works with; all of the outside world is in here. */
export interface ApplyContext {
  readonly service: Service;
  /** By target key, for every target in scope. */
  readonly sessions: ReadonlyMap<string, StateSession>;
  readonly fingerprints: Fingerprinter;
  /** What the reviewed plan was made from; its `live` is what was read then. */
  readonly input: PlanInput;
  /** The plan as reviewed. Nothing outside its addresses is touched. */
  readonly planned: Planned;
  readonly concurrency: number;
  /** Sends of a creation after the first, each after looking whether the last one made anything. */
  readonly retries: number;
  /** How long to wait for discoveries, in milliseconds; nothing: not at all. */
  readonly wait: number | undefined;
  readonly now: () => number;
  /** Waits the given milliseconds. */
  readonly sleep: (ms: number) => Promise<void>;
  /** Whether a signal asked to stop: what is in flight finishes, nothing else starts. */
  readonly stopping: () => boolean;
  readonly emit: (event: ApplyEvent) => void;
  /** For the history of applies; none is written without it. */
  readonly run?: Omit<RunRecord, "changes"> | undefined;
}

/** What has happened so far. */
export interface RunProgress {
  /** What was last read of the service. */
  targets: readonly LiveTarget[];
  readonly testCases: Map<string, readonly LiveTestCase[]>;
  readonly done: Set<Address>;
  readonly failed: Map<Address, Failed>;
  readonly skipped: Map<Address, Skipped>;
  /** Reviewed changes of which a part is carried out, and the rest is to follow after another look. */
  readonly halfway: Map<Address, Change>;
  /** Addresses whose creation succeeded in this run. */
  readonly created: Set<Address>;
  /** Creations that were sent and of which nobody knows yet what became. */
  readonly open: Set<Address>;
  /** Live ids by address, as state has them: a state of many bindings is not to be put together for every call. */
  readonly ids: Map<Address, string>;
  /** Test cases that the service generates because of this run. */
  readonly generating: Set<Address>;
  /** Test cases of which a call was refused since, it seems, their generation had just replaced the elements. */
  readonly overtaken: Set<Address>;
  /** Folder names written in this run, by address: a later read tells their ids. */
  readonly folders: Map<Address, string>;
  /** Keys of targets written to since they were last read. */
  readonly dirty: Set<string>;
  /** Keys of targets written to at all. */
  readonly touched: Set<string>;
  readonly calls: { POST: number; PATCH: number };
  /** Calls of a change that were answered with success. */
  readonly answered: Map<Address, number>;
  /** Events under way to state that nobody waits for. */
  readonly saving: Set<Promise<void>>;
  /** What went wrong in saving and is not a matter of the state's keeper. */
  unsaved: { readonly error: unknown } | undefined;
  fatal: Failure | undefined;
}

/** An apply under way. */
export interface Run {
  readonly context: ApplyContext;
  readonly progress: RunProgress;
  /** Every declared resource of the targets in scope. */
  readonly resources: ReadonlyMap<Address, DesiredResource>;
}

export function startRun(context: ApplyContext): Run {
  const { live, desired } = context.input;
  const sessions = [...context.sessions.values()];
  const progress: RunProgress = {
    targets: live.targets,
    testCases: new Map(live.testCases),
    done: new Set(),
    failed: new Map(),
    skipped: new Map(),
    halfway: new Map(),
    created: new Set(),
    open: new Set(sessions.flatMap(({ state }) => [...state.intents.keys()])),
    ids: new Map(
      sessions.flatMap(({ state }) => [...state.bindings].map(([address, { id }]) => [address, id])),
    ),
    generating: new Set(),
    overtaken: new Set(),
    folders: new Map(),
    dirty: new Set(),
    touched: new Set(),
    calls: { POST: 0, PATCH: 0 },
    answered: new Map(),
    saving: new Set(),
    unsaved: undefined,
    fatal: undefined,
  };
  for (const { lost } of sessions) {
    if (lost?.aborted === true) loseState(progress, lost.reason);
    lost?.addEventListener("abort", () => loseState(progress, lost.reason), { once: true });
  }
  return { context, progress, resources: byAddress(desired.targets.flatMap(resourcesOf)) };
}

/** Without state nothing more may be sent, and what was done is told. @throws an error of any other kind */
export function loseState(progress: RunProgress, error: unknown): Failure {
  if (!(error instanceof StateFailure)) throw error;
  const { summary, detail } = explainProblem(error.problem);
  progress.fatal ??= { summary, detail, acted: "no", fatal: false };
  return progress.fatal;
}

export function sessionOf({ context }: Run, target: string): StateSession {
  const session = context.sessions.get(target);
  if (session === undefined) throw new TypeError(`no state is open for ${target}`);
  return session;
}

/** Makes events of a target durable; whatever needs an id of theirs has it from then on. */
export async function record(run: Run, target: string, events: readonly StateEvent[]): Promise<void> {
  if (events.length === 0) return;
  await sessionOf(run, target).record(events);
  for (const event of events) follow(run.progress, event);
}

/**
 * Has events of a target saved, and does not wait for it: where a call may be repeated without harm, nothing is lost
 * if a crash comes first. `allSaved` waits, and tells a failure.
 * @param safe whether they must outlive a power cut, too, or only the process
 */
export function recordSoon(
  run: Run,
  target: string,
  events: readonly StateEvent[],
  safe: "for good" | "from a crash",
): void {
  if (events.length === 0) return;
  const { saving } = run.progress;
  const session = sessionOf(run, target);
  const saved = (safe === "for good" ? session.record(events) : session.note(events)).then(
    () => {
      for (const event of events) follow(run.progress, event);
      saving.delete(saved);
    },
    // Nothing more is started then; `allSaved` throws what is a mistake of ours.
    (error: unknown) => {
      saving.delete(saved);
      if (error instanceof StateFailure) loseState(run.progress, error);
      else run.progress.unsaved ??= { error };
    },
  );
  saving.add(saved);
}

/** Waits for what is being saved. */
export async function allSaved({ progress }: Run): Promise<void> {
  await Promise.all(progress.saving);
  if (progress.unsaved !== undefined) throw progress.unsaved.error;
}

function follow({ ids, open }: RunProgress, event: StateEvent): void {
  switch (event.type) {
    case "bound":
      ids.set(event.address, event.id);
      return void open.delete(event.address);
    case "unbound":
      return void ids.delete(event.address);
    case "moved":
      return move(ids, event.from, event.to);
    case "intended":
      return void open.add(event.address);
    case "settled":
    case "batch":
      return void open.delete(event.address);
    case "keyed":
    case "wrote":
    case "forgot":
    case "located":
    case "folder":
    case "generating":
    case "generated":
    case "began":
    case "answered":
    case "ended":
  }
}

function move(ids: Map<Address, string>, from: Address, to: Address): void {
  const id = ids.get(from);
  ids.delete(from);
  if (id !== undefined) ids.set(to, id);
}

/** The live id that an address has by now. */
export function idOf({ progress }: Run, address: Address): string | undefined {
  return progress.ids.get(address);
}

/** Plans again from what was last read and recorded: the same function that made the reviewed plan. */
export function replan({ context, progress }: Run): Planned {
  const live: Live = { targets: progress.targets, testCases: progress.testCases };
  const states = new Map([...context.sessions].map(([key, session]) => [key, session.state]));
  const rediscover = new Set([...context.input.rediscover].filter((one) => !progress.generating.has(one)));
  return makePlan({ ...context.input, live, states, run: new Set(), rediscover });
}

/** Whether anything further may be started. */
export function mayContinue({ context, progress }: Run): boolean {
  return !context.stopping() && progress.fatal === undefined && progress.unsaved === undefined;
}

/**
 * What an apply needs of the service. The client gives it; tests give a service that lives in memory.
 */
export interface Service {
  listTargets(): Promise<Answered<readonly LiveTarget[]>>;
  listTestCases(targetId: string): Promise<Answered<readonly LiveTestCase[]>>;
  /** Test cases of the target whose discovery has finished, by what its notifications say. */
  finishedDiscoveries(targetId: string): Promise<Answered<readonly FinishedDiscovery[]>>;
  send(call: SentCall): Promise<Answered<Json | undefined>>;
}

/** A call ready for the wire: ids known, secrets revealed. It must not be printed or kept. */
export interface SentCall {
  readonly method: Method;
  readonly path: readonly string[];
  readonly body: Json;
}

export interface FinishedDiscovery {
  /** Id of the notification. */
  readonly id: string;
  readonly testCaseId: string;
}

export type Answered<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: Failure };

/** Records of fields, and which of them carry a secret. */
type Records = Pick<Intent, "fields" | "secrets">;

/**
 * What state remembers once a creation has succeeded: the fields that went with it, and the declared nulls, which a
 * creation leaves out because nothing is there yet.
 */
export function createdRecords(fingerprints: Fingerprinter, resource: DesiredResource, id: string): Records {
  return recordsWhere(
    fingerprints,
    resource,
    id,
    (field, value) => field.create !== undefined || value === null,
  );
}

/** What state remembers of the DEFAULT environment, which is made with its target. */
export function defaultEnvironmentRecords(
  fingerprints: Fingerprinter,
  resource: DesiredResource,
  id: string,
): Records {
  return recordsWhere(
    fingerprints,
    resource,
    id,
    (field, value) => field.name === "discoveryUrl" || value === null,
  );
}

/** What state remembers once a PATCH has succeeded: the fields that it carried. */
export function patchedRecords(
  fingerprints: Fingerprinter,
  resource: DesiredResource,
  id: string,
  body: PlannedCall["body"],
): Records {
  return recordsWhere(
    fingerprints,
    resource,
    id,
    (field) => field.update !== undefined && Object.hasOwn(body, field.update),
  );
}

function recordsWhere(
  fingerprints: Fingerprinter,
  resource: DesiredResource,
  id: string,
  carried: (field: Field, value: Value) => boolean,
): Records {
  const records: Record<string, FieldRecord> = {};
  for (const field of fieldsOf(resource.kind)) {
    const value = resource.fields[field.name];
    if (value === undefined || isUnknown(value) || isFixed(field)) continue;
    if (carried(field, value)) records[field.name] = recordField(fingerprints, id, field, value);
  }
  return { fields: records, ...secretsAmong(resource, records) };
}

/** The folder that a call writes by name; state keeps no name that is a secret. */
export function folderName(body: PlannedCall["body"]): string | undefined {
  const name = body["folderName"];
  return typeof name === "string" ? name : undefined;
}

/** The folder's id, where the answer to a call that wrote its name shows it. */
export function folderEvents(body: PlannedCall["body"], answer: Json | undefined): readonly StateEvent[] {
  const name = folderName(body);
  const id = isObject(answer) ? answer["folderId"] : undefined;
  return name !== undefined && typeof id === "string" ? [{ type: "folder", name, id }] : [];
}

/** Ids of the elements in an answer, in the order of their positions; nothing where it does not show them all. */
export function elementIds(answer: Json | undefined): readonly string[] {
  const elements = isObject(answer) && isArray(answer["elements"]) ? answer["elements"].filter(isObject) : [];
  const sorted = elements.toSorted((a, b) => Number(a["index"] ?? 0) - Number(b["index"] ?? 0));
  const ids = sorted.map((element) => element["id"]);
  return ids.every((id) => typeof id === "string") ? ids : [];
}

/**
 * The record of a locator line that was written to an element. Until the element is read, nothing is known of the
 * selectors that the service makes of the line; the list's form of them is what later plans compare with.
 */
export function writtenLocator(
  fingerprints: Fingerprinter,
  address: Address,
  elementId: string,
  line: Value,
): StateEvent {
  const digest = locatorDigest(fingerprints, elementId, line);
  const locators = { [elementId]: { line: digest, selectors: NOT_READ_YET } };
  return { type: "located", address, locators, ...(isSensitive(line) ? { secret: true } : {}) };
}
