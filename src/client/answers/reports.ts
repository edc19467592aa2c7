import type { Json, JsonObject } from "../../model/json.ts";

/** service-api.md, "Test report". Undefined: the answer did not show it. */
export interface LiveReport {
  readonly id: string;
  readonly testTargetId: string | undefined;
  readonly createdAt: string | undefined;
  readonly updatedAt: string | undefined;
  readonly executionUrl: string | undefined;
  readonly status: string | undefined;
  /** The trigger context, as it came. */
  readonly context: JsonObject | undefined;
  readonly breakpoint: string | undefined;
  readonly browser: string | undefined;
  /** The plain results, also where a list wraps them in report-shaped entries. */
  readonly results: readonly LiveResult[];
}

/** service-api.md, "Test result". */
export interface LiveResult {
  readonly id: string | undefined;
  readonly testCaseId: string | undefined;
  readonly name: string | undefined;
  readonly createdAt: string | undefined;
  readonly updatedAt: string | undefined;
  readonly status: string | undefined;
  readonly errorMessage: string | undefined;
  readonly traceUrl: string | undefined;
}

/** One answer of operation 12. */
export interface ReportPage {
  readonly reports: readonly LiveReport[];
  /** What the next page is asked for with. */
  readonly key: Json | undefined;
  readonly hasNextPage: boolean;
}

/** What follows a page when all are read one after the other. */
export type PageEnd =
  /** Another page. */
  | "more"
  /** Nothing: this was the last one. */
  | "end"
  /** Nothing, though the service says that there is more: this page brought no report that was not known. */
  | "nothing-new"
  /** Nothing, though the service says that there is more: it gave no key to ask for it. */
  | "no-key";

export interface NewReports {
  /** Those that no earlier page had. */
  readonly reports: readonly LiveReport[];
  readonly next: PageEnd;
}

/** Which reports of a page are new, and whether to ask for another; adds their ids to those seen. */
export function newReports(page: ReportPage, seen: Set<string>): NewReports {
  const reports = page.reports.filter(({ id }) => !seen.has(id) && seen.add(id));
  return { reports, next: whatFollows(page, reports.length) };
}

function whatFollows(page: ReportPage, fresh: number): PageEnd {
  if (!page.hasNextPage) return "end";
  if (fresh === 0) return "nothing-new";
  return page.key === undefined ? "no-key" : "more";
}
