import { type Address, targetOf } from "../model/address.ts";
import { type DesiredResource, byAddress, resourcesOf } from "../model/desired.ts";
import type { ApplyEvent, Failure, SkipReason } from "../model/events.ts";
import { type Field, fieldsOf, isFixed } from "../model/fields.ts";
import type { Json } from "../model/json.ts";
import type { LiveTarget } from "../model/live.ts";
import { type Change, type PlannedCall, plainBody } from "../model/plan.ts";
import type { FieldRecord, Intent, RunRecord, StateEvent } from "../model/state.ts";
import { IdOf, type Value, isUnknown, reveal } from "../model/value.ts";
import type { Fingerprinter, PlanInput } from "../plan/input.ts";
import { recordField, secretsAmong } from "../plan/memory.ts";
import { type Planned, makePlan } from "../plan/plan.ts";
import type { Client } from "../service/client.ts";
import { ServiceError, describeFailure, isOutOfReach } from "../service/failure.ts";
import { StateFailure, explainProblem } from "../state/problem.ts";
import type { LockedState } from "../state/locked.ts";

/** The state of one target while its lock is held. */
export type RecordedState = Pick<LockedState, "state" | "record"> &
  Partial<Pick<LockedState, "lost">>;

/** The input of an apply, including all its access to the outside world. */
export interface ApplyContext {
  readonly service: Pick<Client, "listTargets" | "listTestCases" | "listNotifications" | "send">;
  /** By target key, for every target in scope. */
  readonly sessions: ReadonlyMap<string, RecordedState>;
  readonly fingerprints: Fingerprinter;
  /** The input of the reviewed plan; `live` is what was read for it. */
  readonly input: PlanInput;
  /** The reviewed plan. Nothing outside its addresses is changed. */
  readonly planned: Planned;
  readonly concurrency: number;
  /**
   * Maximum number of resends of a creation, each after a check whether the last one created
   * anything.
   */
  readonly retries: number;
  /** Maximum wait for discoveries, in milliseconds; if unset, the apply does not wait. */
  readonly wait: number | undefined;
  readonly now: () => number;
  /** Waits the given milliseconds. */
  readonly sleep: (ms: number) => Promise<void>;
  /** Whether a signal asked to stop: requests in flight finish, and nothing else starts. */
  readonly stopping: () => boolean;
  readonly emit: (event: ApplyEvent) => void;
  /** The entry for the history of applies; if unset, none is written. */
  readonly history?: Omit<RunRecord, "changes"> | undefined;
}

/** The status of a change so far. */
export type Status =
  | { readonly kind: "done"; readonly change: Change }
  /** A part is done; the rest of the reviewed change follows after another look. */
  | { readonly kind: "halfway"; readonly change: Change }
  | { readonly kind: "failed"; readonly failure: Failure }
  | { readonly kind: "skipped"; readonly reason: SkipReason };

/** An apply in progress. */
export interface Run extends ApplyContext, ReturnType<typeof collected> {
  /** The targets as last read from the service. */
  targets: readonly LiveTarget[];
  /** An unexpected error in saving, that is, any other than a StateFailure. */
  unsaved: { readonly error: unknown } | undefined;
  fatal: Failure | undefined;
}

