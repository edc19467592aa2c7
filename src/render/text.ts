import { compareAddresses } from "../model/address.ts";
import type { Address } from "../model/address.ts";
import type { Orphan, PlanJson } from "../model/plan.ts";
import { safeLine, withoutWorkflowCommands } from "../output/safe.ts";
import type { DiagnosticView } from "./diagnostic-view.ts";
import { placeText, planDiagnostics } from "./diagnostic-view.ts";
import { renderDiagnostics } from "./diagnostics.ts";
import type { DiagnosticOptions } from "./diagnostics.ts";
import type { PlanExtras } from "./extras.ts";
import { foldAlike } from "./fold.ts";
import type { Fold } from "./fold.ts";
import { groupBy } from "./group.ts";
import { ACTIONS, countActions, PROBLEM_SIGN, SIGNS } from "./signs.ts";
import { besidesLine, diagnosticCounts, hasErrors, planLine } from "./summary.ts";
import { changeLines } from "./text-change.ts";
import type { ChangeOptions } from "./text-change.ts";
import { count, placeOf } from "./words.ts";

export interface PlanTextOptions extends DiagnosticOptions {
  /** Every change by itself, long values whole, with ids and calls. */
  readonly verbose: boolean;
}

/**
 * The plan for people: a tree per target, what is orphaned, errors and warnings, and at the end the lines that sum
 * it up. It is drawn from the public form of the plan, so that a saved plan looks the same.
 */
export function renderPlanText(plan: PlanJson, extras: PlanExtras, options: PlanTextOptions): string {
  const sections = [
    header(plan, options),
    ...targetSections(plan, extras, options),
    ...orphanSection(plan.orphaned, options),
    ...diagnosticSection(planDiagnostics(plan, extras), options),
    footer(plan, options),
  ];
  return withoutWorkflowCommands(
    sections.map((lines) => lines.map((line) => `${line}\n`).join("")).join("\n"),
  );
}

type Lines = readonly string[];

function header(plan: PlanJson, { style }: PlanTextOptions): Lines {
  const title = `${style.strong(`Stage ${safeLine(plan.stage)}`)} ${style.faint(`at ${safeLine(plan.baseUrl)}`)}`;
  const counts = countActions(plan.changes);
  const used = ACTIONS.filter((action) => counts[action] > 0);
  const signs = used.map((action) => `${style.action(action, SIGNS[action])} ${action}`);
  if (problemsOf(plan.diagnostics).length > 0) signs.push(`${style.error(PROBLEM_SIGN)} problem`);
  return signs.length === 0 ? [title] : [title, signs.join("   ")];
}

/** From this many changes on, creations are named and not told field by field. */
const MANY = 200;

function targetSections(plan: PlanJson, extras: PlanExtras, options: PlanTextOptions): readonly Lines[] {
  const folds = options.verbose
    ? plan.changes.map((change) => ({ first: change, changes: [change] }))
    : foldAlike(plan.changes, extras);
  const changeOptions = {
    ...options,
    width: options.width - 6,
    brief: !options.verbose && folds.length > MANY,
  };
  const problems = groupBy(problemsOf(planDiagnostics(plan, extras)), ({ address }) => address);
  const entries = [
    ...folds.map((fold) => changeEntry(fold, extras, changeOptions)),
    ...[...problems.values()].flatMap((own) => problemEntry(own, options)),
  ].toSorted((a, b) => compareAddresses(a.address, b.address));
  return [...groupBy(entries, ({ address }) => placeOf(address).target)].map(([target, own]) => [
    targetHeading(target, own, options),
    ...spaced(own).map((line) => (line === "" ? "" : `  ${line}`)),
  ]);
}

/** A resource's lines in its target's tree. */
interface Entry {
  readonly address: Address;
  readonly lines: Lines;
  readonly changes: Fold["changes"];
  readonly problems: number;
}

function changeEntry(fold: Fold, extras: PlanExtras, options: ChangeOptions): Entry {
  return {
    address: fold.first.address,
    lines: changeLines(fold, extras, options),
    changes: fold.changes,
    problems: 0,
  };
}

