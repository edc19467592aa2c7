import type { Secret } from "../model/value.ts";
import {
  type AnswerReader,
  type Exchanged,
  type Redact,
  type Transport,
  type WireRequest,
  exchange,
  isSendable,
  withheld,
} from "./exchange.ts";
import {
  type Acted,
  type BaseUrl,
  type ClientEvent,
  type Failure,
  type Fault,
  type Method,
  type OfCall,
  type Result,
  type World,
  actedOn,
  bad,
  good,
  pathOf,
  slept,
} from "./request.ts";

/** What a call is, apart from how often it must be sent. */
export interface Call<T> {
  readonly method: Method;
  /** Segments from `apiKey`, `v3` on. */
  readonly path: readonly string[];
  /** With its question mark. */
  readonly query?: string;
  /** JSON. */
  readonly body?: string;
  /** Makes what reads a 2xx answer; asked anew for each send. */
  readonly reader: () => AnswerReader<T>;
}

/** What a call led to, and in how many sends. */
export interface Done<T> {
  readonly value: T;
  readonly attempts: number;
}

/**
 * Asked right before every send and resend, reads included: after all waiting for a turn and for a delay, and once
 * more where it then took longer than PERMISSION_LASTS until a connection stood.
 *
 * It refuses by throwing a `TascError`: nothing is sent, and the call ends with the failure `withheld`, whose `acted`
 * still covers earlier sends. What else it throws comes out of the client's call.
 * @returns a promise where it has to look something up; the send waits for it
 */
export type BeforeSend = (send: Pick<OfCall, "method" | "path" | "attempt">) => void | Promise<void>;

export interface CallsOptions {
  readonly base: BaseUrl;
  readonly apiKey: Secret;
  /** Opens connections when the first call needs them. */
  readonly transport: () => Promise<Transport>;
  readonly throttle: Throttle;
  /** Milliseconds, of one send. */
  readonly requestTimeout: number;
  /** Sends after the first. */
  readonly retries: number;
  readonly world: World;
  /** Ends all calls at once. */
  readonly signal: AbortSignal;
  readonly redact: Redact;
  readonly onEvent: (event: ClientEvent) => void;
  readonly beforeSend: BeforeSend;
}

/** Makes calls: each as often as the retry policy has it and when the throttle lets it. */
export class Calls {
  readonly #options: CallsOptions;
  #count = 0;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** @throws RangeError for a path that cannot be sent, and what a collector throws */
  async make<T>(call: Call<T>): Promise<Result<Done<T>>> {
    const { throttle, apiKey } = this.#options;
    const path = pathOf(call.path);
    const unsent = { method: call.method, path, attempts: 0, acted: "no" } as const;
    if (!isSendable(apiKey)) return bad({ kind: "unsendable", ...unsent });
    if (!(await throttle.enter())) return bad({ kind: "interrupted", ...unsent });
    try {
      return await new Tries(this.#options, call, path, ++this.#count).run();
    } finally {
      throttle.leave();
    }
  }
}

/** The sends of one call that holds a place, and at first the turn to send. */
class Tries<T> {
  readonly #options: CallsOptions;
  readonly #call: Call<T>;
  readonly #number: number;
  readonly #path: string;
  #attempt = 0;
  /** Of all sends so far. */
  #acted: Acted = "no";

  constructor(options: CallsOptions, call: Call<T>, path: string, number: number) {
    this.#options = options;
    this.#call = call;
    this.#path = path;
    this.#number = number;
  }