/** Returns the data that a run collects. */
function collected({ input: { desired, live, states: known }, sessions }: ApplyContext) {
  const states = [...sessions.values()].map(({ state }) => state);
  return {
    /** Every declared resource of the targets in scope. */
    resources: byAddress(desired.targets.flatMap(resourcesOf)),
    /** By target id, as last read. */
    testCases: new Map(live.testCases),
    /** In the order in which changes got their current status. */
    statuses: new Map<Address, Status>(),
    /** Addresses whose creation succeeded in this run. */
    created: new Set<Address>(),
    /** Creations that were sent and whose result is not known yet. */
    open: new Set(states.flatMap(({ intents }) => [...intents.keys()])),
    /**
     * Live ids by address, as in state: collecting many bindings again for every call would take
     * too long.
     */
    ids: new Map(
      states.flatMap(({ bindings }) => [...bindings].map(([address, { id }]) => [address, id])),
    ),
    /**
     * The address that has or had each live id, in any target: a creation of another address cannot
     * return this id.
     */
    holders: new Map(
      [...known.values(), ...states].flatMap(({ bindings }) =>
        [...bindings].map(([address, { id }]) => [id, address] as const),
      ),
    ),
    /** Test cases that the service generates because of this run. */
    generating: new Set<Address>(),
    /** Generations that ended badly; their changes fail, whatever else of them is sent. */
    failedGenerations: new Map<Address, Failure>(),
    /** Statuses of open generations that service-api.md does not list. */
    words: new Map<Address, string>(),
    /** Ids of the batch generations of this run, as far as the answers contain them. */
    batches: new Map<Address, string | undefined>(),
    /**
     * Test cases with a refused call, apparently because their generation had just replaced the
     * elements.
     */
    overtaken: new Set<Address>(),
    /** Folder names written in this run, by address; a later read shows their ids. */
    folders: new Map<Address, string>(),
    /** Keys of targets written to since their last read. */
    dirty: new Set<string>(),
    /** Keys of all targets written to. */
    touched: new Set<string>(),
    calls: { POST: 0, PATCH: 0 },
    /** Number of successful calls of a change, by address. */
    answered: new Map<Address, number>(),
    /** State events being saved that no caller waits for. */
    saving: new Set<Promise<void>>(),
  };
}

export function startRun(context: ApplyContext): Run {
  const { targets } = context.input.live;
  const run: Run = {
    ...context,
    ...collected(context),
    targets,
    unsaved: undefined,
    fatal: undefined,
  };
  for (const { lost } of context.sessions.values()) {
    if (lost?.aborted === true) loseState(run, lost.reason);
    lost?.addEventListener("abort", () => loseState(run, lost.reason), { once: true });
  }
  return run;
}

/** Sets the status of a change; it is final unless a later phase continues the change. */
export function settle(run: Run, address: Address, given: Status): void {
  const failure = given.kind === "done" ? run.failedGenerations.get(address) : undefined;
  const status: Status = failure === undefined ? given : { kind: "failed", failure };
  if (run.statuses.get(address)?.kind !== status.kind) run.statuses.delete(address);
  run.statuses.set(address, status);
  if (status.kind === "done") {
    const { change } = status;
    if (run.history !== undefined && !endsWithAnswers(change))
      recordSoon(
        run,
        targetOf(address),
        [{ type: "answered", address, last: true }],
        "from a crash",
      );
    run.emit({ type: "changeDone", address, action: change.action });
  } else if (status.kind === "failed") {
    if (status.failure.fatal) run.fatal = status.failure;
    run.emit({ type: "changeFailed", address, failure: status.failure });
  } else if (status.kind === "skipped")
    run.emit({ type: "changeSkipped", address, reason: status.reason });
}

export function hasStatus(
  { statuses }: Run,
  address: Address,
  ...kinds: readonly Status["kind"][]
): boolean {
  const kind = statuses.get(address)?.kind;
  return kind !== undefined && kinds.includes(kind);
}

/** Returns the changes whose rest is to follow. */
export function halfwayOf({ statuses }: Run): readonly Change[] {
  return [...statuses.values()].flatMap((status) =>
    status.kind === "halfway" ? [status.change] : [],
  );
}

/** Returns the status of a change that was not started or not finished when the run had to stop. */
export function stopped({ fatal }: Run): Status {
  return { kind: "skipped", reason: { kind: fatal === undefined ? "interrupted" : "fatal" } };
}

/** Whether a change is done once its calls are answered, without another look. */
export function endsWithAnswers({ calls, followUps }: Change): boolean {
  return calls.length > 0 && followUps.length === 0;
}

/** The error that ends a change. */
export class ChangeFailed extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.summary);
    this.failure = failure;
  }
}

/** Returns the failure of a call, a look or a record. @throws an error of any other kind */
export function failureOf(run: Run, error: unknown): Failure {
  if (error instanceof ChangeFailed) return error.failure;
  if (!(error instanceof ServiceError)) return loseState(run, error);
  const { failure } = error;
  return { ...describeFailure(failure), acted: failure.acted, fatal: isOutOfReach(failure) };
}

/** Waits for a look. @returns its failure, or undefined */
export async function failureIn(run: Run, look: Promise<void>): Promise<Failure | undefined> {
  return look.then(
    () => undefined,
    (error: unknown) => failureOf(run, error),
  );
}

