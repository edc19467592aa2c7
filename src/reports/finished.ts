import type { LiveReport, NewReports } from "../client/index.ts";
import type { Read } from "../look/look.ts";
import { goesDown, newestFirst } from "./list.ts";

/** The newest report that has come to its end. */
export interface NewestFinished {
  /** Nothing where no report has. */
  readonly report: LiveReport | undefined;
  /** The list ended before its end and in no order that would tell, so that a newer one may be missing. */
  readonly unsure: boolean;
}

/** Reads pages until the newest finished report is among them: all, unless they go from new to old. */
export async function newestFinished<F>(
  pages: AsyncIterable<Read<NewReports, F>>,
): Promise<Read<NewestFinished, F>> {
  const reports: LiveReport[] = [];
  let whole = true;
  for await (const page of pages) {
    if (!page.ok) return page;
    reports.push(...page.value.reports);
    const report = newestFirst(reports).find(isFinished);
    if (report !== undefined && goesDown(reports)) return { ok: true, value: { report, unsure: false } };
    whole = page.value.next === "end" || page.value.next === "more";
  }
  return { ok: true, value: { report: newestFirst(reports).find(isFinished), unsure: !whole } };
}

/** service-api.md, "States and transitions": a report is WAITING until all of its results are done. */
function isFinished({ status }: LiveReport): boolean {
  return status !== undefined && status !== "WAITING";
}
