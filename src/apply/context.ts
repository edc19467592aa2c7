import type { Address } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { Live, LiveTarget, LiveTestCase } from "../model/live.ts";
import type { State, StateEvent } from "../model/state.ts";
import type { Fingerprinter, PlanInput } from "../plan/inputs.ts";
import { makePlan, resourcesOf } from "../plan/plan.ts";
import type { Planned } from "../plan/plan.ts";
import { targetOf } from "../plan/scope.ts";
import type { ApplyEvent } from "./events.ts";
import type { Failed, Skipped } from "./outcome.ts";
import type { Failure, Service } from "./service.ts";

/** The state of one target while its lock is held. */
export interface StateSession {
  readonly state: State;
  /** Resolves when the events are durable. */
  record(events: readonly StateEvent[]): Promise<void>;
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
  /** Addresses whose creation succeeded in this run. */
  readonly created: Set<Address>;
  /** Test cases that the service generates because of this run. */
  readonly generating: Set<Address>;
  /** Folder names written in this run, by address: a later read tells their ids. */
  readonly folders: Map<Address, string>;
  /** Test cases of which locator lines were written: a later read tells the selectors. */
  readonly located: Set<Address>;
  /** Keys of targets written to since they were last read. */
  readonly dirty: Set<string>;
  /** Keys of targets written to at all. */
  readonly touched: Set<string>;
  readonly calls: { POST: number; PATCH: number };
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
  const progress: Progress = {
    targets: live.targets,
    testCases: new Map(live.testCases),
    done: new Set(),
    failed: new Map(),
    skipped: new Map(),
    created: new Set(),
    generating: new Set(),
    folders: new Map(),
    located: new Set(),
    dirty: new Set(),
    touched: new Set(),
    calls: { POST: 0, PATCH: 0 },
    fatal: undefined,
  };
  const resources = desired.targets
    .flatMap(resourcesOf)
    .map((resource) => [resource.address, resource] as const);
  return { context, progress, resources: new Map(resources) };
}

export function sessionOf({ context }: Run, address: Address): StateSession {
  const session = context.sessions.get(targetOf(address));
  if (session === undefined) throw new TypeError(`no state is open for ${address}`);
  return session;
}

/** The live id that an address has by now. */
export function idOf(run: Run, address: Address): string | undefined {
  return sessionOf(run, address).state.bindings.get(address)?.id;
}

/** Plans anew from what was last read and recorded: the same function that made the reviewed plan. */
export function replan({ context, progress }: Run): Planned {
  const live: Live = { targets: progress.targets, testCases: progress.testCases };
  const states = new Map([...context.sessions].map(([key, session]) => [key, session.state]));
  return makePlan({ ...context.input, live, states, run: new Set(), rediscover: new Set() });
}

/** Whether anything further may be started. */
export function mayGoOn({ context, progress }: Run): boolean {
  return !context.stopping() && progress.fatal === undefined;
}
