import type { Result, StateProblem } from "../../../src/state/problem.ts";

/** @throws Error if there is a problem instead */
export function valueOf<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(`unexpected problem: ${JSON.stringify(result.problem)}`);
  return result.value;
}

/** @throws Error if there is none */
export function problemOf(result: Result<unknown>): StateProblem {
  if (result.ok) throw new Error("a problem was expected");
  return result.problem;
}