type Problem = DiagnosticView & { readonly address: Address };

function problemsOf(diagnostics: readonly DiagnosticView[]): readonly Problem[] {
  return diagnostics.flatMap((diagnostic) => {
    const { address, severity } = diagnostic;
    return address === undefined || severity !== "error" ? [] : [{ ...diagnostic, address }];
  });
}

/** What is wrong with one resource; the details stand with the errors below. */
function problemEntry(problems: readonly Problem[], { style }: PlanTextOptions): readonly Entry[] {
  const [first] = problems;
  if (first === undefined) return [];
  const summaries = problems.map((problem) => {
    const place = placeText(problem);
    return `    ${safeLine(problem.summary)}${place === undefined ? "" : `  ${style.faint(safeLine(place))}`}`;
  });
  const heading = `${style.error(PROBLEM_SIGN)} ${style.strong(first.address)}`;
  return [{ address: first.address, lines: [heading, ...summaries], changes: [], problems: problems.length }];
}

/** A blank line between resources that take several lines; those of one line stand together. */
function spaced(entries: readonly Entry[]): Lines {
  return entries.flatMap(({ lines }, at) => {
    const previous = entries[at - 1];
    const apart = previous !== undefined && (previous.lines.length > 1 || lines.length > 1);
    return apart ? ["", ...lines] : lines;
  });
}

function targetHeading(target: string, entries: readonly Entry[], { style }: PlanTextOptions): string {
  const counts = countActions(entries.flatMap((entry) => entry.changes));
  const parts = ACTIONS.flatMap((action) => (counts[action] === 0 ? [] : [`${counts[action]} to ${action}`]));
  const problems = entries.reduce((sum, entry) => sum + entry.problems, 0);
  if (problems > 0) parts.push(count(problems, "problem"));
  return `${style.strong(target)}  ${style.faint(parts.join(", "))}`;
}

/** Orphans that are listed unless everything is asked for. */
const MOST_ORPHANS = 20;

function orphanSection(orphaned: readonly Orphan[], { style, verbose }: PlanTextOptions): readonly Lines[] {
  if (orphaned.length === 0) return [];
  const shown = verbose || orphaned.length <= MOST_ORPHANS ? orphaned : orphaned.slice(0, MOST_ORPHANS - 1);
  const left = orphaned.length - shown.length;
  return [
    [
      `${style.strong("Orphaned")}  ${style.faint("no manifest declares them any more; the service still has them")}`,
      ...shown.map(({ address, id }) => `  ${address}  ${style.faint(safeLine(id))}`),
      ...(left === 0 ? [] : [style.faint(`  and ${left} more`)]),
    ],
  ];
}

/** Diagnostics with the same summary that are told whole. */
const MOST_ALIKE = 5;

function diagnosticSection(
  diagnostics: readonly DiagnosticView[],
  options: PlanTextOptions,
): readonly Lines[] {
  const groups = [...groupBy(diagnostics, ({ severity, summary }) => `${severity} ${summary}`).values()];
  const shown = groups.flatMap((group) => (options.verbose ? group : group.slice(0, MOST_ALIKE)));
  if (shown.length === 0) return [];
  const left = groups.flatMap((group) => {
    const more = group.length - MOST_ALIKE;
    const [first] = group;
    return options.verbose || more <= 0 || first === undefined ? [] : [moreLine(first, more)];
  });
  const text = renderDiagnostics(shown, options).trimEnd().split("\n");
  return left.length === 0 ? [text] : [text, left];
}

function moreLine({ severity, summary }: DiagnosticView, more: number): string {
  return `and ${more} more ${severity}s: ${safeLine(summary)}`;
}

function footer(plan: PlanJson, { style }: PlanTextOptions): Lines {
  const errors = hasErrors(plan);
  const first = errors
    ? [style.error(diagnosticCounts(plan))]
    : plan.changes.length === 0
      ? ["No changes. The service has what the manifests declare."]
      : [];
  const besides = besidesLine(plan.summary);
  return [...first, style.strong(planLine(plan.summary)), ...(besides === undefined ? [] : [besides])];
}
