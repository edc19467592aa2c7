import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Limiter, type LimiterOptions } from "../../src/service/limiter.ts";

/** A limiter whose sleeps end when the test says so, and the calls that wait for it, by number. */
class Bench {
  readonly went: number[] = [];
  readonly refused: number[] = [];
  /** Running sleeps: their duration, and a function that ends them. */
  readonly sleeps: { readonly ms: number; readonly wake: () => void }[] = [];
  readonly ending = new AbortController();
  readonly limiter: Limiter;
  now = 0;

  constructor(options: Partial<LimiterOptions>) {
    this.limiter = new Limiter({
      concurrency: 8,
      world: {
        now: () => this.now,
        sleep: (ms) => new Promise((wake) => this.sleeps.push({ ms, wake })),
      },
      signal: this.ending.signal,
      ...options,
    });
  }

  enter(...calls: number[]): void {
    for (const call of calls) this.#follow(this.limiter.enter(), call);
  }

  again(call: number): void {
    this.#follow(this.limiter.again(), call);
  }

  #follow(turn: Promise<boolean>, call: number): void {
    void turn.then((mayGo) => (mayGo ? this.went : this.refused).push(call));
  }

  /** Ends the oldest sleep. */
  wake(): void {
    const sleep = this.sleeps.shift();
    this.now += sleep?.ms ?? 0;
    sleep?.wake();
  }

  /** The calls that were released since the last time. */
  async released(): Promise<readonly number[]> {
    await new Promise((resolve) => setImmediate(resolve));
    return this.went.splice(0);
  }
}

describe("places", () => {
  test("are given in the order of the calls, and kept until a call ends", async () => {
    const bench = new Bench({ concurrency: 2 });
    bench.enter(1, 2, 3, 4);
    expect(await bench.released()).toEqual([1, 2]);
    bench.limiter.sent(true);
    expect(await bench.released()).toEqual([]);
    bench.limiter.leave();
    expect(await bench.released()).toEqual([3]);
  });

  test("are kept between the sends of a call, and its resend goes before new calls", async () => {
    const bench = new Bench({ concurrency: 1 });
    bench.enter(1, 2);
    bench.limiter.sent(false);
    bench.again(1);
    expect(await bench.released()).toEqual([1, 1]);
  });

  test("are refused to all waiting calls after an abort", async () => {
    const bench = new Bench({ concurrency: 1 });
    bench.enter(1, 2, 3);
    bench.ending.abort();
    bench.enter(4);
    expect(await bench.released()).toEqual([1]);
    expect(bench.refused.toSorted((a, b) => a - b)).toEqual([2, 3, 4]);
  });
});

describe("a 429", () => {
  test("halves the limit, and releases no call until all pauses are over", async () => {
    const bench = new Bench({});
    bench.enter(1);
    bench.limiter.slowDown(10, 0);
    bench.again(1);
    bench.enter(2, 3, 4, 5);
    bench.wake();
    expect(bench.limiter.concurrency).toBe(4);
    expect(await bench.released()).toEqual([1, 1, 2, 3, 4]);
  });

  test("counts once for all sends that were in flight together", () => {
    const bench = new Bench({});
    bench.enter(1, 2, 3, 4, 5, 6, 7, 8);
    const { era } = bench.limiter;
    for (let send = 1; send <= 8; send++) bench.limiter.slowDown(10, era);
    expect(bench.limiter.concurrency).toBe(4);
  });

  test("is followed by growth of the limit by one per round of successes, up to the initial limit", () => {
    const bench = new Bench({ concurrency: 4 });
    bench.limiter.slowDown(10, 0);
    const seen = Array.from({ length: 10 }, () => {
      bench.limiter.sent(true);
      return bench.limiter.concurrency;
    });
    expect(seen).toEqual([2, 2, 3, 3, 3, 4, 4, 4, 4, 4]);
  });
});

