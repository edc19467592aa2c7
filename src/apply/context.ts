import type { Address } from "../model/address.ts";
import { type DesiredResource, byAddress, resourcesOf } from "../model/desired.ts";
import type { ApplyEvent, Failure, SkipReason } from "../model/events.ts";
import { type Field, fieldsOf, isFixed } from "../model/fields.ts";
import type { Json } from "../model/json.ts";
import type { LiveTarget } from "../model/live.ts";
import { type Change, type PlannedCall, plainBody } from "../model/plan.ts";
import type { FieldRecord, Intent, RunRecord, StateEvent } from "../model/state.ts";
import { IdOf, type Value, isUnknown, reveal } from "../model/value.ts";
import { type Fingerprinter, type PlanInput, targetOf } from "../plan/input.ts";
import { recordField, secretsAmong } from "../plan/memory.ts";
import { type Planned, makePlan } from "../plan/plan.ts";
import type { Client } from "../service/client.ts";
import { ServiceError, describeFailure, isOutOfReach } from "../service/failure.ts";
import { StateFailure, explainProblem } from "../state/problem.ts";
import type { Session } from "../state/session.ts";

/** The state of one target while its lock is held. */
export type StateSession = Pick<Session, "state" | "record"> & Partial<Pick<Session, "lost">>;

/** What an apply works with; all of the outside world is in here. */
export interface ApplyContext {
  readonly service: Pick<Client, "listTargets" | "listTestCases" | "listNotifications" | "send">;
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
  readonly history?: Omit<RunRecord, "changes"> | undefined;
}

/** What has become of a change so far. */
export type Status =
  | { readonly kind: "done"; readonly change: Change }
  /** A part is carried out; the rest of the reviewed change is to follow after another look. */
  | { readonly kind: "halfway"; readonly change: Change }
  | { readonly kind: "failed"; readonly failure: Failure }
  | { readonly kind: "skipped"; readonly reason: SkipReason };

/** An apply under way. */
export interface Run extends ApplyContext, ReturnType<typeof collected> {
  /** What was last read of the service. */
  targets: readonly LiveTarget[];
  /** What went wrong in saving and is not a matter of the state's keeper. */
  unsaved: { readonly error: unknown } | undefined;
  fatal: Failure | undefined;
}

/** What is gathered on the way. */
function collected({ input: { desired, live, states: known }, sessions }: ApplyContext) {
  const states = [...sessions.values()].map(({ state }) => state);
  return {
    /** Every declared resource of the targets in scope. */
    resources: byAddress(desired.targets.flatMap(resourcesOf)),
    /** As last read. */
    testCases: new Map(live.testCases),
    /** In the order in which they came about. */
    statuses: new Map<Address, Status>(),
    /** Addresses whose creation succeeded in this run. */
    created: new Set<Address>(),
    /** Creations that were sent and of which nobody knows yet what became. */
    open: new Set(states.flatMap(({ intents }) => [...intents.keys()])),
    /** Live ids by address, as state has them: a state of many bindings is not to be put together for every call. */
    ids: new Map(states.flatMap(({ bindings }) => [...bindings].map(([address, { id }]) => [address, id]))),
    /** The address that has or had each live id, of whatever target: no creation of another one makes it. */
    holders: new Map(
      [...known.values(), ...states].flatMap(({ bindings }) =>
        [...bindings].map(([address, { id }]) => [id, address] as const),
      ),
    ),
    /** Test cases that the service generates because of this run. */
    generating: new Set<Address>(),
    /** Test cases of which a call was refused since, it seems, their generation had just replaced the elements. */
    overtaken: new Set<Address>(),
    /** Folder names written in this run, by address: a later read tells their ids. */
    folders: new Map<Address, string>(),
    /** Keys of targets written to since they were last read. */
    dirty: new Set<string>(),
    /** Keys of targets written to at all. */
    touched: new Set<string>(),
    calls: { POST: 0, PATCH: 0 },
    /** Calls of a change that were answered with success. */
    answered: new Map<Address, number>(),
    /** Events under way to state that nobody waits for. */
    saving: new Set<Promise<void>>(),
  };
}

