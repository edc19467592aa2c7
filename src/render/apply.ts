import { type Address, compareAddresses } from "../model/address.ts";
import type { ApplyEvent, ClientEvent, Failed, Outcome, SkipReason } from "../model/events.ts";
import type { Action } from "../model/plan.ts";
import { count, filled } from "../model/words.ts";
import { linesOf, safeLine, withoutWorkflowCommands } from "./escape.ts";
import { type Style, sectionsText, wrap } from "./style.ts";
import type { PlanTextOptions } from "./text.ts";
import { SIGNS, actionsIn, clockText, durationText, fieldName } from "./words.ts";

type ReportOptions = Pick<PlanTextOptions, "style" | "width" | "screen" | "verbose">;

export interface ReportFacts {
  readonly stage: string;
  readonly milliseconds: number;
  /** Planned action of each address. */
  readonly actions: ReadonlyMap<Address, Action>;
  /** Batch generations that were sent and may or may not have run. */
  readonly uncertain: readonly Address[];
  /** Commands for the next step, the most useful first, each with its purpose. */
  readonly next: readonly NextStep[];
}

export type NextStep = { readonly command: string; readonly purpose: string };

/**
 * Maximum number of done changes that are listed by name without `verbose`; more are only counted.
 */
const MOST_DONE = 40;

