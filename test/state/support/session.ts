import type { Backend, DocumentKey, StateRuntime } from "../../../src/state/backend.ts";
import { type LockedState, type LockOptions, openLockedStates } from "../../../src/state/locked.ts";

/** Opens the session of one target. */
export async function openSession(
  backend: Backend,
  key: DocumentKey,
  world: StateRuntime,
  options: LockOptions,
): Promise<LockedState> {
  const session = (await openLockedStates(backend, [key], world, options)).get(key.target);
  if (session === undefined) throw new Error("no session was opened");
  return session;
}
