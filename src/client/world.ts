/** What the client needs of the world beside the network; handed in, so that tests can do without waiting. */
export interface World {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after so many milliseconds, or ends early, in either way, when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** In [0, 1). */
  random(): number;
}

/** Sleeps. @returns false when the signal ended it */
export async function slept(world: World, ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await world.sleep(ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return !signal.aborted;
}
