import type { Backend, DocumentKey, StateRuntime } from "../../../src/state/backend.ts";
import { type Session, type SessionOptions, openSessions } from "../../../src/state/session.ts";

/** Opens the session of one target. */
export async function openSession(
  backend: Backend,
  key: DocumentKey,
  world: StateRuntime,
  options: SessionOptions,
): Promise<Session> {
  const session = (await openSessions(backend, [key], world, options)).get(key.target);
  if (session === undefined) throw new Error("no session was opened");
  return session;
}
