import { placeOf } from "../model/address.ts";
import { groupBy } from "../model/collections.ts";
import type { Path } from "../model/json.ts";
import {
  ACTIONS,
  ATTENTION_SEVERITIES,
  type Action,
  type AttentionSeverity,
  CAUSES,
  type Cause,
  type Harm,
  type Summary,
  bySeverity,
} from "../model/plan.ts";
import { count, filled, list, nonZero } from "../model/words.ts";
import { safeLine } from "./escape.ts";
import type { ChangeView, DiagnosticView, PlanView } from "./json.ts";

/** Up to this many changes, a plan is open where formats can fold. */
export const MOST_OPEN = 12;

/**
 * Writes a field's path as people do: `discovery.prompt`, `elements[2].locatorLine`,
 * `headers["X.Y"]`.
 */
export function fieldName(path: Path): string {
  const step = (key: string | number, at: number): string => {
    if (typeof key === "number") return `[${key}]`;
    if (!/^[A-Za-z0-9_][A-Za-z0-9_-]*$/.test(key)) return `[${safeLine(JSON.stringify(key))}]`;
    return at === 0 ? key : `.${key}`;
  };
  return path.map(step).join("");
}

/** Signs of the actions in a plan; a legend explains those in use. */
export const SIGNS: Readonly<Record<Action, string>> = {
  create: "+",
  update: "~",
  rediscover: "↻",
  disable: "-",
  forget: ".",
};
export const PROBLEM_SIGN = "!";

/** Returns the actions that occur, the most severe first, and how many of each. */
export function actionsIn(changes: readonly { readonly action: Action }[]) {
  const counted = ACTIONS.map(
    (action) => [action, changes.filter((one) => one.action === action).length] as const,
  );
  return counted.filter(([, amount]) => amount > 0);
}

export function actionCounts(changes: readonly { readonly action: Action }[]): readonly string[] {
  return actionsIn(changes).map(([action, amount]) => `${amount} to ${action}`);
}

export const HARMS: Readonly<Record<Harm, string>> = {
  "assertion lost": "assertion removed",
  "failure ignored": "ignoreFailure switched on",
};

/**
 * Returns the most severe row of attention that a change is in, as its position in the order of
 * severity.
 */
export function weightOf({ attention }: Pick<PlanView, "attention">) {
  const weights = new Map<string, number>();
  for (const { severity, addresses } of attention.toReversed())
    for (const address of addresses) weights.set(address, ATTENTION_SEVERITIES.indexOf(severity));
  return ({ address }: Pick<ChangeView, "address">): number =>
    weights.get(address) ?? ATTENTION_SEVERITIES.length;
}

/** Sorts changes: first those that need attention, within these the most severe action first. */
export function byWeight<T extends ChangeView>(
  weight: ReturnType<typeof weightOf>,
  changes: readonly T[],
): readonly T[] {
  return bySeverity(changes).toSorted((a, b) => weight(a) - weight(b));
}

/** Returns the orphans that no change of the plan disables: these are told as changes. */
export function otherOrphans({ changes, orphaned }: PlanView): PlanView["orphaned"] {
  const changed = new Set(changes.map(({ address }) => address));
  return orphaned.filter(({ address }) => !changed.has(address));
}

/** Returns the verdict on a plan. It never says that a plan is safe. */
export function summaryVerdict({ changes, diagnostics, attention }: PlanView) {
  const errors = diagnostics.filter(isError);
  const isRefused = errors.some(
    ({ summary, code = "" }) =>
      code.startsWith("policy-") || /^(?:Blocked by policy|Policy )/.test(summary),
  );
  if (isRefused) return { kind: "blocked", title: "Blocked by policy" } as const;
  if (errors.length > 0) return BLOCKED;
  if (attention.length > 0) return { kind: "attention", title: "Needs attention" } as const;
  return { kind: "none", title: changes.length === 0 ? "No changes" : NOTHING_NEEDS } as const;
}

/** Returns the verdict on errors and warnings without a plan. */
export function diagnosticsVerdict(diagnostics: readonly DiagnosticView[]) {
  const isBlocked = diagnostics.some(isError);
  return isBlocked ? BLOCKED : ({ kind: "none", title: "The manifests have no errors" } as const);
}

const BLOCKED = { kind: "blocked", title: "Blocked by errors" } as const;

export const NOTHING_NEEDS = "Nothing here needs attention";

/** What happens to the fields of a follow-up. */
export const FOLLOW_UP = "set after the service has written the steps, if they differ by then";

/** The name of a row's severity, at the start of its line. */
export const SEVERITY_WORDS: Readonly<Record<AttentionSeverity, string>> = {
  error: "Error",
  danger: "Danger",
  caution: "Caution",
};

/** Whether a plan has nothing to show but that there are no changes. */
export function isNothing({
  changes,
  attention,
  orphaned,
  diagnostics,
  summary,
}: Record<"changes" | "attention" | "orphaned" | "diagnostics", readonly unknown[]> & {
  readonly summary: Pick<Summary, "held">;
}): boolean {
  const shown = changes.length + attention.length + orphaned.length + diagnostics.length;
  return shown + summary.held === 0;
}

export const NOTHING_TO_DO = "No changes. The service matches your manifests.";

/** What a plan without changes says: test cases that stay off are not as their manifests say. */
export function nothingLine(plan: Pick<PlanView, "summary" | "attention">): string {
  const held = heldText(plan);
  return held === undefined ? NOTHING_TO_DO : `No changes to send. ${held}`;
}

