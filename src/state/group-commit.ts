import { setImmediate } from "node:timers/promises";

/**
 * Gathers what many ask to have saved at the same time, so that they share one flush: what comes in one turn of the
 * event loop, as answers do that arrive together, and while one is under way, whatever comes waits for the next, which
 * takes all of it, in order.
 *
 * After a failed flush nothing is flushed any more and everybody gets that failure: what is saved stays a prefix
 * of what was asked for.
 */
export class GroupCommit<T> {
  readonly #flush: (items: readonly T[], lasting: boolean) => Promise<void>;
  #waiting: T[] = [];
  #lasting = false;
  #next: Promise<void> | undefined;
  #current: Promise<void> = Promise.resolve();

  /** @param flush `lasting` if any of the items was given as lasting */
  constructor(flush: (items: readonly T[], lasting: boolean) => Promise<void>) {
    this.#flush = flush;
  }

  /** Resolves when the items are flushed, and everything given before them. */
  async add(items: readonly T[], lasting: boolean): Promise<void> {
    for (const item of items) this.#waiting.push(item);
    this.#lasting ||= lasting;
    this.#next ??= this.#startAfterCurrent();
    await this.#next;
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await (this.#next ?? this.#current);
  }

  async #startAfterCurrent(): Promise<void> {
    await this.#current;
    await setImmediate();
    const items = this.#waiting;
    const lasting = this.#lasting;
    this.#waiting = [];
    this.#lasting = false;
    this.#current = this.#flush(items, lasting);
    this.#next = undefined;
    await this.#current;
  }
}
