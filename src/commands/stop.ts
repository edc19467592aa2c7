import type { Console } from "./console.ts";
import { EXIT } from "../cli/exit.ts";

/** The wish to stop, by Ctrl-C or SIGTERM. */
export interface Stop {
  /** Whether it was wished for once: what is in flight finishes. */
  readonly stopping: () => boolean;
  /** Aborted when it was wished for twice. */
  readonly signal: AbortSignal;
  /** Stops listening. */
  end(): void;
}

export function listenForStop(console: Console): Stop {
  const twice = new AbortController();
  let wishes = 0;
  const wish = (): void => {
    wishes++;
    if (wishes === 1) {
      console.say("warn", "\nStopping: what is in flight finishes and is recorded. Once more stops at once.");
      return;
    }
    twice.abort();
    // Nothing may delay it any more; the next run looks what became of the calls that were in flight.
    process.exit(EXIT.interrupted);
  };
  process.on("SIGINT", wish).on("SIGTERM", wish);
  return {
    stopping: () => wishes > 0,
    signal: twice.signal,
    end: () => void process.off("SIGINT", wish).off("SIGTERM", wish),
  };
}
