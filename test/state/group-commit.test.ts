import { setImmediate } from "node:timers/promises";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GroupCommit } from "../../src/state/session.ts";

/** A flush that waits until it is told how to end. */
function heldFlushes() {
  const flushed: (readonly number[])[] = [];
  const ends: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  const flush = async (items: readonly number[]): Promise<void> => {
    flushed.push(items);
    await new Promise<void>((resolve, reject) => ends.push({ resolve, reject }));
  };
  return { flushed, ends, flush };
}

/** Lets everything go on that can: what comes in one turn of the event loop is flushed in the next. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await setImmediate();
}

describe("a group commit", () => {
  it("gathers what comes in one turn of the event loop", async () => {
    const flushed: (readonly number[])[] = [];
    const commit = new GroupCommit<number>(async (items) => void flushed.push(items));
    const first = commit.add([1], true);
    for (let microtask = 0; microtask < 20; microtask++) await Promise.resolve();
    await Promise.all([first, commit.add([2], true)]);
    expect(flushed).toEqual([[1, 2]]);
  });

  it("gathers what comes while a flush is under way", async () => {
    const { flushed, ends, flush } = heldFlushes();
    const commit = new GroupCommit(flush);
    const first = commit.add([1], true);
    await settle();
    const later = [commit.add([2, 3], true), commit.add([4], true)];
    await settle();
    expect(flushed).toEqual([[1]]);
    ends[0]?.resolve();
    await first;
    await settle();
    expect(flushed).toEqual([[1], [2, 3, 4]]);
    ends[1]?.resolve();
    await Promise.all(later);
  });

  it("is lasting for all that it flushes at once as soon as one of them is to be", async () => {
    const asked: boolean[] = [];
    const commit = new GroupCommit<number>(async (_, lasting) => void asked.push(lasting));
    await commit.add([1], false);
    await Promise.all([commit.add([2], false), commit.add([3], true), commit.add([4], false)]);
    await commit.add([5], false);
    expect(asked).toEqual([false, true, false]);
  });

  it("flushes nothing after a failure, and tells everybody of it", async () => {
    const { flushed, ends, flush } = heldFlushes();
    const commit = new GroupCommit(flush);
    const adds = [commit.add([1], true)];
    await settle();
    adds.push(commit.add([2], true));
    const outcomes = Promise.allSettled(adds);
    ends[0]?.reject(new Error("no room"));
    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await expect(commit.add([3], true)).rejects.toThrow("no room");
    await expect(commit.idle()).rejects.toThrow("no room");
    expect(flushed).toEqual([[1]]);
  });

  it("is idle when all that was given is flushed", async () => {
    const { flushed, ends, flush } = heldFlushes();
    const commit = new GroupCommit(flush);
    await commit.idle();
    void commit.add([1], true);
    await settle();
    void commit.add([2], true);
    let idle = false;
    const waiting = commit.idle().then(() => (idle = true));
    ends[0]?.resolve();
    await settle();
    expect([flushed.length, idle]).toEqual([2, false]);
    ends[1]?.resolve();
    await waiting;
  });

  it("keeps the order, whatever comes when", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.array(fc.nat(3), { maxLength: 12 }), async (scheduler, sizes) => {
        const flushed: number[] = [];
        const commit = new GroupCommit<number>(async (items) => {
          await scheduler.schedule(Promise.resolve());
          flushed.push(...items);
        });
        let next = 0;
        const added = sizes.map(async (size) => {
          const items = Array.from({ length: size }, () => (next += 1));
          await commit.add(items, true);
          for (const item of items) expect(flushed).toContain(item);
        });
        await scheduler.waitFor(Promise.all(added));
        expect(flushed).toEqual(Array.from({ length: next }, (_, n) => n + 1));
      }),
    );
  });
});
