import type { ClientEvent, OfCall } from "../model/events.ts";
import { SENSITIVE, type Secret } from "../model/value.ts";
import {
  type AnswerReader,
  type Exchanged,
  type Transport,
  type WireRequest,
  exchange,
  withheld,
} from "./exchange.ts";
import { type Fault, type MayHaveActed, ServiceError, isTooMany, mayHaveActed, mayRetry } from "./failure.ts";
import type { Limiter } from "./limiter.ts";
import type { Redact } from "./refusal.ts";
import { type BaseUrl, type ClientRuntime, type Method, pathOf, slept } from "./request.ts";

/** What a call is, apart from how often it must be sent. */
export interface Call<T> {
  readonly method: Method;
  /** Segments from `apiKey`, `v3` on. */
  readonly path: readonly string[];
  /** With its question mark. */
  readonly query?: string;
  /** JSON. */
  readonly body?: string;
  /** Makes what reads a 2xx answer; made again for each send. */
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
  readonly limiter: Limiter;
  /** Milliseconds, of one send. */
  readonly requestTimeout: number;
  /** Sends after the first. */
  readonly retries: number;
  readonly world: ClientRuntime;
  /** Ends all calls at once. */
  readonly signal: AbortSignal;
  readonly redact: Redact;
  readonly onEvent: (event: ClientEvent) => void;
  readonly beforeSend: BeforeSend;
}

/** Makes calls: each as often as the retry policy has it and when the limiter lets it. */
export class Calls {
  readonly #options: CallsOptions;
  #count = 0;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** @throws ServiceError; RangeError for a path that cannot be sent, and what a collector throws */
  async make<T>(call: Call<T>): Promise<Done<T>> {
    const { limiter, apiKey } = this.#options;
    const path = pathOf(call.path);
    const unsent = { method: call.method, path, attempts: 0, acted: "no" } as const;
    if (!isSendable(apiKey)) throw new ServiceError({ kind: "unsendable", ...unsent });
    if (!(await limiter.enter())) throw new ServiceError({ kind: "interrupted", ...unsent });
    try {
      return await new Tries(this.#options, call, path, ++this.#count).run();
    } finally {
      limiter.leave();
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
  #acted: MayHaveActed = "no";

  constructor(options: CallsOptions, call: Call<T>, path: string, number: number) {
    this.#options = options;
    this.#call = call;
    this.#path = path;
    this.#number = number;
  }

  async run(): Promise<Done<T>> {
    for (;;) {
      const { result, status, began, delay } = await this.#send();
      if (result.ok) return { value: result.value, attempts: this.#attempt };
      const acted = mayHaveActed(this.#call.method, result.failure, began);
      if (acted === "maybe") this.#acted = acted;
      if (!this.#isWorthAnother(result.failure, acted)) throw this.#failure(result.failure);
      const attempts = this.#options.retries + 1;
      this.#tell({ kind: "waiting", fault: result.failure.kind, status, attempts, delay });
      if (!(await this.#wait(result.failure, delay))) throw this.#failure({ kind: "interrupted" });
    }
  }

  async #send(): Promise<Sent<T>> {
    const { limiter, world } = this.#options;
    const { era } = limiter;
    const started = world.now();
    this.#attempt++;
    this.#tell({ kind: "started" });
    const exchanged = await this.#exchange().catch((error: unknown) => {
      limiter.sent(false);
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
    const { limiter, world, onEvent } = this.#options;
    const delay = fault === undefined ? 0 : retryDelay(fault, this.#attempt, world.random());
    if (fault === undefined || !isTooMany(fault)) {
      limiter.sent(fault === undefined);
      return delay;
    }
    limiter.slowDown(delay, era);
    onEvent({ kind: "slowed", pause: delay, concurrency: limiter.concurrency });
    return delay;
  }

  async #exchange(): Promise<Exchanged<T>> {
    const { base, requestTimeout, signal, redact, world, transport } = this.#options;
    const connections = await transport();
    for (let connects = 1; ; connects++) {
      const refusal = await refusalOf(() => this.#permission());
      if (refusal !== undefined) return { ...UNSENT, result: { ok: false, failure: refusal } };
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
      if (late !== undefined) return { ...UNSENT, result: { ok: false, failure: late } };
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

  #isWorthAnother(fault: Fault, acted: MayHaveActed): boolean {
    return this.#attempt <= this.#options.retries && mayRetry(this.#call.method, fault, acted);
  }

  /** Waits until the call may be sent again. @returns false when it may not any more */
  async #wait(fault: Fault, delay: number): Promise<boolean> {
    const { limiter, world, signal } = this.#options;
    // After a 429 all calls wait, this one among them.
    const mayGoOn = isTooMany(fault) || (await slept(world, delay, signal));
    return mayGoOn && limiter.again();
  }

  #failure(fault: Fault): ServiceError {
    const { method } = this.#call;
    return new ServiceError({
      ...fault,
      method,
      path: this.#path,
      attempts: this.#attempt,
      acted: this.#acted,
    });
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

function backoff({ base, cap, jitter }: Backoff, send: number, random: number): number {
  const full = Math.min(cap, base * 2 ** (send - 1));
  return Math.round(full * (1 - jitter + jitter * random));
}

/** Header values that arrive as they were sent: ASCII, without blanks at the ends or line breaks. */
const HEADER_VALUE = /^[!-~]([\t -~]*[!-~])?$/;

/** Whether the key can be put into the header `X-API-Key`. A line break from a CI variable is the usual reason. */
function isSendable(key: Secret): boolean {
  return HEADER_VALUE.test(key.reveal());
}

/** Shorter texts occur by themselves; removing them would spoil messages and protect nothing. */
const MIN_REDACTED = 4;

/** Adds the key to what is removed from the service's words. */
export function redactingKey(key: Secret, redact: Redact): Redact {
  const text = key.reveal();
  return text.length < MIN_REDACTED ? redact : (words) => redact(words).replaceAll(text, SENSITIVE);
}
