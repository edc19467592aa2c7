import type { Failed, NotTaken, Outcome } from "../apply/outcome.ts";
import { compareAddresses } from "../model/address.ts";
import type { Address } from "../model/address.ts";
import type { Action } from "../model/plan.ts";
import { safeLine, safeLines, withoutWorkflowCommands } from "../output/safe.ts";
import { skipText } from "./apply-log.ts";
import { durationText } from "./duration.ts";
import { fieldName } from "./field-name.ts";
import { ACTIONS, countActions, SIGNS } from "./signs.ts";
import type { Style } from "./style.ts";
import { wrapLines } from "./width.ts";

export interface ReportOptions {
  readonly style: Style;
  readonly width: number;
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
    section("Not known whether it ran", facts.uncertain.toSorted(compareAddresses), options),
    section("The service could not be used any more", fatalLines(outcome, options), options),
    section("To go on", nextLines(facts.next, options), options),
    [outcomeLine(outcome, facts, options.style)],
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
  if (options.verbose || done.length <= MOST_DONE)
    return done.toSorted(compareAddresses).map((address) => titleLine(address, drawing));
  const counts = countActions(done.map((address) => ({ action: facts.actions.get(address) ?? "update" })));
  return ACTIONS.filter((action) => counts[action] > 0).map(
    (action) => `${options.style.action(action, SIGNS[action])} ${counts[action]} ${action}`,
  );
}

function titleLine(address: Address, { facts, options }: Drawing): string {
  const action = facts.actions.get(address);
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

/** Commands in a column, what they do beside them. */
function nextLines(next: readonly NextStep[], { style }: ReportOptions): readonly string[] {
  const width = Math.max(0, ...next.map(({ command }) => command.length));
  return next.map(
    ({ command, purpose }) => `${safeLine(command).padEnd(width)}  ${style.faint(safeLine(purpose))}`,
  );
}

function outcomeLine(
  { done, failed, skipped, calls, interrupted }: Outcome,
  facts: ReportFacts,
  style: Style,
): string {
  const counts = `${done.length} done, ${failed.length} failed, ${skipped.length} skipped`;
  const line = `${interrupted ? "Interrupted" : "Applied"}: ${counts} (${calls.POST} POST, ${calls.PATCH} PATCH)`;
  return (
    style.strong(line) + style.faint(` on ${safeLine(facts.stage)} in ${durationText(facts.milliseconds)}`)
  );
}