/**
 * Stops a run without state: nothing more is sent, but finished changes are reported.
 * @throws an error of any other kind
 */
export function loseState(run: Run, error: unknown): Failure {
  if (!(error instanceof StateFailure)) throw error;
  const { summary, detail } = explainProblem(error.problem);
  run.fatal ??= { summary, detail, acted: "no", fatal: false };
  return run.fatal;
}

export function sessionOf({ sessions }: Run, target: string): RecordedState {
  const session = sessions.get(target);
  if (session === undefined) throw new TypeError(`no state is open for ${target}`);
  return session;
}

/** Makes events of a target durable. After that, the ids in them are available to later calls. */
export async function record(
  run: Run,
  target: string,
  events: readonly StateEvent[],
): Promise<void> {
  if (events.length === 0) return;
  await sessionOf(run, target).record(events);
  follow(run, events);
}

/**
 * Saves events of a target without waiting: if a call can be repeated without harm, a crash before
 * that loses nothing. `allSaved` waits, and throws unexpected errors.
 * @param safe whether the events must survive a power failure, or only a crash of the process
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
    // A lost state stops the run; `allSaved` throws any other error, which is a bug in tasc.
    (error: unknown) => {
      saving.delete(saved);
      if (error instanceof StateFailure) loseState(run, error);
      else run.unsaved ??= { error };
    },
  );
  saving.add(saved);
}

/** Waits until all events are saved. */
export async function allSaved(run: Run): Promise<void> {
  await Promise.all(run.saving);
  if (run.unsaved !== undefined) throw run.unsaved.error;
}

/** Updates ids and open creations from recorded events. */
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

/**
 * Plans again from what was last read and recorded, with the function that made the reviewed plan.
 */
export function replan({ input, sessions, targets, testCases, generating }: Run): Planned {
  const states = new Map([...sessions].map(([key, session]) => [key, session.state]));
  const rediscover = new Set([...input.rediscover].filter((one) => !generating.has(one)));
  return makePlan({ ...input, live: { targets, testCases }, states, run: new Set(), rediscover });
}

/** Whether anything more may be started. */
export function mayContinue({ stopping, fatal, unsaved }: Run): boolean {
  return !stopping() && fatal === undefined && unsaved === undefined;
}

/**
 * Returns the records, for state, of the fields that a call contained, and which of these fields
 * contain a secret.
 */
export function recordsOf(
  fingerprints: Fingerprinter,
  resource: DesiredResource,
  id: string,
  isCarried: (field: Field, value: Value) => boolean,
): Pick<Intent, "fields" | "secrets"> {
  const fields: Record<string, FieldRecord> = {};
  for (const field of fieldsOf(resource.kind)) {
    const value = resource.fields[field.name];
    if (value === undefined || field.local || isFixed(field)) continue;
    if (!isCarried(field, value) || isUnknown(value)) continue;
    fields[field.name] = recordField(fingerprints, id, field, value);
  }
  return { fields, ...secretsAmong(resource, fields) };
}

/**
 * Returns the records of a creation: the sent fields, and declared nulls, which are not sent as
 * nothing is set yet.
 */
export function createdRecords(
  fingerprints: Fingerprinter,
  resource: DesiredResource,
  id: string,
): ReturnType<typeof recordsOf> {
  return recordsOf(
    fingerprints,
    resource,
    id,
    ({ create }, value) => create !== undefined || value === null,
  );
}

/**
 * Returns the folder name that a call writes, unless it is a secret, which state must not store.
 */
export function folderName({ body }: PlannedCall): string | undefined {
  const name = body["folderName"];
  return typeof name === "string" ? name : undefined;
}

/**
 * Sends a planned call. Fills in ids that are known by now; secrets are revealed only in the body
 * that is sent.
 */
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

/** Returns a path segment, with the id filled in that is known by now. */
export function known(run: Run, segment: string | IdOf, elements: readonly string[] = []): string {
  if (typeof segment === "string") return segment;
  const id = typeof segment.of === "number" ? elements[segment.of] : run.ids.get(segment.of);
  if (id === undefined) throw new TypeError("a call was sent before an id in it was known");
  return id;
}
