import type { Secret } from "../../model/value.ts";
import type { BaseUrl } from "../base-url.ts";
import type { ClientEvent, OfCall } from "../events.ts";
import type { AnswerReader } from "../exchange/answer-reader.ts";
import type { Exchanged } from "../exchange/exchange.ts";
import { exchange, withheld } from "../exchange/exchange.ts";
import type { Transport, WireRequest } from "../exchange/wire.ts";
import type { Redact } from "../exchange/words.ts";
import type { Acted, Failure, Fault } from "../failure.ts";
import { actedOn } from "../failure.ts";
import { isSendable } from "../key.ts";
import type { Method } from "../request.ts";
import { pathOf } from "../request.ts";
import type { Result } from "../result.ts";
import { bad, good } from "../result.ts";
import type { World } from "../world.ts";
import { slept } from "../world.ts";
import { isTooMany, mayRetry, retryDelay } from "./retry-policy.ts";
import type { Throttle } from "./throttle.ts";

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
      this.#tell({ kind: "waiting", fault: result.failure.kind, status, delay });
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
