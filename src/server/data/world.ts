/** What enters from outside: time and randomness. Handed in, so that a test can know every byte of an answer. */
export type World = {
  /** An ISO timestamp, later than every one given before. */
  readonly now: () => string;
  readonly newId: () => string;
};

/**
 * A clock that never says the same twice: two writes in one millisecond still get an order, `updatedAt` always
 * moves, and a report's `createdAt` is good as a cursor.
 */
export function worldOf(clock: () => number, newId: () => string): World {
  let last = 0;
  return {
    now() {
      last = Math.max(clock(), last + 1);
      return new Date(last).toISOString();
    },
    newId,
  };
}
