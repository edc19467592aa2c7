import { type Address, compareAddresses } from "../model/address.ts";
import type {
  ApplyEvent,
  CallWaiting,
  ClientEvent,
  Failed,
  NotTaken,
  Outcome,
  SkipReason,
} from "../model/events.ts";
import { ACTIONS, type Action } from "../model/plan.ts";
import { safeLine, safeLines, withoutWorkflowCommands } from "./escape.ts";
import { fieldName } from "./fields.ts";
import { type Style, wrapLines } from "./style.ts";
import { SIGNS, clockText, count, countActions, durationText, joinParts } from "./words.ts";

export interface ReportOptions {
  readonly style: Style;
  readonly width: number;
  /** Columns of the screen, if there is one. */
  readonly screen?: number;
  /** Every done change by name. */
  readonly verbose: boolean;
}

/** What the report says beyond the outcome. */
export interface ReportFacts {
  readonly stage: string;
  readonly milliseconds: number;
  /** What was to be done with each address, by the plan. */
  readonly actions: ReadonlyMap<Address, Action>;
  /** Batch generations that were sent and may or may not have run. */
  readonly uncertain: readonly Address[];
  /** Commands that go on from here, the most useful first, each with a word on what it does. */
  readonly next: readonly NextStep[];
}

export interface NextStep {
  readonly command: string;
  readonly purpose: string;
}

/** What came of an apply: what was done, what was not and why, and how to go on. */
export function renderApplyReport(outcome: Outcome, facts: ReportFacts, options: ReportOptions): string {
  const lines = { facts, options };
  const sections = [
    section("Done", doneLines(outcome.done, lines), options),
    section(
      "Failed",
      sorted(outcome.failed).flatMap((change) => failedLines(change, lines)),
      options,
    ),
    section(
      "Skipped",
      sorted(outcome.skipped).flatMap(({ address, reason }) => [
        titleLine(address, lines),
        `    ${safeLine(skipText(reason))}`,
      ]),
      options,
    ),
    section("Did not take", sorted(outcome.notTaken).map(notTakenLine), options),
    section("Discovery not finished", outcome.unfinished.toSorted(compareAddresses), options),
    section("Unknown whether it ran", facts.uncertain.toSorted(compareAddresses), options),
    section("The service became unusable", fatalLines(outcome, options), options),
    nextLines(facts.next, options),
    outcomeLines(outcome, facts, options),
  ].filter((own) => own.length > 0);
  return withoutWorkflowCommands(sections.map((own) => `${own.join("\n")}\n`).join("\n"));
}

interface Drawing {
  readonly facts: ReportFacts;
  readonly options: ReportOptions;
}

function section(title: string, lines: readonly string[], { style }: ReportOptions): readonly string[] {
  return lines.length === 0 ? [] : [style.strong(title), ...lines.map((line) => `  ${line}`.trimEnd())];
}

function sorted<T extends { readonly address: Address }>(items: readonly T[]): readonly T[] {
  return items.toSorted((a, b) => compareAddresses(a.address, b.address));
}

/** Done changes that are listed by name unless everything is asked for. */
const MOST_DONE = 40;

function doneLines(done: readonly Address[], drawing: Drawing): readonly string[] {
  const { facts, options } = drawing;
  // What an earlier discovery has changed is patched beside the plan.
  const actionOf = (address: Address): Action => facts.actions.get(address) ?? "update";
  if (options.verbose || done.length <= MOST_DONE)
    return done.toSorted(compareAddresses).map((address) => titleLine(address, drawing, actionOf(address)));
  const counts = countActions(done.map((address) => ({ action: actionOf(address) })));
  return ACTIONS.filter((action) => counts[action] > 0).map(
    (action) => `${options.style.action(action, SIGNS[action])} ${counts[action]} ${action}`,
  );
}

function titleLine(
  address: Address,
  { facts, options }: Drawing,
  action = facts.actions.get(address),
): string {
  return action === undefined ? address : `${options.style.action(action, SIGNS[action])} ${address}`;
}

function failedLines({ address, failure }: Failed, drawing: Drawing): readonly string[] {
  return [
    titleLine(address, drawing),
    ...failureLines(failure, drawing.options).map((line) => `    ${line}`),
  ];
}

function failureLines(
  { summary, detail }: Failed["failure"],
  { style, width }: ReportOptions,
): readonly string[] {
  const details = detail === "" ? [] : wrapLines(safeLines(detail).trimEnd(), width - 6);
  return [style.error(safeLine(summary)), ...details];
}

function fatalLines({ fatal }: Outcome, options: ReportOptions): readonly string[] {
  return fatal === undefined ? [] : failureLines(fatal, options);
}

function notTakenLine({ address, paths }: NotTaken): string {
  return `${address}: ${paths.map(fieldName).join(", ")}`;
}

/** Commands that go on from here. */
function nextLines(next: readonly NextStep[], options: ReportOptions): readonly string[] {
  const steps = next.map(({ command, purpose }) => `run \`${safeLine(command)}\` ${safeLine(purpose)}`);
  const [only] = steps;
  if (only !== undefined && steps.length === 1) return [`${options.style.strong("Next step:")} ${only}`];
  return section("Next steps", steps, options);
}