export function startRun(context: ApplyContext): Run {
  const { targets } = context.input.live;
  const run: Run = { ...context, ...collected(context), targets, unsaved: undefined, fatal: undefined };
  for (const { lost } of context.sessions.values()) {
    if (lost?.aborted === true) loseState(run, lost.reason);
    lost?.addEventListener("abort", () => loseState(run, lost.reason), { once: true });
  }
  return run;
}

/** Says what has become of a change; it is the last word unless a later phase comes back to it. */
export function settle(run: Run, address: Address, status: Status): void {
  if (run.statuses.get(address)?.kind !== status.kind) run.statuses.delete(address);
  run.statuses.set(address, status);
  if (status.kind === "done") {
    const { change } = status;
    if (run.history !== undefined && !endsWithAnswers(change))
      recordSoon(run, targetOf(address), [{ type: "answered", address, last: true }], "from a crash");
    run.emit({ type: "changeDone", address, action: change.action });
  } else if (status.kind === "failed") {
    if (status.failure.fatal) run.fatal = status.failure;
    run.emit({ type: "changeFailed", address, failure: status.failure });
  } else if (status.kind === "skipped") run.emit({ type: "changeSkipped", address, reason: status.reason });
}

export function hasStatus({ statuses }: Run, address: Address, ...kinds: readonly Status["kind"][]): boolean {
  const kind = statuses.get(address)?.kind;
  return kind !== undefined && kinds.includes(kind);
}

/** Changes of which the rest is to follow. */
export function halfwayOf({ statuses }: Run): readonly Change[] {
  return [...statuses.values()].flatMap((status) => (status.kind === "halfway" ? [status.change] : []));
}

/** What was not started, or not finished, when nothing further may be started. */
export function stopped({ fatal }: Run): Status {
  return { kind: "skipped", reason: { kind: fatal === undefined ? "interrupted" : "fatal" } };
}

/** Whether a change is done when its calls are answered: nothing is to be looked at afterwards. */
export function endsWithAnswers({ calls, followUps }: Change): boolean {
  return calls.length > 0 && followUps.length === 0;
}

/** What ends a change, in words. */
export class ChangeFailed extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.summary);
    this.failure = failure;
  }
}

/** Why a call, a look or a record failed. @throws an error of any other kind */
export function failureOf(run: Run, error: unknown): Failure {
  if (error instanceof ChangeFailed) return error.failure;
  if (!(error instanceof ServiceError)) return loseState(run, error);
  const { failure } = error;
  return { ...describeFailure(failure), acted: failure.acted, fatal: isOutOfReach(failure) };
}

/** Waits for a look. @returns why it failed, if it did */
export async function failureIn(run: Run, look: Promise<void>): Promise<Failure | undefined> {
  return look.then(
    () => undefined,
    (error: unknown) => failureOf(run, error),
  );
}

/** Without state nothing more may be sent, and what was done is told. @throws an error of any other kind */
export function loseState(run: Run, error: unknown): Failure {
  if (!(error instanceof StateFailure)) throw error;
  const { summary, detail } = explainProblem(error.problem);
  run.fatal ??= { summary, detail, acted: "no", fatal: false };
  return run.fatal;
}

export function sessionOf({ sessions }: Run, target: string): StateSession {
  const session = sessions.get(target);
  if (session === undefined) throw new TypeError(`no state is open for ${target}`);
  return session;
}

/** Makes events of a target durable; whatever needs an id of theirs has it from then on. */
export async function record(run: Run, target: string, events: readonly StateEvent[]): Promise<void> {
  if (events.length === 0) return;
  await sessionOf(run, target).record(events);
  follow(run, events);
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
  const { saving } = run;
  const session = sessionOf(run, target);
  const saved: Promise<void> = session.record(events, safe === "for good").then(
    () => {
      saving.delete(saved);
      follow(run, events);
    },
    // Nothing more is started then; `allSaved` throws what is a mistake of ours.
    (error: unknown) => {
      saving.delete(saved);
      if (error instanceof StateFailure) loseState(run, error);
      else run.unsaved ??= { error };
    },
  );
  saving.add(saved);
}

