import type { StateResult, StateProblem } from "../../../src/state/problem.ts";

/** @throws Error if there is a problem instead */
export function valueOf<T>(result: StateResult<T>): T {
  if (!result.ok) throw new Error(`unexpected problem: ${JSON.stringify(result.problem)}`);
  return result.value;
}

/** @throws Error if there is none */
export function problemOf(result: StateResult<unknown>): StateProblem {
  if (result.ok) throw new Error("a problem was expected");
  return result.problem;
}
