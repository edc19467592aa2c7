import type { ApplyEvent } from "../apply/events.ts";
import type { ClientEvent } from "../client/events.ts";
import type { Address } from "../model/address.ts";
import { safeLine } from "../output/safe.ts";
import { isOfCalls } from "./apply-events.ts";
import type { ProgressEvent, Stopping } from "./apply-events.ts";
import { retryText, slowText, STOPPING, waitingText } from "./apply-log.ts";
import { clockText, durationText } from "./duration.ts";
import type { Style } from "./style.ts";
import { count } from "./words.ts";

/** Where an apply stands; a fold over its events, each with the time at which it came. */
export interface ApplyStatus {
  readonly startedAt: number;
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  readonly skipped: number;
  /** Changes under way, and since when. */
  readonly running: ReadonlyMap<Address, number>;
  readonly inFlight: ReadonlySet<number>;
  /** What the apply as a whole is at. */
  readonly note: Note | undefined;
}

interface Note {
  readonly text: string;
  /** Absent where another note takes its place. */
  readonly until?: number;
}

export function beginStatus(now: number): ApplyStatus {
  return {
    startedAt: now,
    total: 0,
    done: 0,
    failed: 0,
    skipped: 0,
    running: new Map(),
    inFlight: new Set(),
    note: undefined,
  };
}

/** The status after an event. */
export function advance(status: ApplyStatus, event: ProgressEvent, now: number): ApplyStatus {
  return isOfCalls(event) ? afterCall(status, event, now) : afterChange(status, event, now);
}

function afterChange(status: ApplyStatus, event: ApplyEvent | Stopping, now: number): ApplyStatus {
  switch (event.type) {
    case "started":
      return { ...status, total: event.changes };
    case "changeStarted":
      return { ...status, running: new Map(status.running).set(event.address, now) };
    case "changeDone":
      return { ...ended(status, event.address), done: status.done + 1 };
    case "changeFailed":
      return { ...ended(status, event.address), failed: status.failed + 1 };
    case "changeSkipped":
      return { ...ended(status, event.address), skipped: status.skipped + 1 };
    case "lookingUp":
      return { ...status, note: { text: `looking what became of ${event.address}`, until: now + BRIEFLY } };
    case "adopted":
      return { ...status, note: { text: `${event.address} had been made after all`, until: now + BRIEFLY } };
    case "reading":
      return { ...status, note: { text: `reading again: ${event.why}`, until: now + BRIEFLY } };
    case "waiting":
      return { ...status, note: { text: `waiting ${waitingText(event.unfinished)}` } };
    case "stopping":
      return { ...status, note: { text: `stopping: ${STOPPING}` } };
  }
}

/** These have no end of their own among the events; their note leaves after this time. */
const BRIEFLY = 3000;

function afterCall(status: ApplyStatus, event: ClientEvent, now: number): ApplyStatus {
  switch (event.kind) {
    case "started":
      return { ...status, inFlight: new Set([...status.inFlight, event.call]) };
    case "finished":
      return { ...status, inFlight: new Set([...status.inFlight].filter((call) => call !== event.call)) };
    case "waiting":
      return event.status === 429
        ? status
        : { ...status, note: { text: retryText(event), until: now + event.delay } };
    case "slowed":
      return {
        ...status,
        note: { text: slowText(event.pause, event.concurrency), until: now + event.pause },
      };
  }
}

function ended(status: ApplyStatus, address: Address): ApplyStatus {
  const running = new Map(status.running);
  running.delete(address);
  return { ...status, running };
}

/** Changes that the status area names. */
const NAMED = 3;
const BAR = 20;

/** The status area: a bar with the counts, the changes that have run longest, and a note. */
export function statusLines(status: ApplyStatus, now: number, style: Style): readonly string[] {
  const { running, note, startedAt } = status;
  const longest = [...running].toSorted(([, a], [, b]) => a - b);
  const time = style.faint(clockText(now - startedAt));
  return [
    [bar(status, style), ...countParts(status, style), time].join("  "),
    ...longest
      .slice(0, NAMED)
      .map(([address, since]) => `  ${address}  ${style.faint(durationText(now - since))}`),
    ...(longest.length > NAMED ? [style.faint(`  and ${longest.length - NAMED} more under way`)] : []),
    ...(note === undefined || now >= (note.until ?? Infinity)
      ? []
      : [`  ${style.warning(safeLine(note.text))}`]),
  ];
}

function bar({ total, done, failed, skipped }: ApplyStatus, style: Style): string {
  const share = total === 0 ? 0 : Math.min(1, (done + failed + skipped) / total);
  const filled = Math.round(share * BAR);
  return style.added("━".repeat(filled)) + style.faint("─".repeat(BAR - filled));
}

function countParts(
  { total, done, failed, skipped, inFlight }: ApplyStatus,
  style: Style,
): readonly string[] {
  return [
    [`${done}/${total} done`],
    failed === 0 ? [] : [style.error(`${failed} failed`)],
    skipped === 0 ? [] : [`${skipped} skipped`],
    inFlight.size === 0 ? [] : [`${count(inFlight.size, "call")} in flight`],
  ].flat();
}
