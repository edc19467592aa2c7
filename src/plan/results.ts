import { compareText } from "../model/address.ts";
import { groupBy } from "../model/collections.ts";
import type { LiveReport, LiveResult } from "../service/answers.ts";
import { isFinished, newestFirst, timeOf } from "../service/reports.ts";

/**
 * The results of test cases over time: pure functions on finished reports. All times are of the
 * service, in milliseconds since 1970. A result has the time at which its report was created: a run
 * that began before a change says nothing about what came after it.
 */
export interface CaseResult extends Pick<LiveResult, "name" | "errorMessage" | "traceUrl"> {
  readonly testCaseId: string;
  /** PASSED, FAILED, or a status that service-api.md does not list. */
  readonly status: string;
  readonly at: number;
  readonly report: string;
  /** Browser and breakpoint: a test may pass in one and fail in another. */
  readonly platform: string;
}

/** Returns e.g. `CHROMIUM DESKTOP`; these two are the service's defaults. */
export function platformOf({ browser = "CHROMIUM", breakpoint = "DESKTOP" }: LiveReport): string {
  return `${browser} ${breakpoint}`;
}

/**
 * Returns the results of each test case by its id, the newest first. A test case that ran several
 * times in one report has one result there: the worst.
 */
export function resultsByCase(
  reports: readonly LiveReport[],
): ReadonlyMap<string, readonly CaseResult[]> {
  const found = new Map<string, CaseResult[]>();
  for (const report of reports.filter(isFinished)) {
    const inReport = new Map<string, CaseResult>();
    for (const { testCaseId, status, name, errorMessage, traceUrl } of report.results) {
      if (testCaseId === undefined || status === undefined || status === "WAITING") continue;
      const before = inReport.get(testCaseId);
      if (before !== undefined && badness(before.status) >= badness(status)) continue;
      const [at, platform] = [timeOf(report), platformOf(report)];
      const shown = { name, errorMessage, traceUrl };
      inReport.set(testCaseId, { testCaseId, status, at, report: report.id, platform, ...shown });
    }
    for (const [id, result] of inReport) {
      const known = found.get(id);
      if (known === undefined) found.set(id, [result]);
      else known.push(result);
    }
  }
  for (const [id, results] of found) found.set(id, results.toSorted(newerFirst));
  return found;
}

export function badness(status: string): number {
  return status === "PASSED" ? 0 : status === "FAILED" ? 2 : 1;
}

/** Of results of the same moment, the worst counts as the newest. */
function newerFirst(a: CaseResult, b: CaseResult): number {
  return b.at - a.at || badness(b.status) - badness(a.status) || compareText(a.report, b.report);
}

/** Returns the newest report of each browser and breakpoint. */
export function newestByPlatform(reports: readonly LiveReport[]): readonly LiveReport[] {
  const newest = new Map<string, LiveReport>();
  for (const report of newestFirst(reports))
    if (!newest.has(platformOf(report))) newest.set(platformOf(report), report);
  return [...newest.values()];
}

/** Groups results by browser and breakpoint; each group keeps its order. */
export function byPlatform(
  results: readonly CaseResult[],
): ReadonlyMap<string, readonly CaseResult[]> {
  return groupBy(results, ({ platform }) => platform);
}

/** Returns how many of the newest results are PASSED without another one between them. */
export function passesIn(results: readonly CaseResult[]): number {
  const at = results.findIndex(({ status }) => status !== "PASSED");
  return at < 0 ? results.length : at;
}

/** What the last results of a test case say about it. */
export interface Flakiness {
  /** The number of results that were looked at. */
  readonly results: number;
  /** In the browser and breakpoint that has most. */
  readonly flips: number;
  readonly verdict: "flaky" | "broken" | "stable";
}

/** From this many flips on, a test case is flaky. */
const FLAKY = 3;

/**
 * Counts the flips between PASSED and FAILED among the last results of each browser and breakpoint.
 * @param changes moments of applies and generations: a flip across one has a cause
 */
export function flakinessOf(
  results: readonly CaseResult[],
  last: number,
  changes: readonly number[],
): Flakiness {
  const groups = [...byPlatform(results).values()].map((own) =>
    own.filter(({ status }) => status === "PASSED" || status === "FAILED").slice(0, last),
  );
  const newestChange = Math.max(-Infinity, ...changes);
  const flips = Math.max(0, ...groups.map((own) => flipsIn(own, changes)));
  const isBroken = groups.some((own) => {
    const since = own.filter(({ at }) => at > newestChange);
    return since.length > 0 && since.every(({ status }) => status === "FAILED");
  });
  return {
    results: groups.reduce((sum, own) => sum + own.length, 0),
    flips,
    verdict: flips >= FLAKY ? "flaky" : isBroken ? "broken" : "stable",
  };
}

function flipsIn(results: readonly CaseResult[], changes: readonly number[]): number {
  return results.filter((newer, at) => {
    const older = results[at + 1];
    if (older === undefined || older.status === newer.status) return false;
    return !changes.some((change) => older.at <= change && change < newer.at);
  }).length;
}
