import type { Applied } from "../app/apply.ts";
import type { ApplyEvent, ClientEvent } from "../model/events.ts";
import { type NextStep, renderApplyReport } from "../render/apply.ts";
import { createProgress } from "../render/terminal.ts";
import type { Console } from "./console.ts";
import type { ProcessContext } from "./context.ts";

/** How often a live display moves on by itself, in milliseconds. */
const TICK = 200;

/** The display of an apply under way; calls tell it their part through `heard`. */
export interface ApplyDisplay {
  readonly heard: (event: ApplyEvent | ClientEvent) => void;
  readonly stopping: () => void;
  /** Draws nothing while somebody is asked: it would be drawn over the question. */
  readonly aside: <T>(ask: () => Promise<T>) => Promise<T>;
  readonly end: () => void;
}

export function openDisplay(
  console: Pick<Console, "writer" | "style" | "live" | "level">,
  world: Pick<ProcessContext, "now">,
): ApplyDisplay {
  if (console.level === "error" || console.level === "warn")
    return { heard() {}, stopping() {}, aside: (question) => question(), end() {} };
  const progress = createProgress({
    writer: console.writer,
    style: console.style.stderr,
    live: console.live,
    now: world.now,
  });
  let aside = false;
  const timer = setInterval(() => {
    if (!aside) progress.tick();
  }, TICK);
  return {
    heard: progress.event,
    stopping: () => progress.event({ type: "stopping" }),
    aside: async (question) => {
      aside = true;
      progress.end();
      try {
        return await question();
      } finally {
        aside = false;
      }
    },
    end: () => {
      clearInterval(timer);
      progress.end();
    },
  };
}

/** What came of it. */
export function sayOutcome(
  { outcome, plan, uncertain, milliseconds }: Applied,
  next: readonly NextStep[],
  console: Console,
  verbose: boolean,
): void {
  const text = renderApplyReport(
    outcome,
    {
      stage: plan.stage,
      milliseconds,
      actions: new Map(plan.changes.map(({ address, action }) => [address, action])),
      uncertain,
      next,
    },
    {
      style: console.style.stdout,
      width: console.columns,
      verbose,
      ...(console.screen === undefined ? {} : { screen: console.screen }),
    },
  );
  console.data(text);
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
