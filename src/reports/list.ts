import type { LiveReport, LiveResult, NewReports, PageEnd } from "../client/index.ts";
import type { Read } from "../look/look.ts";
import { compareText } from "../model/address.ts";

/** A report of a managed target. */
export interface TargetReport {
  readonly target: string;
  readonly report: LiveReport;
}

/** What was read of a target's reports, and why it ended there. */
export interface ReadReports {
  readonly reports: readonly LiveReport[];
  /** `limit`: there are as many as were wanted, and no older one can be newer. */
  readonly end: Exclude<PageEnd, "more"> | "limit";
}

/**
 * Reads pages until the newest so many reports are among them. The order of the list is not stated (service-api.md,
 * operation 12), but its key is a point in time, so it goes one way or the other: where it goes from new to old the
 * first are the newest, and else the last are, so that all must be read.
 */
export async function newestReports<F>(
  pages: AsyncIterable<Read<NewReports, F>>,
  limit: number,
): Promise<Read<ReadReports, F>> {
  const reports: LiveReport[] = [];
  for await (const page of pages) {
    if (!page.ok) return page;
    reports.push(...page.value.reports);
    const { next } = page.value;
    if (next !== "more")
      return { ok: true, value: { reports: newestFirst(reports).slice(0, limit), end: next } };
    if (reports.length >= limit && goesDown(reports))
      return { ok: true, value: { reports: reports.slice(0, limit), end: "limit" } };
  }
  return { ok: true, value: { reports: newestFirst(reports).slice(0, limit), end: "end" } };
}

/** From new to old, as far as was read; one moment alone shows no order. */
export function goesDown(reports: readonly LiveReport[]): boolean {
  const times = reports.map(({ createdAt }) => createdAt ?? "");
  const [first = "", last = ""] = [times[0], times.at(-1)];
  return first > last && times.every((time, at) => at === 0 || time <= (times[at - 1] ?? ""));
}

export function newestFirst(reports: readonly LiveReport[]): readonly LiveReport[] {
  return reports.toSorted(
    (a, b) => compareText(b.createdAt ?? "", a.createdAt ?? "") || compareText(a.id, b.id),
  );
}

/** Results by status, those seen first. */
export function countResults(results: readonly LiveResult[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = { PASSED: 0, FAILED: 0, WAITING: 0 };
  for (const { status = "UNKNOWN" } of results) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
