import { EXIT } from "../model/error.ts";

/** The wish to stop, by Ctrl-C or SIGTERM. */
export interface Stop {
  /** Whether it was wished for once: what is in flight finishes. */
  readonly stopping: () => boolean;
  /** Aborted when it was wished for once: what is waited for is not waited for any longer. */
  readonly asked: AbortSignal;
  /** Aborted when it was wished for twice. */
  readonly signal: AbortSignal;
  /** Stops listening. */
  end(): void;
}

/**
 * @param first is called at the first wish, so that the person knows what happens now
 * @param last is called before the process ends at the second
 */
export function listenForStop(first: () => void, last: () => void): Stop {
  const once = new AbortController();
  const twice = new AbortController();
  let wishes = 0;
  const wish = (): void => {
    wishes++;
    if (wishes === 1) {
      first();
      once.abort();
      return;
    }
    twice.abort();
    last();
    // Nothing may delay it any more; the next run looks what became of the calls that were in flight.
    process.exit(EXIT.interrupted);
  };
  process.on("SIGINT", wish).on("SIGTERM", wish);
  return {
    stopping: () => wishes > 0,
    asked: once.signal,
    signal: twice.signal,
    end: () => void process.off("SIGINT", wish).off("SIGTERM", wish),
  };
}
