import type { ClientRuntime } from "../../../src/service/request.ts";

/** A fake world in which a sleep takes no real time but moves the clock. */
export interface FakeWorld extends ClientRuntime {
  /** Milliseconds of each sleep. */
  readonly sleeps: number[];
}

export function fakeWorld(random = 1): FakeWorld {
  let now = Date.UTC(2024, 0, 1);
  const sleeps: number[] = [];
  return {
    sleeps,
    now: () => now,
    random: () => random,
    async sleep(ms, signal) {
      sleeps.push(ms);
      // A turn of the event loop, so that real sockets can make progress.
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
      now += ms;
    },
  };
}