  async run(): Promise<Result<Done<T>>> {
    for (;;) {
      const { result, status, began, delay } = await this.#send();
      if (result.ok) return good({ value: result.value, attempts: this.#attempt });
      const acted = actedOn(this.#call.method, result.failure, began);
      if (acted === "maybe") this.#acted = acted;
      if (!this.#isWorthAnother(result.failure, acted)) return bad(this.#failure(result.failure));
      const attempts = this.#options.retries + 1;
      this.#tell({ kind: "waiting", fault: result.failure.kind, status, attempts, delay });
      if (!(await this.#wait(result.failure, delay))) return bad(this.#failure({ kind: "interrupted" }));
    }
  }

  async #send(): Promise<Sent<T>> {
    const { throttle, world } = this.#options;
    const { era } = throttle;
    const started = world.now();
    this.#attempt++;
    this.#tell({ kind: "started" });
    const exchanged = await this.#exchange().catch((error: unknown) => {
      throttle.sent(false);
      throw error;
    });
    const { result, status, date } = exchanged;
    const fault = result.ok ? undefined : result.failure;
    const clock = date === undefined ? {} : { date };
    this.#tell({ kind: "finished", status, ms: world.now() - started, fault: fault?.kind, ...clock });
    return { ...exchanged, delay: this.#release(fault, era) };
  }

  /** Gives the turn to send back. @returns the delay before the call may be sent again, in milliseconds */
  #release(fault: Fault | undefined, era: number): number {
    const { throttle, world, onEvent } = this.#options;
    const delay = fault === undefined ? 0 : retryDelay(fault, this.#attempt, world.random());
    if (fault === undefined || !isTooMany(fault)) {
      throttle.sent(fault === undefined);
      return delay;
    }
    throttle.slowDown(delay, era);
    onEvent({ kind: "slowed", pause: delay, concurrency: throttle.concurrency });
    return delay;
  }

  async #exchange(): Promise<Exchanged<T>> {
    const { base, requestTimeout, signal, redact, world, transport } = this.#options;
    const connections = await transport();
    for (let connects = 1; ; connects++) {
      const refusal = await refusalOf(() => this.#permission());
      if (refusal !== undefined) return { ...UNSENT, result: bad(refusal) };
      const exchanged = await exchange(connections, {
        request: this.#request(),
        reader: this.#call.reader(),
        origin: base.origin,
        host: base.host,
        limit: requestTimeout,
        signal,
        redact,
        now: () => world.now(),
        mayWrite: this.#renewal(),
      });
      // Connecting took so long that the permission is not certain any more: it is asked again, for a new connection.
      if (exchanged.unsure === undefined || connects === MAX_CONNECTS) return exchanged;
      const late = await refusalOf(() => exchanged.unsure);
      if (late !== undefined) return { ...UNSENT, result: bad(late) };
    }
  }

  /** Monotonic clocks stand still while a machine is suspended, so this one is the wall's. */
  #renewal(): () => void | Promise<void> {
    const granted = Date.now();
    return () => (Math.abs(Date.now() - granted) < PERMISSION_LASTS ? undefined : this.#permission());
  }

  #permission(): void | Promise<void> {
    const { method } = this.#call;
    return this.#options.beforeSend({ method, path: this.#path, attempt: this.#attempt });
  }

  #request(): WireRequest {
    const { method, query = "", body } = this.#call;
    const { base, apiKey } = this.#options;
    const content = body === undefined ? {} : { "Content-Type": "application/json" };
    return {
      method,
      path: `${base.path}${this.#path}${query}`,
      headers: { "X-API-Key": apiKey.reveal(), Accept: "application/json", "User-Agent": "tasc", ...content },
      body,
    };
  }

  #isWorthAnother(fault: Fault, acted: Acted): boolean {
    return this.#attempt <= this.#options.retries && mayRetry(this.#call.method, fault, acted);
  }

  /** Waits until the call may be sent again. @returns false when it may not any more */
  async #wait(fault: Fault, delay: number): Promise<boolean> {
    const { throttle, world, signal } = this.#options;
    // After a 429 all calls wait, this one among them.
    const mayGoOn = isTooMany(fault) || (await slept(world, delay, signal));
    return mayGoOn && throttle.again();
  }

  #failure(fault: Fault): Failure {
    const { method } = this.#call;
    return { ...fault, method, path: this.#path, attempts: this.#attempt, acted: this.#acted };
  }

  #tell(what: OfThisCall<ClientEvent>): void {
    const { method } = this.#call;
    this.#options.onEvent({ ...what, call: this.#number, method, path: this.#path, attempt: this.#attempt });
  }
}

/** Milliseconds. */
const PERMISSION_LASTS = 1000;

/** Connections that one send may wait for, where connecting takes longer than a permission lasts. */
const MAX_CONNECTS = 3;

const UNSENT = { status: undefined, date: undefined, began: false, unsure: undefined } as const;

/** Why a send is refused, if it is. */
async function refusalOf(permission: () => void | Promise<void>): Promise<Fault | undefined> {
  try {
    const asked = permission();
    if (asked !== undefined) await asked;
    return undefined;
  } catch (error) {
    return withheld(error);
  }
}

