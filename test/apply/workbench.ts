import { apply } from "../../src/apply/apply.ts";
import type { RecordedState } from "../../src/apply/run.ts";
import type { Address } from "../../src/model/address.ts";
import type { Desired } from "../../src/model/desired.ts";
import type { ApplyEvent, Outcome } from "../../src/model/events.ts";
import { type State, type StateEvent, emptyState } from "../../src/model/state.ts";
import { EVERYTHING, type Scope } from "../../src/plan/scope.ts";
import { type Refreshed, refresh } from "../../src/plan/refresh.ts";
import { formatDocument, parseDocument } from "../../src/state/document.ts";
import { applyEvents } from "../../src/state/events.ts";
import { BASE_URL, fingerprints } from "../plan/build.ts";
import { Killed, type MemoryService } from "./memory-service.ts";

export interface Options {
  readonly scope?: Scope;
  readonly run?: readonly Address[];
  readonly rediscover?: readonly Address[];
  readonly wait?: number;
  readonly concurrency?: number;
  readonly retries?: number;
  /** Whether to stop; called with the number of writes sent since the apply began. */
  readonly stopping?: (writes: number) => boolean;
  readonly sleep?: (ms: number) => void;
  /** Runs between the look and the apply. */
  readonly meanwhile?: () => void;
}

export interface Applied {
  readonly look: Refreshed;
  readonly outcome: Outcome;
  readonly events: readonly ApplyEvent[];
  /** Events recorded in states. */
  readonly recorded: readonly StateEvent[];
  /** The recorded events that a power cut may lose. */
  readonly noted: readonly StateEvent[];
  /** Writes sent. */
  readonly writes: number;
}

/**
 * A service, a project's states as text, and commands on both. The clock moves only during a sleep.
 */
export class Workbench {
  readonly service: MemoryService;
  readonly documents = new Map<string, string>();
  now = Date.UTC(2026, 0, 1);

  constructor(service: MemoryService) {
    this.service = service;
  }

  states(): ReadonlyMap<string, State> {
    return new Map([...this.documents].map(([key, text]) => [key, this.#parse(key, text)]));
  }

  state(key = "shop"): State {
    return this.states().get(key) ?? emptyState("default", key, BASE_URL);
  }

  #parse(key: string, text: string): State {
    return parseDocument(text, { stage: "default", target: key, service: BASE_URL }, key).state;
  }

  setState(key: string, state: State): void {
    this.documents.set(key, formatDocument(state));
  }

  async look(desired: Desired, options: Options = {}): Promise<Refreshed> {
    return refresh(this.service, {
      desired,
      states: this.states(),
      strays: [],
      fingerprints,
      scope: options.scope ?? EVERYTHING,
      run: new Set(options.run),
      rediscover: new Set(options.rediscover),
      baseUrl: BASE_URL,
      disableRemoved: false,
    });
  }

  async apply(desired: Desired, options: Options = {}): Promise<Applied> {
    const matched = await this.look(desired, options);
    options.meanwhile?.();
    return this.carryOut(matched, options);
  }

  async carryOut(matched: Refreshed, options: Options = {}): Promise<Applied> {
    const recorded: StateEvent[] = [];
    const noted: StateEvent[] = [];
    const events: ApplyEvent[] = [];
    const before = this.service.calls.length;
    const writes = (): number => this.service.calls.length - before;
    const keys = matched.input.desired.targets.map(({ key }) => key);
    const outcome = await apply({
      service: this.service,
      sessions: new Map(keys.map((key) => [key, this.#open(key, recorded, noted)])),
      fingerprints,
      input: matched.input,
      planned: matched.planned,
      concurrency: options.concurrency ?? 4,
      retries: options.retries ?? 2,
      wait: options.wait,
      now: () => this.now,
      sleep: (ms) => {
        this.now += ms;
        options.sleep?.(ms);
        return Promise.resolve();
      },
      stopping: () => options.stopping?.(writes()) ?? false,
      emit: (event) => events.push(event),
    });
    return { look: matched, outcome, events, recorded, noted, writes: writes() };
  }

  #open(key: string, recorded: StateEvent[], noted: StateEvent[]): RecordedState {
    let state = this.state(key);
    const record = async (events: readonly StateEvent[], lasting = true): Promise<void> => {
      if (!lasting) noted.push(...events);
      if (this.service.killed) throw new Killed("the process is gone");
      recorded.push(...events);
      state = applyEvents(state, events);
      this.setState(key, state);
      await Promise.resolve();
      if (this.service.killed) throw new Killed("the process is gone");
    };
    return {
      get state() {
        return state;
      },
      record,
    };
  }
}

/** The errors of a plan; a test of calls expects none. */
export function errorsOf({ planned }: Refreshed): readonly string[] {
  return planned.plan.diagnostics
    .filter(({ severity }) => severity === "error")
    .map(({ address, summary }) => `${address ?? ""}: ${summary}`);
}