export function renderApplyReport(
  outcome: Outcome,
  facts: ReportFacts,
  options: ReportOptions,
): string {
  const { style, width, screen = Infinity } = options;
  const { failed, skipped, fatal } = outcome;
  const titleOf = (address: Address): string => signed(address, facts.actions.get(address), style);
  const failure = ({ summary, detail }: Failed["failure"]): readonly string[] => [
    style("error", safeLine(summary)),
    // Each line wraps separately, so that lists and commands keep their form.
    ...linesOf(detail).flatMap((line) => wrap(line, width - 6)),
  ];
  const section = (title: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0
      ? []
      : [style("strong", title), ...lines.map((line) => `  ${line}`.trimEnd())];
  const steps = facts.next.map(
    ({ command, purpose }) => `run \`${safeLine(command)}\` ${safeLine(purpose)}`,
  );
  return withoutWorkflowCommands(
    sectionsText([
      section("Done", doneLines(outcome, facts, options)),
      section(
        "Failed",
        sorted(failed).flatMap((change) => [
          titleOf(change.address),
          ...failure(change.failure).map((line) => `    ${line}`),
        ]),
      ),
      section(
        "Skipped",
        sorted(skipped).flatMap(({ address, reason }) => [
          titleOf(address),
          `    ${skipText(reason)}`,
        ]),
      ),
      section(
        "Did not take",
        sorted(outcome.notTaken).map(
          ({ address, paths }) => `${address}: ${paths.map(fieldName).join(", ")}`,
        ),
      ),
      section(
        "Generation not finished",
        outcome.unfinished.toSorted(compareAddresses).map((one) => unfinishedText(one, outcome)),
      ),
      section(
        "Not waited for: no notification of the service names these batch generations",
        outcome.notWaited.toSorted(compareAddresses),
      ),
      section("Unknown whether it ran", facts.uncertain.toSorted(compareAddresses)),
      section("Why the apply stopped", fatal === undefined ? [] : failure(fatal)),
      steps.length === 1
        ? [`${style("strong", "Next step:")} ${steps.join("")}`]
        : section("Next steps", steps),
      filled(totalOf(outcome, facts), screen).map((line) => style("strong", line)),
    ]),
  );
}

/** Lists what was done by name, or counts it if that is too much to read. */
function doneLines(
  { done }: Outcome,
  { actions: planned }: ReportFacts,
  { style, verbose }: ReportOptions,
): readonly string[] {
  // An address without a planned action was patched because an earlier discovery had changed it.
  const actions = done.map((address) => ({ address, action: planned.get(address) ?? "update" }));
  if (verbose || done.length <= MOST_DONE)
    return sorted(actions).map(({ address, action }) => signed(address, action, style));
  return actionsIn(actions).map(
    ([action, amount]) => `${style(action, SIGNS[action])} ${amount} ${action}`,
  );
}

function signed(address: Address, action: Action | undefined, style: Style): string {
  return action === undefined ? address : `${style(action, SIGNS[action])} ${address}`;
}

function unfinishedText(address: Address, { words }: Outcome): string {
  const word = words.get(address);
  return word === undefined
    ? address
    : `${address}: its status is ${safeLine(word)}, which tasc does not know`;
}

/**
 * Returns the parts of the last line. Scripts look for it: its parts are always present, and it
 * breaks only at the edge of a screen.
 */
function totalOf(
  { done, failed, skipped, calls, interrupted }: Outcome,
  { stage, milliseconds }: ReportFacts,
): readonly string[] {
  return [
    `${interrupted ? "Interrupted" : "Applied"}: ${done.length} done,`,
    `${failed.length} failed,`,
    `${skipped.length} skipped`,
    `(${calls.POST} POST, ${calls.PATCH} PATCH)`,
    `on ${safeLine(stage)}`,
    `in ${durationText(milliseconds)}`,
  ];
}

function sorted<T extends { readonly address: Address }>(items: readonly T[]): readonly T[] {
  return items.toSorted((a, b) => compareAddresses(a.address, b.address));
}

/**
 * An event of a running apply: from the apply, from its calls, or from the user who stops it
 * (Ctrl-C).
 */
export type ProgressEvent = ApplyEvent | ClientEvent | { readonly type: "stopping" };

type Row = readonly [word: string, text: string];

interface EventText {
  /** Line of a log: a word, and its subject. */
  readonly row?: Row;
  /** Text for a live display, and how long it stays there, in milliseconds. */
  readonly note?: string;
  readonly lasting?: number;
}

/** How long the note of an event without an end of its own stays, in milliseconds. */
const BRIEFLY = 3000;

/**
 * Returns an event as one line of a log, if it has one. A word comes first, padded to eight
 * columns.
 */
export function eventLine(event: ProgressEvent): string | undefined {
  const { row } = textOf(event);
  return row && `${row[0].padEnd(8)} ${safeLine(row[1])}`.trimEnd();
}

function textOf(event: ProgressEvent): EventText {
  const same = (row: Row, lasting = BRIEFLY): EventText => ({
    row,
    note: row.join(" ").trim(),
    lasting,
  });
  // Client events have a `kind`, all others a `type`.
  if ("kind" in event) {
    if (event.kind === "slowed") {
      const note = `the service asks to wait ${durationText(event.pause)}; then ${count(event.concurrency, "call")} at a time`;
      return { row: ["slower", note], note, lasting: event.pause };
    }
    // After a 429, the `slowed` event already reports the wait, once for all calls.
    if (event.kind !== "waiting" || event.status === 429) return {};
    const { method, path, delay, attempt, attempts, status, fault } = event;
    const note = `${method} ${path} ${status ?? fault}; retrying in ${durationText(delay)} (attempt ${attempt + 1} of ${attempts})`;
    return { row: ["retry", note], note, lasting: delay };
  }
  switch (event.type) {
    case "started":
      return event.changes === 0 ? {} : { row: ["apply", count(event.changes, "change")] };
    case "changeDone":
      return { row: ["done", `${event.address} (${event.action})`] };
    case "changeFailed":
      return { row: ["failed", `${event.address}: ${event.failure.summary}`] };
    case "changeSkipped":
      return { row: ["skipped", `${event.address}: ${skipText(event.reason)}`] };
    case "lookingUp": {
      const text = `whether ${event.address} was created`;
      return { row: ["checking", `${text}: ${event.why}`], note: `checking ${text}` };
    }
    case "adopted": {
      const note = `${event.address} was created after all`;
      return { row: ["found", `${note}, as ${event.id}`], note };
    }
    case "reading":
      return same(READING[event.why]);
    case "waiting": {
      const { unfinished, what } = event;
      const awaited = what
        ? count(unfinished, what)
        : count(unfinished, "discovery", "discoveries");
      return same(["waiting", `for ${awaited} to finish`], Infinity);
    }
    case "stopping":
      return same(
        [
          "Stopping:",
          "waiting for requests in flight to finish. Press Ctrl-C again to stop immediately.",
        ],
        Infinity,
      );
    case "changeStarted":
      return {};
  }
}

const READING = {
  "after creations": ["Refreshing", "after creates"],
  "after generations": ["Refreshing", "after discoveries"],
  "final check": ["Verifying", ""],
} as const;

function skipText(reason: SkipReason): string {
  if (reason.kind === "needs") return `needs ${reason.address}, which was not done`;
  return `not started: ${reason.kind === "fatal" ? "the apply had to stop" : "apply was interrupted"}`;
}

const NAMED = 3;
const BAR = 20;

/** The progress of an apply, from its events and the times at which they came. */
export class ApplyStatus {
  #startedAt: number;
  /** Unset while the apply is planned. */
  #total: number | undefined;
  readonly #ended = { changeDone: 0, changeFailed: 0, changeSkipped: 0 };
  readonly #running = new Map<Address, number>();
  readonly #callsInFlight = new Set<number>();
  #note = { text: "", until: -Infinity };

  constructor(now: number) {
    this.#startedAt = now;
  }

  hear(event: ProgressEvent, now: number): void {
    const { note, lasting = BRIEFLY } = textOf(event);
    if (note !== undefined) this.#note = { text: note, until: now + lasting };
    if ("kind" in event) {
      if (event.kind === "started") this.#callsInFlight.add(event.call);
      else if (event.kind === "finished") this.#callsInFlight.delete(event.call);
    } else if (event.type === "started") {
      this.#startedAt = now;
      this.#total = event.changes;
    } else if (event.type === "changeStarted") {
      this.#running.set(event.address, now);
    } else if (
      event.type === "changeDone" ||
      event.type === "changeFailed" ||
      event.type === "changeSkipped"
    ) {
      this.#running.delete(event.address);
      this.#ended[event.type]++;
    }
  }

  /**
   * Returns the status area: a bar with the counts, the changes that have run longest, and a note.
   */
  lines(now: number, style: Style): readonly string[] {
    const { changeDone: done, changeFailed: failed, changeSkipped: skipped } = this.#ended;
    const total = this.#total;
    // Nothing to apply, so nothing to count.
    if (total === 0) return [];
    const share = total === undefined ? 0 : Math.min(1, (done + failed + skipped) / total);
    const filled = Math.round(share * BAR);
    const inFlight = this.#callsInFlight.size;
    const queued = this.#running.size - inFlight;
    const longest = [...this.#running].toSorted(([, a], [, b]) => a - b).slice(0, NAMED);
    const parts = [
      style("added", "━".repeat(filled)) + style("faint", "─".repeat(BAR - filled)),
      total === undefined ? "planning" : `${done}/${total} done`,
      ...(failed === 0 ? [] : [style("error", `${failed} failed`)]),
      ...(skipped === 0 ? [] : [`${skipped} skipped`]),
      ...(inFlight === 0 ? [] : [`${count(inFlight, "call")} in flight`]),
      ...(inFlight === 0 || queued <= 0 ? [] : [`${queued} queued`]),
      style("faint", clockText(now - this.#startedAt)),
    ];
    return [
      parts.join("  "),
      ...longest.map(
        ([address, since]) => `  ${address}  ${style("faint", durationText(now - since))}`,
      ),
      ...(now >= this.#note.until ? [] : [`  ${style("warning", safeLine(this.#note.text))}`]),
    ];
  }
}