interface Sent<T> extends Exchanged<T> {
  readonly delay: number;
}

/** Events of calls without what they have in common. */
type OfThisCall<E> = E extends OfCall ? Omit<E, keyof OfCall> : never;

/** A queue that takes the same time however long it is: 100,000 calls may wait in one. */
export class Fifo<T> {
  #items: T[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#head++];
    if (this.#head > 1000 && this.#head * 2 > this.#items.length) this.#compact();
    return item;
  }

  /** Empties the queue. */
  takeAll(): readonly T[] {
    const items = this.#items.slice(this.#head);
    this.#items = [];
    this.#head = 0;
    return items;
  }

  #compact(): void {
    this.#items = this.#items.slice(this.#head);
    this.#head = 0;
  }
}

/**
 * Decides which call may send next: the state of the traffic, without clock and promises.
 *
 * A call holds its place from its first send to its end, also while it waits between tries. So when the service
 * is down for a while, only the calls at hand use up their retries; those behind them wait and then succeed. What
 * is limited is twofold: places held, and sends on the wire. They differ after a 429, when more calls hold places
 * than may now send.
 *
 * A 429 stops all sends until its pause is over, and halves the limit. Calls that were on the wire together are
 * often refused together; that is one event, so only the first of them halves. Each success then adds its share
 * of one, so that the limit grows by one for every round of calls.
 *
 * @typeParam W who waits
 */
export class Governor<W> {
  readonly #max: number;
  #limit: number;
  #held = 0;
  #sending = 0;
  #pauses = 0;
  #era = 0;
  readonly #newcomers = new Fifo<W>();
  readonly #returners = new Fifo<W>();

  /** @param max calls that may be in flight at once, at least 1 */
  constructor(max: number) {
    this.#max = Math.max(1, max);
    this.#limit = this.#max;
  }