/** The line that scripts look for; its parts never leave, and break only at the edge of a screen. */
function outcomeLines(
  { done, failed, skipped, calls, interrupted }: Outcome,
  { stage, milliseconds }: ReportFacts,
  { style, screen }: ReportOptions,
): readonly string[] {
  const parts = [
    `${interrupted ? "Interrupted" : "Applied"}: ${done.length} done,`,
    `${failed.length} failed,`,
    `${skipped.length} skipped`,
    `(${calls.POST} POST, ${calls.PATCH} PATCH)`,
    `on ${safeLine(stage)}`,
    `in ${durationText(milliseconds)}`,
  ];
  return joinParts(parts, screen ?? Infinity)
    .split("\n")
    .map(style.strong);
}

/**
 * An event as one line of a log, or nothing for those that only a live display can use. A word stands first, always
 * in the same columns, so that a log reads down and greps well.
 */
export function eventLine(event: ProgressEvent): string | undefined {
  const row = isOfCalls(event) ? callRow(event) : applyRow(event);
  return row && `${row[0].padEnd(8)} ${safeLine(row[1])}`.trimEnd();
}

type ProgressRow = readonly [word: string, text: string];

function applyRow(event: ApplyEvent | Stopping): ProgressRow | undefined {
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
      return ["checking", `whether ${event.address} was created: ${event.why}`];
    case "adopted":
      return ["found", `${event.address} was created after all, as ${event.id}`];
    case "reading":
      return READING[event.why];
    case "waiting":
      return ["waiting", waitingText(event.unfinished)];
    case "stopping":
      return ["Stopping:", STOPPING];
  }
}

function callRow(event: ClientEvent): ProgressRow | undefined {
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

/** Why the targets are read again. */
const READING: Readonly<Record<Extract<ApplyEvent, { type: "reading" }>["why"], ProgressRow>> = {
  "after creations": ["Refreshing", "after creates"],
  "after generations": ["Refreshing", "after discoveries"],
  "final check": ["Verifying", ""],
};

const STOPPING = "waiting for requests in flight to finish. Press Ctrl-C again to stop immediately.";

function skipText(reason: SkipReason): string {
  switch (reason.kind) {
    case "needs":
      return `needs ${reason.address}, which was not done`;
    case "interrupted":
      return "not started: apply was interrupted";
    case "fatal":
      return "not started: the service became unusable";
  }
}

function waitingText(unfinished: number): string {
  return `for ${count(unfinished, "discovery", "discoveries")} to finish`;
}

function retryText({ method, path, delay, attempt, attempts, status, fault }: CallWaiting): string {
  const next = `attempt ${attempt + 1} of ${attempts}`;
  return `${method} ${path} ${status ?? fault}; retrying in ${durationText(delay)} (${next})`;
}

function slowText(milliseconds: number, concurrency: number): string {
  return `the service asks to wait ${durationText(milliseconds)}; then ${count(concurrency, "call")} at a time`;
}

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
      return { ...status, startedAt: now, total: event.changes };
    case "changeStarted":
      return { ...status, running: new Map(status.running).set(event.address, now) };
    case "changeDone":
      return { ...ended(status, event.address), done: status.done + 1 };
    case "changeFailed":
      return { ...ended(status, event.address), failed: status.failed + 1 };
    case "changeSkipped":
      return { ...ended(status, event.address), skipped: status.skipped + 1 };
    case "lookingUp":
      return {
        ...status,
        note: { text: `checking whether ${event.address} was created`, until: now + BRIEFLY },
      };
    case "adopted":
      return { ...status, note: { text: `${event.address} was created after all`, until: now + BRIEFLY } };
    case "reading":
      return { ...status, note: { text: READING[event.why].join(" ").trim(), until: now + BRIEFLY } };
    case "waiting":
      return { ...status, note: { text: `waiting ${waitingText(event.unfinished)}` } };
    case "stopping":
      return { ...status, note: { text: `Stopping: ${STOPPING}` } };
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
  { total, done, failed, skipped, inFlight, running }: ApplyStatus,
  style: Style,
): readonly string[] {
  const queued = running.size - inFlight.size;
  return [
    [`${done}/${total} done`],
    failed === 0 ? [] : [style.error(`${failed} failed`)],
    skipped === 0 ? [] : [`${skipped} skipped`],
    inFlight.size === 0 ? [] : [`${count(inFlight.size, "call")} in flight`],
    inFlight.size === 0 || queued <= 0 ? [] : [`${queued} queued`],
  ].flat();
}

/** All that is told while an apply runs: by the apply, by its calls, and by whoever stops it. */
export type ProgressEvent = ApplyEvent | ClientEvent | Stopping;

/** Ctrl-C: what is in flight is finished, nothing new is begun. */
interface Stopping {
  readonly type: "stopping";
}

/** Client events are told apart by `kind`, all others by `type`. */
export function isOfCalls(event: ProgressEvent): event is ClientEvent {
  return "kind" in event;
}