describe("a rate", () => {
  test("spaces sends and resends, and catches up after a late timer", async () => {
    const bench = new Bench({ rateLimit: 20 });
    bench.enter(1, 2, 3);
    expect(await bench.released()).toEqual([1]);
    expect(bench.sleeps.map(({ ms }) => ms)).toEqual([50]);
    bench.limiter.sent(false);
    bench.again(1);
    bench.now = 5;
    bench.wake();
    expect(await bench.released()).toEqual([1]);
    // The timer was 5 ms late; the next one makes up for it.
    expect(bench.sleeps.map(({ ms }) => ms)).toEqual([45]);
    bench.wake();
    expect(await bench.released()).toEqual([2]);
  });

  test("does not accumulate unused sends during idle time", async () => {
    const bench = new Bench({ rateLimit: 10 });
    bench.now = 60_000;
    bench.enter(1, 2, 3);
    expect(await bench.released()).toEqual([1]);
    bench.wake();
    expect(await bench.released()).toEqual([2]);
    bench.wake();
    expect(await bench.released()).toEqual([3]);
    expect(bench.now).toBe(60_000 + 2 * 100 - 20);
  });
});

/** Events of calls, in any order. */
const happening = fc.constantFrom("arrive", "succeed", "fail", "give up", "too many", "time");

test("law: calls always respect limits, rate and order, and all of them are released in the end", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 6 }),
      fc.option(fc.integer({ min: 1, max: 100 }), { nil: undefined }),
      fc.array(happening, { maxLength: 60 }),
      async (concurrency, rateLimit, happenings) => {
        const model = new Model(concurrency, rateLimit);
        for (const what of happenings) await model.happen(what);
        await model.finish();
      },
    ),
    { numRuns: 150 },
  );
});

/** A simple model of calls around a limiter; it checks the invariants after each step. */
class Model {
  readonly #bench: Bench;
  readonly #max: number;
  readonly #rate: number | undefined;
  /** The era in which each send on the wire began. */
  readonly #sending = new Map<number, number>();
  readonly #arrived: number[] = [];
  readonly #firstSends: number[] = [];
  #held = 0;
  #sends = 0;

  constructor(concurrency: number, rateLimit: number | undefined) {
    this.#max = concurrency;
    this.#rate = rateLimit;
    this.#bench = new Bench({ concurrency, rateLimit });
  }

  async happen(what: string): Promise<void> {
    const { limiter } = this.#bench;
    if (what === "arrive") {
      this.#arrived.push(this.#arrived.length);
      this.#bench.enter(this.#arrived.length - 1);
    } else if (what === "time") this.#bench.wake();
    else this.#endSend(what);
    for (const call of await this.#bench.released()) {
      expect(this.#sending.has(call)).toBe(false);
      if (!this.#firstSends.includes(call)) {
        this.#firstSends.push(call);
        this.#held++;
      }
      this.#sends++;
      this.#sending.set(call, limiter.era);
      expect(this.#sending.size).toBeLessThanOrEqual(limiter.concurrency);
    }
    expect(this.#held).toBeLessThanOrEqual(this.#max);
    expect(limiter.concurrency).toBeLessThanOrEqual(this.#max);
    expect(limiter.concurrency).toBeGreaterThanOrEqual(1);
    // The first send needs no waiting; the others need time, except those that catch up.
    const seconds = (this.#bench.now + 20) / 1000;
    if (this.#rate !== undefined) expect(this.#sends).toBeLessThanOrEqual(1 + seconds * this.#rate);
  }

  #endSend(what: string): void {
    const { limiter } = this.#bench;
    const [oldest] = this.#sending;
    if (oldest === undefined) return;
    const [call, era] = oldest;
    this.#sending.delete(call);
    if (what === "too many") limiter.slowDown(100, era);
    else limiter.sent(what === "succeed");
    if (what === "fail" || what === "too many") this.#bench.again(call);
    else {
      this.#held--;
      limiter.leave();
    }
  }

  async finish(): Promise<void> {
    while (this.#bench.sleeps.length > 0 || this.#sending.size > 0) {
      await this.happen("time");
      await this.happen("succeed");
    }
    expect(this.#firstSends).toEqual(this.#arrived);
    expect(this.#held).toBe(0);
  }
}

test("a queue of 5,000 calls is released in order within the test timeout", async () => {
  const bench = new Bench({ concurrency: 1 });
  const calls = Array.from({ length: 5000 }, (_, at) => at);
  bench.enter(...calls);
  for (const _ of calls) {
    bench.limiter.sent(true);
    bench.limiter.leave();
  }
  expect(await bench.released()).toEqual(calls);
});