  /** How many may be in flight now. */
  get concurrency(): number {
    return Math.floor(this.#limit);
  }

  /** Counts the times the limit was halved; a send remembers the one it began in. */
  get era(): number {
    return this.#era;
  }

  /** A new call lines up. */
  arrive(waiter: W): void {
    this.#newcomers.push(waiter);
  }

  /** A call that holds a place wants to send again; it goes before all new ones. */
  comeBack(waiter: W): void {
    this.#returners.push(waiter);
  }

  /** Takes out who may send now; to be asked until nobody may. */
  next(): W | undefined {
    if (this.#pauses > 0) return undefined;
    return this.#returners.size > 0 ? this.#nextReturner() : this.#nextNewcomer();
  }

  #nextReturner(): W | undefined {
    if (this.#sending >= this.concurrency) return undefined;
    this.#sending++;
    return this.#returners.shift();
  }

  #nextNewcomer(): W | undefined {
    if (this.#newcomers.size === 0 || this.#held >= this.concurrency) return undefined;
    this.#held++;
    this.#sending++;
    return this.#newcomers.shift();
  }

  /** Takes out all who wait, in no order, because there is nothing more to wait for. */
  takeAll(): readonly W[] {
    return [...this.#returners.takeAll(), ...this.#newcomers.takeAll()];
  }

  /** A send is over. */
  sent(succeeded: boolean): void {
    this.#sending--;
    if (succeeded) this.#limit = Math.min(this.#max, this.#limit + 1 / this.#limit);
  }

  /** A call is over and gives up its place. */
  leave(): void {
    this.#held--;
  }

  /** The service asks for less. Every pause that begins must be ended. @param era in which the send began */
  beginPause(era: number): void {
    this.#pauses++;
    if (era !== this.#era) return;
    this.#era++;
    this.#limit = Math.max(1, this.#limit / 2);
  }

  endPause(): void {
    this.#pauses--;
  }
}

/** Told whether its turn has come; false when there is no more waiting. */
type Waiter = (mayGo: boolean) => void;

/** Lets calls go when the governor says so. */
export class Throttle {
  readonly #governor: Governor<Waiter>;
  readonly #world: World;
  readonly #signal: AbortSignal;

  /** @param signal ends all waiting */
  constructor(concurrency: number, world: World, signal: AbortSignal) {
    this.#governor = new Governor(concurrency);
    this.#world = world;
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#governor.takeAll().forEach((waiter) => waiter(false)));
  }

  /** How many calls may be in flight now. */
  get concurrency(): number {
    return this.#governor.concurrency;
  }

  /** To be read when a send begins, for `slowDown`. */
  get era(): number {
    return this.#governor.era;
  }

  /** Waits for a call's first send. After true, the call must `leave` in the end. */
  enter(): Promise<boolean> {
    return this.#wait((waiter) => this.#governor.arrive(waiter));
  }

  /** Waits for a further send of a call that has entered. */
  again(): Promise<boolean> {
    return this.#wait((waiter) => this.#governor.comeBack(waiter));
  }

  /** A send is over. */
  sent(succeeded: boolean): void {
    this.#governor.sent(succeeded);
    this.#letGo();
  }

  leave(): void {
    this.#governor.leave();
    this.#letGo();
  }

  /**
   * A send is over, and was told to slow down: nobody may send for a while, and fewer afterwards. One step, as
   * between the two the next call would slip out.
   * @param ms how long
   * @param era in which the send began
   */
  slowDown(ms: number, era: number): void {
    this.#governor.beginPause(era);
    this.#governor.sent(false);
    void slept(this.#world, ms, this.#signal).finally(() => {
      this.#governor.endPause();
      this.#letGo();
    });
  }

  #wait(lineUp: (waiter: Waiter) => void): Promise<boolean> {
    if (this.#signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      lineUp(resolve);
      this.#letGo();
    });
  }

  #letGo(): void {
    for (let next = this.#governor.next(); next !== undefined; next = this.#governor.next()) next(true);
  }
}

/** How delays between sends grow: `base` doubles with each send up to `cap`, in milliseconds. */
interface Backoff {
  readonly base: number;
  readonly cap: number;
  /** The share that is left to chance, so that many clients do not come back together. */
  readonly jitter: number;
}

/** After breaks and 5xx: full jitter. All five retries together take about 4 s on average, 8 s at most. */
const AFTER_TROUBLE: Backoff = { base: 250, cap: 10_000, jitter: 1 };

/** After a 429 that does not say how long: the service wants peace, so half the delay is certain. */
const AFTER_TOO_MANY: Backoff = { base: 1000, cap: 30_000, jitter: 0.5 };

export const TOO_MANY_REQUESTS = 429;
const REQUEST_TIMEOUT = 408;

/**
 * Whether a call may be sent again by itself (design contract, section 5). What may pass by itself is worth
 * another send; a creation only if the service cannot have acted on this one.
 */
export function mayRetry(method: Method, fault: Fault, acted: Acted): boolean {
  return isPassing(fault) && (method !== "POST" || acted === "no");
}

function isPassing(fault: Fault): boolean {
  switch (fault.kind) {
    case "unreachable":
      // A certificate that is wrong now is wrong in a second, too.
      return fault.cause !== "certificate" && fault.cause !== "encryption";
    case "timeout":
    case "broken":
      return true;
    case "status":
      return (
        fault.status === REQUEST_TIMEOUT ||
        fault.status === TOO_MANY_REQUESTS ||
        (fault.status >= 500 && fault.status < 600)
      );
    case "unsendable":
    case "interrupted":
    case "withheld":
    case "key-refused":
    case "redirect":
    case "unreadable":
    case "misshapen":
    case "too-big":
      return false;
  }
}

/**
 * How long to wait before the next send. What the service asks for counts; 0 asks for nothing.
 * @param send how many sends there were, from 1
 * @param random in [0, 1)
 * @returns milliseconds
 */
export function retryDelay(fault: Fault, send: number, random: number): number {
  const asked = fault.kind === "status" ? fault.retryAfter : undefined;
  if (asked !== undefined && asked > 0) return asked;
  return backoff(isTooMany(fault) ? AFTER_TOO_MANY : AFTER_TROUBLE, send, random);
}

function isTooMany(fault: Fault): boolean {
  return fault.kind === "status" && fault.status === TOO_MANY_REQUESTS;
}

function backoff({ base, cap, jitter }: Backoff, send: number, random: number): number {
  const full = Math.min(cap, base * 2 ** (send - 1));
  return Math.round(full * (1 - jitter + jitter * random));
}
