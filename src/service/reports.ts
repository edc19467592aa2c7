import { compareText } from "../model/address.ts";
import { sideBySide } from "../model/live.ts";
import type { LiveReport, LiveResult, NewReports, PageEnd } from "./answers.ts";

/**
 * Reading the history of test reports (service-api.md, operations 12 and 13). Its order is not
 * stated, but the key of a page is a point in time: as long as the reports go from new to old, the
 * first are the newest, and reading may end early. Otherwise all pages are read.
 */

/** The reports of a target that were read, and why reading stopped. */
export interface ReadReports {
  /** The newest first, each once. */
  readonly reports: readonly LiveReport[];
  /** `limit`: as many as requested were read, and all further ones are older. */
  readonly end: Exclude<PageEnd, "more"> | "limit";
  /** Whether a report that was not read may be newer than one that was. */
  readonly unsure: boolean;
}

/**
 * Reads pages until the requested reports are among them.
 * @param isEnough gets the reports so far, in the order of the service
 */
export async function readReports(
  pages: AsyncIterable<NewReports>,
  isEnough: (reports: readonly LiveReport[]) => boolean,
): Promise<ReadReports> {
  const found: LiveReport[] = [];
  let end: ReadReports["end"] = "end";
  for await (const page of pages) {
    for (const report of page.reports) found.push(report);
    const isCut = page.next === "more" && isEnough(found) && isNewestFirst(found);
    if (page.next === "more" && !isCut) continue;
    end = page.next === "more" ? "limit" : page.next;
    break;
  }
  const isWhole = end === "end" || end === "limit";
  return { reports: newestFirst(found), end, unsure: !isWhole && !isNewestFirst(found) };
}

/**
 * Whether the reports that were read go from new to old. Reports of a single moment do not show an
 * order.
 */
function isNewestFirst(reports: readonly LiveReport[]): boolean {
  const times = reports.map(timeOf);
  const isSorted = times.every((time, at) => at === 0 || time <= (times[at - 1] ?? 0));
  return isSorted && (times[0] ?? 0) > (times.at(-1) ?? 0);
}

export function newestFirst<T extends Pick<LiveReport, "id" | "createdAt">>(
  reports: readonly T[],
): readonly T[] {
  return reports.toSorted((a, b) => timeOf(b) - timeOf(a) || compareText(a.id, b.id));
}

/** Returns the time of creation; without one, an item counts as the oldest. */
export function timeOf({ createdAt = "" }: Pick<LiveReport, "createdAt">): number {
  return Date.parse(createdAt) || 0;
}

/**
 * Returns the status of a report: its own, else the one that follows from its results
 * (service-api.md, "States and transitions"). A report without results has not decided anything.
 */
export function statusOf({ status, results }: LiveReport): string {
  if (status !== undefined) return status;
  if (results.length === 0 || results.some((one) => one.status === "WAITING")) return "WAITING";
  return results.every((one) => one.status === "PASSED") ? "PASSED" : "FAILED";
}

/** A report is WAITING until all of its results are done; until then it decides nothing. */
export function isFinished(report: LiveReport): boolean {
  return statusOf(report) !== "WAITING";
}

/**
 * Completes finished reports whose results the list does not show, or not with test case and
 * status, by the operation for one report.
 */
export function withResults(
  reports: readonly LiveReport[],
  getReport: (id: string) => Promise<LiveReport>,
): Promise<readonly LiveReport[]> {
  const isPlain = ({ testCaseId, status }: LiveResult) =>
    testCaseId !== undefined && status !== undefined;
  return sideBySide(
    reports.map(async (report) => {
      const isShown = report.results.length > 0 && report.results.every(isPlain);
      if (isShown || report.status === "WAITING") return report;
      const { id, results } = await getReport(report.id);
      return { ...report, id, results };
    }),
  );
}
