import type { Applied } from "../app/apply.ts";
import { EXIT } from "../model/error.ts";
import {
  ApplyStatus,
  type NextStep,
  type ProgressEvent,
  eventLine,
  renderApplyReport,
} from "../render/apply.ts";
import { clockText } from "../render/words.ts";
import type { Console } from "./context.ts";

/** How often a live display moves on by itself, in milliseconds. */
const TICK = 200;

/** The display of an apply under way; calls tell it their part through `heard`. */
export interface ApplyDisplay {
  readonly heard: (event: ProgressEvent) => void;
  /** Draws nothing while somebody is asked: it would be drawn over the question. */
  readonly aside: <T>(ask: () => Promise<T>) => Promise<T>;
  readonly end: () => void;
}

/**
 * One status area on a terminal, plain lines with the time elsewhere.
 *
 * @param now milliseconds from any beginning
 */
export function openDisplay(
  { writer, style: { stderr: style }, live, level }: Pick<Console, "writer" | "style" | "live" | "level">,
  now: () => number,
): ApplyDisplay {
  if (level === "error" || level === "warn") return { heard() {}, aside: (question) => question(), end() {} };
  let startedAt = now();
  let last: string | undefined;
  const status = new ApplyStatus(startedAt);
  const draw = (): void => (live ? writer.status(status.lines(now(), style)) : writer.flush());
  const clear = (): void => (live ? writer.status([]) : writer.flush());
  let aside = false;
  const timer = setInterval(() => {
    if (!aside) draw();
  }, TICK);
  return {
    heard(event) {
      const type = "kind" in event ? undefined : event.type;
      // Until here somebody read the plan and was asked: that is not part of the time that an apply takes.
      if (type === "started") startedAt = now();
      // What must not scroll past unseen stays above the area; the rest is a number in it.
      const lasting = type === "changeFailed" || type === "stopping";
      const line = eventLine(event);
      if (live) {
        status.hear(event, now());
        if (lasting) writer.note(`${line}\n`);
        draw();
      } else if (line !== undefined && line !== last) {
        last = line;
        writer.queue(`[${clockText(now() - startedAt)}] ${line}\n`);
        if (lasting) writer.flush();
      }
    },
    async aside(question) {
      aside = true;
      clear();
      try {
        return await question();
      } finally {
        aside = false;
      }
    },
    end() {
      clearInterval(timer);
      clear();
    },
  };
}

/** What came of it. */
export function sayOutcome(
  { outcome, plan, uncertain, milliseconds }: Applied,
  next: readonly NextStep[],
  { style, columns: width, screen, writer }: Console,
  verbose: boolean,
): void {
  const actions = new Map(plan.changes.map(({ address, action }) => [address, action]));
  const facts = { stage: plan.stage, milliseconds, actions, uncertain, next };
  writer.text(renderApplyReport(outcome, facts, { style: style.stdout, width, verbose, screen }));
}

/** How to go on. */
export function nextSteps({ outcome, uncertain }: Applied, file: string | undefined): readonly NextStep[] {
  const rest =
    file === undefined
      ? { command: "tasc apply", purpose: "again to apply the remaining changes" }
      : {
          command: `tasc plan --out ${file}`,
          purpose: "to plan the remaining changes: a saved plan is applied once",
        };
  const unclear = uncertain.flatMap((address) => [
    { command: `tasc state mark ${address} done`, purpose: "if it ran" },
    { command: `tasc apply --run ${address}`, purpose: "if it is to run" },
  ]);
  const open = outcome.failed.length + outcome.skipped.length - uncertain.length;
  const again = open > 0 || outcome.interrupted ? [rest] : [];
  const look =
    outcome.notTaken.length + outcome.unfinished.length > 0
      ? [{ command: "tasc plan", purpose: "to see what still differs" }]
      : [];
  return [...again, ...look, ...unclear];
}

/**
 * Listens for Ctrl-C and SIGTERM. At the first, what is in flight finishes and nothing is waited for any longer; at the
 * second, the process ends.
 *
 * @param first is called at the first, so that the person knows what happens now
 * @param last is called before the process ends
 */
export function listenForStop(first: () => void, last: () => void) {
  const once = new AbortController();
  const twice = new AbortController();
  const stop = (): void => {
    if (!once.signal.aborted) {
      first();
      once.abort();
      return;
    }
    twice.abort();
    last();
    // Nothing may delay it any more; the next run looks what became of the calls that were in flight.
    process.exit(EXIT.interrupted);
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
  return {
    asked: once.signal,
    signal: twice.signal,
    end: () => void process.off("SIGINT", stop).off("SIGTERM", stop),
  };
}