/** Waits for what is being saved. */
export async function allSaved(run: Run): Promise<void> {
  await Promise.all(run.saving);
  if (run.unsaved !== undefined) throw run.unsaved.error;
}

/** Keeps up with what state says of ids and open creations. */
function follow({ ids, open }: Run, events: readonly StateEvent[]): void {
  for (const event of events) {
    if (event.type === "bound") ids.set(event.address, event.id);
    if (event.type === "unbound") ids.delete(event.address);
    if (event.type === "intended") open.add(event.address);
    if (event.type === "bound" || event.type === "batch" || event.type === "settled")
      open.delete(event.address);
    if (event.type === "moved") {
      const id = ids.get(event.from);
      ids.delete(event.from);
      if (id !== undefined) ids.set(event.to, id);
    }
  }
}

/** Plans again from what was last read and recorded: the same function that made the reviewed plan. */
export function replan({ input, sessions, targets, testCases, generating }: Run): Planned {
  const states = new Map([...sessions].map(([key, session]) => [key, session.state]));
  const rediscover = new Set([...input.rediscover].filter((one) => !generating.has(one)));
  return makePlan({ ...input, live: { targets, testCases }, states, run: new Set(), rediscover });
}

/** Whether anything further may be started. */
export function mayContinue({ stopping, fatal, unsaved }: Run): boolean {
  return !stopping() && fatal === undefined && unsaved === undefined;
}

/** What state remembers of the fields that a call has carried, and which of them carry a secret. */
export function recordsOf(
  fingerprints: Fingerprinter,
  resource: DesiredResource,
  id: string,
  isCarried: (field: Field, value: Value) => boolean,
): Pick<Intent, "fields" | "secrets"> {
  const fields: Record<string, FieldRecord> = {};
  for (const field of fieldsOf(resource.kind)) {
    const value = resource.fields[field.name];
    if (value === undefined || isFixed(field) || !isCarried(field, value) || isUnknown(value)) continue;
    fields[field.name] = recordField(fingerprints, id, field, value);
  }
  return { fields, ...secretsAmong(resource, fields) };
}

/** Of a creation: what went with it, and the declared nulls, which it leaves out because nothing is there yet. */
export function createdRecords(
  fingerprints: Fingerprinter,
  resource: DesiredResource,
  id: string,
): ReturnType<typeof recordsOf> {
  return recordsOf(fingerprints, resource, id, ({ create }, value) => create !== undefined || value === null);
}

/** The folder that a call writes by name; state keeps no name that is a secret. */
export function folderName({ body }: PlannedCall): string | undefined {
  const name = body["folderName"];
  return typeof name === "string" ? name : undefined;
}

/** Sends a planned call: ids that have become known are filled in, and secrets stand in nothing but the wire's body. */
export function sendCall(
  run: Run,
  address: Address,
  { method, path, body }: PlannedCall,
  elements: readonly string[] = [],
): Promise<Json | undefined> {
  const target = targetOf(address);
  const sent = {
    method,
    path: path.map((segment) => known(run, segment, elements)),
    body: plainBody(body, (leaf) => (leaf instanceof IdOf ? known(run, leaf) : reveal(leaf))),
  };
  run.calls[method]++;
  run.dirty.add(target);
  run.touched.add(target);
  return run.service.send(sent);
}

/** A segment of a path, with the id that has become known by then. */
export function known(run: Run, segment: string | IdOf, elements: readonly string[] = []): string {
  if (typeof segment === "string") return segment;
  const id = typeof segment.of === "number" ? elements[segment.of] : run.ids.get(segment.of);
  if (id === undefined) throw new TypeError("a call was sent before an id in it was known");
  return id;
}