const STEPS_ROWS: ReadonlySet<string> = new Set(["steps-new", "steps-changed", "steps-weakened"]);
const GENERATION_ROWS: ReadonlySet<string> = new Set(["generation-failed", "no-steps"]);

/**
 * Says what the test cases wait for that a plan does not switch on, and what to do. The rows of
 * attention name the test cases; those whose steps are still to be generated stand in no row.
 */
export function heldText({
  summary: { held },
  attention,
}: Pick<PlanView, "summary" | "attention">): string | undefined {
  if (held === 0) return undefined;
  const has = (codes: ReadonlySet<string>, severity?: AttentionSeverity): boolean =>
    attention.some((row) => codes.has(row.code) && (severity ?? row.severity) === row.severity);
  const one = held === 1;
  const who = `${count(held, "test case")} ${one ? "stays" : "stay"} off until`;
  const steps = one ? "its steps are" : "their steps are";
  const failed = has(GENERATION_ROWS, "danger");
  if (failed && has(STEPS_ROWS)) return `${who} ${steps} generated or accepted: tasc steps`;
  if (failed)
    return `${who} ${steps} generated: change the prompt, or tasc apply --rediscover ADDRESS`;
  return has(STEPS_ROWS)
    ? `${who} ${steps} accepted: tasc steps accept ADDRESS`
    : `${who} ${steps} generated and accepted: tasc steps`;
}

/**
 * Groups changes by cause, the reader's own first. Returns at least one group; it has no title if
 * the cause is unknown.
 */
export function byCause(changes: readonly ChangeView[]) {
  const groups = groupBy(changes, ({ cause }) => cause ?? "");
  if (groups.size === 0) return [{ title: undefined, changes }];
  return ([undefined, ...CAUSES] as const).flatMap((cause) => {
    const own = groups.get(cause ?? "");
    return own === undefined ? [] : [{ title: cause && CAUSE_WORDS[cause].title, changes: own }];
  });
}

/** Titles for groups of changes, and labels for single changes. */
export const CAUSE_WORDS: Readonly<
  Record<Cause, { readonly title: string; readonly label: string }>
> = {
  manifest: { title: "Changed by these manifests", label: "these manifests" },
  pending: { title: "Pending before these manifests", label: "pending" },
  drift: { title: "Changed on the service since the last apply", label: "drift" },
};

/**
 * Returns the line that scripts look for: the count of each action is always present, and no part
 * breaks.
 */
export function planLine(summary: Summary, width = Infinity): string {
  const { create, update, rediscover, disable, forget, held, unchanged } = summary;
  const { calls, followUps } = summary;
  const sent = `(${calls.POST} POST, ${calls.PATCH} PATCH`;
  const parts = [
    `Plan: ${create} to create,`,
    `${update} to update,`,
    `${rediscover} to rediscover,`,
    `${disable} to disable,`,
    ...nonZero(`${forget} to forget,`, `${held} held,`),
    `${unchanged} unchanged`,
    ...(followUps === 0
      ? [`${sent})`]
      : [`${sent},`, `up to ${followUps} more after discoveries)`]),
  ];
  return filled(parts, width).join("\n");
}

/** The lines below the line of counts: what waits, and what else there is. */
export function noteLines(plan: PlanView): readonly string[] {
  const held = plan.changes.length === 0 ? undefined : heldText(plan);
  return [held === undefined ? [] : `Held: ${held}`, alsoLine(plan.summary) ?? []].flat();
}

function alsoLine({ orphaned, unmanaged }: Summary): string | undefined {
  const parts = nonZero(
    `${orphaned} orphaned (no longer in any manifest)`,
    `${unmanaged} unmanaged`,
  );
  return parts.length === 0 ? undefined : `Also: ${list(parts)}`;
}

export function isError({ severity }: Pick<DiagnosticView, "severity">): boolean {
  return severity === "error";
}

export function diagnosticCounts({ diagnostics }: PlanView): string {
  const errors = diagnostics.filter(isError).length;
  return nonZero(count(errors, "error"), count(diagnostics.length - errors, "warning")).join(", ");
}

/** Writes a time span in words: `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`. */
export function durationText(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 9.95) return `${(Math.round(seconds * 10) / 10).toString()} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Writes a time span like a stop watch: `00:42`, `12:05`, `1:02:03`. */
export function clockText(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const parts = [Math.floor(seconds / 60) % 60, seconds % 60].map((part) =>
    String(part).padStart(2, "0"),
  );
  const hours = Math.floor(seconds / 3600);
  return hours === 0 ? parts.join(":") : `${hours}:${parts.join(":")}`;
}

export function byAddress(diagnostics: readonly DiagnosticView[]) {
  const about = diagnostics.flatMap(({ address, ...rest }) =>
    address === undefined ? [] : { ...rest, address },
  );
  return groupBy(about, ({ address }) => address);
}

/** Groups items by target, which is how plans are read. */
export function byTarget<T extends { readonly address: string }>(items: Iterable<T>) {
  return groupBy(items, ({ address }) => placeOf(address).target);
}

/** Writes a time as `2 January 2026, 03:04 UTC`; other text is returned unchanged. */
export function timeText(time: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return time;
  const day = `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
  return `${day}, ${date.toISOString().slice(11, 16)} UTC`;
}

/** Written out, because loading a date formatter takes longer than writing a page. */
const MONTHS =
  "January February March April May June July August September October November December".split(
    " ",
  );

/** A link to a page that a plan belongs to, e.g. its pull request. */
export type Link = { readonly text: string; readonly url: string };
