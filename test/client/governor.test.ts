import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Fifo, Governor } from "../../src/service/limiter.ts";

/** Takes out all who may send now. */
function released(governor: Governor<number>): number[] {
  const out: number[] = [];
  for (let next = governor.next(); next !== undefined; next = governor.next()) out.push(next);
  return out;
}

function arrive(governor: Governor<number>, ...waiters: number[]): void {
  for (const waiter of waiters) governor.arrive(waiter);
}

describe("the governor", () => {
  test("lets as many go as may, in the order in which they came", () => {
    const governor = new Governor<number>(2);
    arrive(governor, 1, 2, 3, 4);
    expect(released(governor)).toEqual([1, 2]);
    governor.sent(true);
    expect(released(governor)).toEqual([]);
    governor.leave();
    expect(released(governor)).toEqual([3]);
  });

  test("keeps the place of a call between its sends, which then goes before new ones", () => {
    const governor = new Governor<number>(1);
    arrive(governor, 1, 2);
    expect(released(governor)).toEqual([1]);
    governor.sent(false);
    expect(released(governor)).toEqual([]);
    governor.comeBack(1);
    expect(released(governor)).toEqual([1]);
  });

  test("halves after a 429, and lets nobody go until all pauses are over", () => {
    const governor = new Governor<number>(8);
    arrive(governor, 1);
    expect(released(governor)).toEqual([1]);
    governor.beginPause(0);
    governor.sent(false);
    governor.comeBack(1);
    governor.beginPause(governor.era);
    arrive(governor, 2, 3, 4);
    governor.endPause();
    expect(released(governor)).toEqual([]);
    governor.endPause();
    expect(governor.concurrency).toBe(2);
    expect(released(governor)).toEqual([1, 2]);
  });

  test("takes 429s of sends that were on the wire together as one", () => {
    const governor = new Governor<number>(8);
    arrive(governor, 1, 2, 3, 4, 5, 6, 7, 8);
    released(governor);
    const { era } = governor;
    for (let send = 1; send <= 8; send++) governor.beginPause(era);
    expect(governor.concurrency).toBe(4);
  });

  test("sends no more than it may even when more calls hold places", () => {
    const governor = new Governor<number>(8);
    arrive(governor, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    const { era } = governor;
    for (const waiter of released(governor)) {
      governor.beginPause(era);
      governor.sent(false);
      governor.comeBack(waiter);
      governor.endPause();
    }
    expect(released(governor)).toEqual([1, 2, 3, 4]);
  });

  test("grows back by one for each round of successes, and no further than it began", () => {
    const governor = new Governor<number>(4);
    governor.beginPause(0);
    governor.endPause();
    const seen = Array.from({ length: 10 }, () => {
      governor.sent(true);
      return governor.concurrency;
    });
    expect(seen).toEqual([2, 2, 3, 3, 3, 4, 4, 4, 4, 4]);
  });

  test("never goes below one", () => {
    const governor = new Governor<number>(2);
    for (let pause = 0; pause < 5; pause++) {
      governor.beginPause(governor.era);
      governor.endPause();
    }
    expect(governor.concurrency).toBe(1);
    arrive(governor, 1);
    expect(released(governor)).toEqual([1]);
  });
});

/** What may happen to calls, in any order. */
const happening = fc.constantFrom("arrive", "succeed", "fail", "give up", "too many", "pause over");

test("law: whatever happens, nobody goes too many or out of turn, and in the end everybody went", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 6 }),
      fc.array(happening, { maxLength: 200 }),
      (max, happenings) => {
        const model = new Model(max);
        for (const what of happenings) model.happen(what);
        model.finish();
      },
    ),
    { numRuns: 500 },
  );
});

/** Calls around a governor, by the simplest means; checks after each step what must hold. */
class Model {
  readonly #governor: Governor<number>;
  readonly #max: number;
  /** The era in which each send on the wire began. */
  readonly #sending = new Map<number, number>();
  readonly #arrived: number[] = [];
  readonly #firstSends: number[] = [];
  #held = 0;
  #pauses = 0;

  constructor(max: number) {
    this.#max = max;
    this.#governor = new Governor(max);
  }

  happen(what: string): void {
    if (what === "arrive") this.#arrive();
    else if (what === "pause over") this.#endPause();
    else this.#endSend(what);
    this.#release();
  }

  finish(): void {
    while (this.#pauses > 0) this.happen("pause over");
    while (this.#sending.size > 0) this.happen("succeed");
    expect(this.#firstSends).toEqual(this.#arrived);
    expect(this.#held).toBe(0);
  }

  #arrive(): void {
    this.#arrived.push(this.#arrived.length);
    this.#governor.arrive(this.#arrived.length - 1);
  }

  #endPause(): void {
    if (this.#pauses === 0) return;
    this.#pauses--;
    this.#governor.endPause();
  }

  #endSend(what: string): void {
    const [oldest] = this.#sending;
    if (oldest === undefined) return;
    const [call, era] = oldest;
    this.#sending.delete(call);
    if (what === "too many") {
      this.#pauses++;
      this.#governor.beginPause(era);
    }
    this.#governor.sent(what === "succeed");
    if (what === "fail" || what === "too many") this.#governor.comeBack(call);
    else {
      this.#held--;
      this.#governor.leave();
    }
  }

  #release(): void {
    for (const call of released(this.#governor)) {
      expect(this.#pauses).toBe(0);
      expect(this.#sending.has(call)).toBe(false);
      if (!this.#firstSends.includes(call)) {
        this.#firstSends.push(call);
        this.#held++;
      }
      this.#sending.set(call, this.#governor.era);
      expect(this.#sending.size).toBeLessThanOrEqual(this.#governor.concurrency);
    }
    expect(this.#held).toBeLessThanOrEqual(this.#max);
    expect(this.#governor.concurrency).toBeLessThanOrEqual(this.#max);
    expect(this.#governor.concurrency).toBeGreaterThanOrEqual(1);
  }
}

test("law: a fifo is a list that is pushed to and shifted from", () => {
  const step = fc.option(fc.nat(), { nil: undefined });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 50 }), fc.nat({ max: 1 }), (steps, many) => {
      const fifo = new Fifo<number>();
      const list: number[] = [];
      // Long enough, in half the runs, for the fifo to tidy up.
      const filler = Array.from({ length: many * 2500 }, (_, at) => at);
      for (const value of [...filler, ...steps, ...filler.map(() => undefined)]) {
        if (value === undefined) expect(fifo.shift()).toBe(list.shift());
        else {
          list.push(value);
          fifo.push(value);
        }
        expect(fifo.size).toBe(list.length);
      }
      expect(fifo.takeAll()).toEqual(list);
      expect(fifo.size).toBe(0);
    }),
    { numRuns: 20 },
  );
});
