import type { World } from "../world.ts";
import { slept } from "../world.ts";
import { Governor } from "./governor.ts";

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
