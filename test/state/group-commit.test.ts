// Events that are recorded at the same time share one flush.
import { setImmediate } from "node:timers/promises";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type State, type StateEvent, emptyState } from "../../src/model/state.ts";
import type { HeldLock } from "../../src/state/backend.ts";
import { applyEvents } from "../../src/state/events.ts";
import { LockedState } from "../../src/state/locked.ts";
import { SHOP, numbered } from "./support/numbered.ts";
import { realWorld } from "./support/world.ts";

/** More than a session keeps. */
const MANY = 600;
const EVENTS = Array.from({ length: 6 * MANY }, (_, n) => numbered(n));
const NUMBERS = new Map(EVENTS.map((event, n) => [event, n]));

const NOTHING_YET = emptyState(SHOP.stage, SHOP.target, SHOP.service);

const eventsOf = (numbers: readonly number[]): readonly StateEvent[] =>
  numbers.flatMap((n) => EVENTS[n] ?? []);

/** A session whose lock calls `flush` for each flush. */
async function sessionWith(flush: (numbers: readonly number[], lasting: boolean) => Promise<void>) {
  const written: State[] = [];
  const lock: HeldLock = {
    key: SHOP,
    write: (state) => {
      written.push(state);
      return Promise.resolve("1");
    },
    append: async (events, _, lasting) =>
      await flush(
        events.map((event) => NUMBERS.get(event) ?? -1),
        lasting,
      ),
    unlock: () => Promise.resolve(),
  };
  const session = new LockedState(lock, undefined, await realWorld("/nowhere"));
  return {
    session,
    /** The documents written by `close`. */
    written,
    record: async (...numbers: readonly number[]) => await session.record(eventsOf(numbers)),
    note: async (...numbers: readonly number[]) => await session.record(eventsOf(numbers), false),
  };
}

/** A flush that waits until the test ends it. */
function heldFlushes() {
  const flushed: (readonly number[])[] = [];
  const ends: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  const flush = async (items: readonly number[]): Promise<void> => {
    flushed.push(items);
    await new Promise<void>((resolve, reject) => ends.push({ resolve, reject }));
  };
  return { flushed, ends, flush };
}

/** Lets pending work run: events recorded in one turn of the event loop are flushed in the next. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await setImmediate();
}

describe("a session", () => {
  it("combines the records of one turn of the event loop into one flush", async () => {
    const flushed: (readonly number[])[] = [];
    const { record } = await sessionWith(async (items) => void flushed.push(items));
    const first = record(1);
    for (let microtask = 0; microtask < 20; microtask++) await Promise.resolve();
    await Promise.all([first, record(2)]);
    expect(flushed).toEqual([[1, 2]]);
  });

  it("combines the records that arrive during a flush into the next flush", async () => {
    const { flushed, ends, flush } = heldFlushes();
    const { record } = await sessionWith(flush);
    const first = record(1);
    await settle();
    const later = [record(2, 3), record(4)];
    await settle();
    expect(flushed).toEqual([[1]]);
    ends[0]?.resolve();
    await first;
    await settle();
    expect(flushed).toEqual([[1], [2, 3, 4]]);
    ends[1]?.resolve();
    await Promise.all(later);
  });

  it("flushes a group of records to disk if at least one of them must be durable", async () => {
    const asked: boolean[] = [];
    const { record, note } = await sessionWith(async (_, lasting) => void asked.push(lasting));
    await note(1);
    await Promise.all([note(2), record(3), note(4)]);
    await note(5);
    expect(asked).toEqual([false, true, false]);
  });

  it("flushes nothing after a failure, and rejects all records", async () => {
    const { flushed, ends, flush } = heldFlushes();
    const { record } = await sessionWith(flush);
    const records = [record(1)];
    await settle();
    records.push(record(2));
    const outcomes = Promise.allSettled(records);
    ends[0]?.reject(new Error("no room"));
    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await expect(record(3)).rejects.toThrow("no room");
    expect(flushed).toEqual([[1]]);
  });

  it("writes the document for many events, and at the end only what came since", async () => {
    const many = Array.from({ length: MANY }, (_, n) => n + 2);
    for (const later of [[], [MANY + 2]]) {
      const { record, session, written } = await sessionWith(() => Promise.resolve());
      await record(1);
      await record(...many);
      expect(written.map(({ bindings }) => bindings.size)).toEqual([MANY + 1]);
      await record(...later);
      await session.close();
      expect(written.length).toBe(1 + later.length);
    }
  });

  it("keeps the order of records, whatever the timing", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(fc.nat(3), { maxLength: 12 }),
        fc.nat(1),
        async (scheduler, small, large) => {
          const flushed: number[] = [];
          const { record, session, written } = await sessionWith(async (items) => {
            await scheduler.schedule(Promise.resolve());
            flushed.push(...items);
          });
          // What the next reader would find: the last document, and what was flushed since.
          const found = () => {
            const document = written.at(-1) ?? NOTHING_YET;
            return applyEvents(document, eventsOf(flushed)).bindings;
          };
          let next = 0;
          const recordAll = (sizes: readonly number[]) =>
            sizes.map(async (size) => {
              const items = Array.from({ length: size }, () => (next += 1));
              await record(...items);
              const known = found();
              expect(items.every((item) => known.has(`testCase.shop.case-${item}`))).toBe(true);
            });
          const first = recordAll([...Array<number>(large).fill(MANY), ...small.slice(0, 6)]);
          // The rest is recorded while the first ones are flushed.
          await settle();
          await scheduler.waitFor(Promise.all([...first, ...recordAll(small.slice(6))]));
          expect(flushed).toEqual(flushed.toSorted((a, b) => a - b));
          const items = Array.from({ length: next }, (_, n) => n + 1);
          const all = applyEvents(NOTHING_YET, eventsOf(items)).bindings;
          expect(found()).toEqual(all);
          expect(session.state.bindings).toEqual(all);
          // Many events are in a document, which is not written again without need.
          expect(written.length).toBe(large);
          await session.close();
          expect(written.at(-1)?.bindings).toEqual(next > 0 ? all : undefined);
          expect(written.length).toBe(flushed.length > 0 ? large + 1 : large);
        },
      ),
    );
  });
});
