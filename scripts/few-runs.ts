// Stands for fast-check in mutation tests (vitest.mutation.config.ts): each law runs at most a few
// times for a mutant, always with the same values, so that a score can be compared with another.
import * as real from "../node_modules/fast-check/lib/fast-check.js";

export * from "../node_modules/fast-check/lib/fast-check.js";

const MOST_RUNS = 30;

export function assert<T>(
  property: real.IAsyncProperty<T>,
  parameters?: real.Parameters<T>,
): Promise<void>;
export function assert<T>(property: real.IProperty<T>, parameters?: real.Parameters<T>): void;
export function assert<T>(
  property: real.IRawProperty<T>,
  { numRuns = MOST_RUNS, ...rest }: real.Parameters<T> = {},
): void | Promise<void> {
  return real.assert(property, { seed: 1, ...rest, numRuns: Math.min(numRuns, MOST_RUNS) });
}

export default { ...real, assert };
