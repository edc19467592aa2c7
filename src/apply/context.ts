import type { Address } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { Live, LiveTarget, LiveTestCase } from "../model/live.ts";
import type { Change } from "../model/plan.ts";
import type { State, StateEvent } from "../model/state.ts";
import type { Fingerprinter, PlanInput } from "../plan/inputs.ts";
import { makePlan } from "../plan/plan.ts";
import type { Planned } from "../plan/plan.ts";
import { byAddress, resourcesOf } from "../model/desired.ts";
import type { ApplyEvent } from "./events.ts";
import type { Failed, Skipped } from "./outcome.ts";
import type { Failure, Service } from "./service.ts";

/** The state of one target while its lock is held. */
export interface StateSession {
  readonly state: State;
  /** Resolves when the events are durable. */
  record(events: readonly StateEvent[]): Promise<void>;
  /** The same for what may be done again without harm: a power cut may take it. */
  note(events: readonly StateEvent[]): Promise<void>;
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
}

/** What has happened so far. */
export interface Progress {
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
  /** Folder names written in this run, by address: a later read tells their ids. */
  readonly folders: Map<Address, string>;
  /** Keys of targets written to since they were last read. */
  readonly dirty: Set<string>;
  /** Keys of targets written to at all. */
  readonly touched: Set<string>;
  readonly calls: { POST: number; PATCH: number };
  /** Events under way to state that nobody waits for. */
  readonly saving: Set<Promise<void>>;
  /** Why events could not be saved. */
  unsaved: { readonly error: unknown } | undefined;
  fatal: Failure | undefined;
}

/** An apply under way. */
export interface Run {
  readonly context: ApplyContext;
  readonly progress: Progress;
  /** Every declared resource of the targets in scope. */
  readonly resources: ReadonlyMap<Address, DesiredResource>;
}

export function startRun(context: ApplyContext): Run {
  const { live, desired } = context.input;
  const sessions = [...context.sessions.values()];
  const progress: Progress = {
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
    folders: new Map(),
    dirty: new Set(),
    touched: new Set(),
    calls: { POST: 0, PATCH: 0 },
    saving: new Set(),
    unsaved: undefined,
    fatal: undefined,
  };
  return { context, progress, resources: byAddress(desired.targets.flatMap(resourcesOf)) };
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
    // Kept, so that nothing more is started and `allSaved` throws it.
    (error: unknown) => void (run.progress.unsaved ??= { error }),
  );
  saving.add(saved);
}

/** @throws what kept events from being saved */
export async function allSaved({ progress }: Run): Promise<void> {
  await Promise.all(progress.saving);
  if (progress.unsaved !== undefined) throw progress.unsaved.error;
}

function follow({ ids, open }: Progress, event: StateEvent): void {
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

/** Plans anew from what was last read and recorded: the same function that made the reviewed plan. */
export function replan({ context, progress }: Run): Planned {
  const live: Live = { targets: progress.targets, testCases: progress.testCases };
  const states = new Map([...context.sessions].map(([key, session]) => [key, session.state]));
  const rediscover = new Set([...context.input.rediscover].filter((one) => !progress.generating.has(one)));
  return makePlan({ ...context.input, live, states, run: new Set(), rediscover });
}

/** Whether anything further may be started. */
export function mayGoOn({ context, progress }: Run): boolean {
  return !context.stopping() && progress.fatal === undefined && progress.unsaved === undefined;
}
