import { type Address, targetOf } from "../model/address.ts";
import { type DesiredResource, byAddress, resourcesOf } from "../model/desired.ts";
import type { ApplyEvent, Failure, SkipReason } from "../model/events.ts";
import { type Field, fieldsOf, isFixed } from "../model/fields.ts";
import type { Json } from "../model/json.ts";
import type { LiveTarget, LiveTestCase } from "../model/live.ts";
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

/** An apply in progress: its context, which stays the same, and what it learns. */
export interface Run extends ApplyContext {
  /** Every declared resource of the targets in scope. */
  readonly resources: ReadonlyMap<Address, DesiredResource>;
  readonly live: LastRead;
  readonly known: KnownIds;
  readonly generations: Generations;
  readonly progress: Progress;
  readonly saving: Saving;
}

/** The service as it was last read. */
interface LastRead {
  targets: readonly LiveTarget[];
  /** By target id. */
  readonly testCases: Map<string, readonly LiveTestCase[]>;
  /** Keys of targets written to since their last read. */
  readonly outdated: Set<string>;
}

/** What state knows of live ids; collecting it again for every call would take too long. */
interface KnownIds {
  /** Live ids by address. */
  readonly ids: Map<Address, string>;
  /**
   * The address that has or had each live id, in any target: a creation of another address cannot
   * return this id.
   */
  readonly holders: Map<string, Address>;
  /** Creations that were sent and whose result is not known yet. */
  readonly open: Set<Address>;
  /** Folder names written in this run, by address; a later read shows their ids. */
  readonly folders: Map<Address, string>;
}

/** What the service generates because of this run. */
interface Generations {
  /** Test cases. */
  readonly started: Set<Address>;
  /** Those that ended badly; their changes fail, whatever else of them is sent. */
  readonly failed: Map<Address, Failure>;
  /** Statuses of open generations that service-api.md does not list. */
  readonly words: Map<Address, string>;
  /**
   * Test cases with a refused call, apparently because their generation had just replaced the
   * elements.
   */
  readonly overtaken: Set<Address>;
  /** Ids of the batch generations of this run, as far as the answers contain them. */
  readonly batches: Map<Address, string | undefined>;
}

/** What is done so far, and reported at the end. */
interface Progress {
  /** In the order in which changes got their current status. */
  readonly statuses: Map<Address, Status>;
  /** Addresses whose creation succeeded in this run. */
  readonly created: Set<Address>;
  /** Number of successful calls of a change, by address. */
  readonly answered: Map<Address, number>;
  /** Keys of all targets written to. */
  readonly touched: Set<string>;
  readonly calls: { POST: number; PATCH: number };
  /** Why nothing more is started. */
  fatal: Failure | undefined;
}

/** State events being saved that no caller waits for. */
interface Saving {
  readonly pending: Set<Promise<void>>;
  /** An unexpected error in saving, that is, any other than a StateFailure. */
  error: { readonly error: unknown } | undefined;
}

export function startRun(context: ApplyContext): Run {
  const { desired, live, states: known } = context.input;
  const states = [...context.sessions.values()].map(({ state }) => state);
  return {
    ...context,
    resources: byAddress(desired.targets.flatMap(resourcesOf)),
    live: { targets: live.targets, testCases: new Map(live.testCases), outdated: new Set() },
    known: {
      ids: new Map(
        states.flatMap(({ bindings }) => [...bindings].map(([address, { id }]) => [address, id])),
      ),
      holders: new Map(
        [...known.values(), ...states].flatMap(({ bindings }) =>
          [...bindings].map(([address, { id }]) => [id, address] as const),
        ),
      ),
      open: new Set(states.flatMap(({ intents }) => [...intents.keys()])),
      folders: new Map(),
    },
    generations: {
      started: new Set(),
      failed: new Map(),
      words: new Map(),
      overtaken: new Set(),
      batches: new Map(),
    },
    progress: {
      statuses: new Map(),
      created: new Set(),
      answered: new Map(),
      touched: new Set(),
      calls: { POST: 0, PATCH: 0 },
      fatal: undefined,
    },
    saving: { pending: new Set(), error: undefined },
  };
}

/**
 * Stops a run when one of its states is lost.
 * @returns a function that ends this: a session keeps its listeners until it is closed, and they
 * keep the run, which is 40 MiB of 100,000 test cases
 */
