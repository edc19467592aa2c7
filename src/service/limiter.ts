import { type ClientRuntime, slept } from "./request.ts";

export interface LimiterOptions {
  readonly concurrency: number;
  readonly rateLimit?: number | undefined;
  readonly shareRate?: ShareRate | undefined;
  readonly world: Pick<ClientRuntime, "now" | "sleep">;
  readonly signal: AbortSignal;
}

/**
 * Takes sends of a shared rate. If it fails, each process keeps to the rate alone.
 * @returns milliseconds until the first
 */
export type ShareRate = (sends: number) => Promise<number>;

/** Called with false if waiting was aborted. */
type Waiter = (mayGo: boolean) => void;

/**
 * Milliseconds that sends may be behind the rate and still catch up, because timers can be this
 * late.
 */
const LATENESS = 20;
/** The same for sends that were taken from a shared rate, which no other process can use. */
const SHARED_LATENESS = 250;
/**
 * Size of the first and the largest batch of sends taken. Sizes double, so that a short run leaves
 * few unused.
 */
const FIRST_BATCH = 4;
const LARGEST_BATCH = 20;

/**
 * Decides which call may send next. A call keeps its place from its first send to its end, even
 * while it waits between attempts: when the service is down for a while, only the calls in flight
 * use up their retries. Two numbers are limited: places taken and requests in flight. They differ
 * after a 429, when more calls have places than may send.
 *
 * A 429 stops all sends until its pause is over, and halves the limit; of requests that were in
 * flight together, only the first 429 does. Each success adds 1/limit, so that the limit grows by
 * one per round of calls.
 *
 * A rate spaces all sends evenly, including resends: the service could refuse a burst even if the
 * average is right.
 */
export class Limiter {
  readonly #options: LimiterOptions;
  readonly #max: number;
  readonly #spacing: number;
  readonly #newcomers: Waiter[] = [];
  readonly #returners: Waiter[] = [];
  #limit: number;
  #held = 0;
  #sending = 0;
  #pauses = 0;
  #era = 0;
  #nextSend = 0;
  #isSpacing = false;
  /** The time when the sends taken from a shared rate end; Infinity without a shared rate. */
  #takenUntil = Infinity;
  #batch = FIRST_BATCH;

  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#max = Math.max(1, options.concurrency);
    this.#limit = this.#max;
    this.#spacing = options.rateLimit === undefined ? 0 : 1000 / options.rateLimit;
    if (options.shareRate !== undefined) this.#takenUntil = 0;
    const dismissAll = (): void => {
      for (const waiter of [...this.#returners.splice(0), ...this.#newcomers.splice(0)])
        waiter(false);
    };
    options.signal.addEventListener("abort", dismissAll, { once: true });
  }

  get concurrency(): number {
    return Math.floor(this.#limit);
  }

  /** How often the limit was halved; read it when a send begins, for `slowDown`. */
  get era(): number {
    return this.#era;
  }

  /** Waits for a call's first send. If it returns true, the call must `leave` in the end. */
  enter(): Promise<boolean> {
    return this.#wait(this.#newcomers);
  }

  /** Waits for another send of a call that has entered; such calls go before all new ones. */
  again(): Promise<boolean> {
    return this.#wait(this.#returners);
  }

  sent(succeeded: boolean): void {
    this.#sending--;
    if (succeeded) this.#limit = Math.min(this.#max, this.#limit + 1 / this.#limit);
    this.#letGo();
  }

  leave(): void {
    this.#held--;
    this.#letGo();
  }

  /**
   * Pauses all sends for so long after a 429, and lowers the limit.
   * @param era the era in which the send began
   */
  slowDown(ms: number, era: number): void {
    this.#pauses++;
    this.#sending--;
    if (era === this.#era) {
      this.#era++;
      this.#limit = Math.max(1, this.#limit / 2);
    }
    this.#after(ms, () => this.#pauses--);
  }

  #wait(line: Waiter[]): Promise<boolean> {
    if (this.#options.signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      line.push(resolve);
      this.#letGo();
    });
  }

  #letGo(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) next(true);
  }

  #next(): Waiter | undefined {
    if (this.#pauses > 0) return undefined;
    const isReturn = this.#returners.length > 0;
    const line = isReturn ? this.#returners : this.#newcomers;
    const used = isReturn ? this.#sending : this.#held;
    if (line.length === 0 || used >= this.concurrency || !this.#isDue()) return undefined;
    if (!isReturn) this.#held++;
    this.#sending++;
    return line.shift();
  }

  /**
   * Whether the rate allows a send, which then counts as made. If not, waiting calls are tried
   * again when it does.
   */
  #isDue(): boolean {
    if (this.#spacing === 0) return true;
    if (this.#isSpacing) return false;
    const now = this.#options.world.now();
    const lateness = this.#takenUntil === Infinity ? LATENESS : SHARED_LATENESS;
    const next = Math.max(this.#nextSend, now - lateness);
    // Half a send earlier, because sums of fractions are not exact.
    const isTaken = next < this.#takenUntil - this.#spacing / 2;
    if (isTaken && now >= next) {
      this.#nextSend = next + this.#spacing;
      return true;
    }
    this.#isSpacing = true;
    if (isTaken) this.#after(Math.ceil(next - now), () => (this.#isSpacing = false));
    else void this.#take();
    return false;
  }

  async #take(): Promise<void> {
    const { shareRate, world } = this.#options;
    const sends = this.#batch;
    this.#batch = Math.min(LARGEST_BATCH, sends * 2);
    const wait = await shareRate?.(sends).catch(() => undefined);
    if (wait !== undefined) this.#nextSend = world.now() + wait;
    this.#takenUntil = wait === undefined ? Infinity : this.#nextSend + sends * this.#spacing;
    this.#isSpacing = false;
    this.#letGo();
  }

  #after(ms: number, change: () => void): void {
    const { world, signal } = this.#options;
    void slept(world, ms, signal).finally(() => {
      change();
      this.#letGo();
    });
  }
}
