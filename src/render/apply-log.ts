import type { ApplyEvent } from "../apply/events.ts";
import type { SkipReason } from "../apply/outcome.ts";
import type { CallWaiting, ClientEvent } from "../client/events.ts";
import { safeLine } from "../output/safe.ts";
import { isOfCalls } from "./apply-events.ts";
import type { ProgressEvent, Stopping } from "./apply-events.ts";
import { durationText } from "./duration.ts";
import { count } from "./words.ts";

/**
 * An event as one line of a log, or nothing for those that only a live display can use. A word stands first, always
 * in the same columns, so that a log reads down and greps well.
 */
export function eventLine(event: ProgressEvent): string | undefined {
  const row = isOfCalls(event) ? callRow(event) : applyRow(event);
  return row && `${row[0].padEnd(8)} ${safeLine(row[1])}`;
}

type Row = readonly [word: string, text: string];

function applyRow(event: ApplyEvent | Stopping): Row | undefined {
  switch (event.type) {
    case "started":
      return ["apply", count(event.changes, "change")];
    case "changeStarted":
      return undefined;
    case "changeDone":
      return ["done", `${event.address} (${event.action})`];
    case "changeFailed":
      return ["failed", `${event.address}: ${event.failure.summary}`];
    case "changeSkipped":
      return ["skipped", `${event.address}: ${skipText(event.reason)}`];
    case "lookingUp":
      return ["looking", `what became of ${event.address}: ${event.why}`];
    case "adopted":
      return ["found", `${event.address} had been made after all, as ${event.id}`];
    case "reading":
      return ["reading", `again: ${event.why}`];
    case "waiting":
      return ["waiting", waitingText(event.unfinished)];
    case "stopping":
      return ["stopping", STOPPING];
  }
}

function callRow(event: ClientEvent): Row | undefined {
  switch (event.kind) {
    case "started":
    case "finished":
      return undefined;
    case "waiting":
      // Where the service asked to slow down, that is said once for all calls.
      return event.status === 429 ? undefined : ["retry", retryText(event)];
    case "slowed":
      return ["slower", slowText(event.pause, event.concurrency)];
  }
}

export const STOPPING = "what is in flight finishes and is recorded; once more stops at once";

export function skipText(reason: SkipReason): string {
  switch (reason.kind) {
    case "needs":
      return `needs ${reason.address}, which was not done`;
    case "interrupted":
      return "the apply was stopped before it";
    case "fatal":
      return "the service could not be used any more";
  }
}

export function waitingText(unfinished: number): string {
  return `for ${count(unfinished, "discovery", "discoveries")} to finish`;
}

export function retryText({ method, path, delay, attempt, status, fault }: CallWaiting): string {
  return `${method} ${path} again in ${durationText(delay)}, after send ${attempt}: ${status ?? fault}`;
}

export function slowText(milliseconds: number, concurrency: number): string {
  return `the service asks to wait ${durationText(milliseconds)}; then ${count(concurrency, "call")} at a time`;
}