export function watchStates(run: Run): () => void {
  const watched = [...run.sessions.values()].flatMap(({ lost }) => {
    const stop = (): void => void loseState(run, lost?.reason);
    if (lost?.aborted === true) stop();
    lost?.addEventListener("abort", stop, { once: true });
    return lost === undefined ? [] : [{ lost, stop }];
  });
  return () => {
    for (const { lost, stop } of watched) lost.removeEventListener("abort", stop);
  };
}

/** Sets the status of a change; it is final unless a later phase continues the change. */
export function settle(run: Run, address: Address, given: Status): void {
  const failure = given.kind === "done" ? run.generations.failed.get(address) : undefined;
  const status: Status = failure === undefined ? given : { kind: "failed", failure };
  if (run.progress.statuses.get(address)?.kind !== status.kind)
    run.progress.statuses.delete(address);
  run.progress.statuses.set(address, status);
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
    if (status.failure.fatal) run.progress.fatal = status.failure;
    run.emit({ type: "changeFailed", address, failure: status.failure });
  } else if (status.kind === "skipped")
    run.emit({ type: "changeSkipped", address, reason: status.reason });
}

export function hasStatus(
  { progress }: Run,
  address: Address,
  ...kinds: readonly Status["kind"][]
): boolean {
  const kind = progress.statuses.get(address)?.kind;
  return kind !== undefined && kinds.includes(kind);
}

/** Returns the changes whose rest is to follow. */
export function halfwayOf({ progress }: Run): readonly Change[] {
  return [...progress.statuses.values()].flatMap((status) =>
    status.kind === "halfway" ? [status.change] : [],
  );
}

/** Returns the status of a change that was not started or not finished when the run had to stop. */
export function stopped({ progress }: Run): Status {
  return {
    kind: "skipped",
    reason: { kind: progress.fatal === undefined ? "interrupted" : "fatal" },
  };
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
  run.progress.fatal ??= { summary, detail, acted: "no", fatal: false };
  return run.progress.fatal;
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
  const { pending } = run.saving;
  const session = sessionOf(run, target);
  const saved: Promise<void> = session.record(events, safe === "for good").then(
    () => {
      pending.delete(saved);
      follow(run, events);
    },
    // A lost state stops the run; `allSaved` throws any other error, which is a bug in tasc.
    (error: unknown) => {
      pending.delete(saved);
      if (error instanceof StateFailure) loseState(run, error);
      else run.saving.error ??= { error };
    },
  );
  pending.add(saved);
}

/** Waits until all events are saved. */
export async function allSaved(run: Run): Promise<void> {
  await Promise.all(run.saving.pending);
  if (run.saving.error !== undefined) throw run.saving.error.error;
}

/** Updates ids and open creations from recorded events. */
function follow({ known: { ids, open } }: Run, events: readonly StateEvent[]): void {
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
 * Plans targets again from what was last read and recorded, with the function that made the
 * reviewed plan.
 */
export function replan(
  { input, sessions, live, generations }: Run,
  targets: ReadonlySet<string>,
): Planned {
  const states = new Map([...sessions].map(([key, session]) => [key, session.state]));
  const rediscover = new Set([...input.rediscover].filter((one) => !generations.started.has(one)));
  const all = input.desired.targets;
  const desired = { ...input.desired, targets: all.filter(({ key }) => targets.has(key)) };
  const others = all.filter(({ key }) => !targets.has(key));
  const elsewhere = [...(input.elsewhere ?? []), ...others];
  return makePlan({ ...input, desired, elsewhere, live, states, run: new Set(), rediscover });
}

/** Whether anything more may be started. */
export function mayContinue({ stopping, progress, saving }: Run): boolean {
  return !stopping() && progress.fatal === undefined && saving.error === undefined;
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
    path: path.map((segment) => filledSegment(run, segment, elements)),
    body: plainBody(body, (leaf) =>
      leaf instanceof IdOf ? filledSegment(run, leaf) : reveal(leaf),
    ),
  };
  run.progress.calls[method]++;
  run.live.outdated.add(target);
  run.progress.touched.add(target);
  return run.service.send(sent);
}

/** Returns a path segment, with the id filled in that is known by now. */
export function filledSegment(
  run: Run,
  segment: string | IdOf,
  elements: readonly string[] = [],
): string {
  if (typeof segment === "string") return segment;
  const id = typeof segment.of === "number" ? elements[segment.of] : run.known.ids.get(segment.of);
  if (id === undefined) throw new TypeError("a call was sent before an id in it was known");
  return id;
}
