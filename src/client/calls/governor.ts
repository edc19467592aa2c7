import { Fifo } from "./fifo.ts";

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
