import type { Backend, DocumentKey, StoredState } from "../../../src/state/backend.ts";
import { StateFailure, type StateProblem } from "../../../src/state/problem.ts";

/** @throws Error if there is no problem */
export async function problemOf(work: Promise<unknown> | (() => unknown)): Promise<StateProblem> {
  try {
    await (typeof work === "function" ? work() : work);
  } catch (error) {
    if (error instanceof StateFailure) return error.problem;
    throw error;
  }
  throw new Error("a problem was expected");
}

export async function readOne(
  backend: Backend,
  key: DocumentKey,
): Promise<StoredState | undefined> {
  return (await backend.readAll([key])).get(key.target);
}
