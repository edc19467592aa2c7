import { StateFailure, type StateProblem } from "../../../src/state/problem.ts";

/** @throws Error if there is none */
export async function problemOf(work: Promise<unknown> | (() => unknown)): Promise<StateProblem> {
  try {
    await (typeof work === "function" ? work() : work);
  } catch (error) {
    if (error instanceof StateFailure) return error.problem;
    throw error;
  }
  throw new Error("a problem was expected");
}
