import type { Backend, HeldLock } from "./backend.ts";
import type { LockInfo } from "./lock-info.ts";
import type { DocumentKey, Result } from "./problem.ts";
import type { Clock } from "./world.ts";

/** How long to wait for a lock that somebody else holds. */
export interface Patience {
  /** Milliseconds; 0 asks once. */
  readonly timeout: number;
  /** Ends the waiting early, as at the limit. */
  readonly signal?: AbortSignal;
}

const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 2_000;

/**
 * Takes the lock, asking again, less and less often, until the limit. Any problem but a held lock ends it at once.
 * Asking works with every backend, also with one that the holder does not reach, which waiting on a signal of the
 * holder would not.
 */
export async function acquireLock(
  backend: Backend,
  key: DocumentKey,
  info: LockInfo,
  clock: Clock,
  { timeout, signal }: Patience,
): Promise<Result<HeldLock>> {
  const deadline = clock.now().getTime() + timeout;
  for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
    const lock = await backend.lock(key, info);
    if (lock.ok || lock.problem.kind !== "locked") return lock;
    const left = deadline - clock.now().getTime();
    if (left <= 0 || signal?.aborted === true) return lock;
    await clock.sleep(Math.min(pause, left), signal);
  }
}
