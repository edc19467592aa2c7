import type { TestReport } from "../data/testReport.ts";
import { ok } from "../http/reply.ts";
import { parseForeign } from "../read/parse.ts";
import { object } from "../read/reader.ts";
import { dateTime } from "../read/values.ts";
import type { Settings } from "../settings.ts";
import { testReportOf, testTargetOf } from "./lookup.ts";
import type { Operation } from "./operation.ts";
import { listedTestReportView, testReportView } from "./view/testReport.ts";

/**
 * Operation 12: GET /test-targets/{testTargetId}/test-reports, newest first. "Query parameters for paging: not
 * shown": the next page is asked for with this answer's `key`, JSON-encoded, unless the settings say otherwise.
 */
export const listTestReports: Operation = (service, call) => {
  const target = testTargetOf(service, call);
  const { pageSize, pageParameter } = service.settings();
  const before = cursor(call.query, pageParameter);
  const rest = [...service.store.testReports.of(target.id)]
    .toSorted(newestFirst)
    .filter((report) => before === undefined || Date.parse(report.createdAt) < before);
  const page = firstPage(rest, pageSize);
  const createdAt = page.at(-1)?.createdAt;
  return ok({
    data: page.map(listedTestReportView),
    key: createdAt === undefined ? undefined : { createdAt },
    hasNextPage: page.length < rest.length,
  });
};

/** Operation 13: GET /test-targets/{testTargetId}/test-reports/{testReportId}. */
export const readTestReport: Operation = (service, call) =>
  ok(testReportView(testReportOf(service, call, testTargetOf(service, call))));

const key = object((fields) => ({ createdAt: fields.required("createdAt", dateTime) }));

function cursor(query: URLSearchParams, parameter: Settings["pageParameter"]): number | undefined {
  const sent = parameter === "none" ? null : query.get(parameter);
  if (sent === null) return undefined;
  return Date.parse(
    parameter === "key" ? key(parseForeign(sent, "key"), "key").createdAt : dateTime(sent, parameter),
  );
}

function newestFirst(a: TestReport, b: TestReport): number {
  return Date.parse(b.createdAt) - Date.parse(a.createdAt);
}

/** The cursor has a time and no more, so reports of one instant stay on one page, be it over its size. */
function firstPage(reports: readonly TestReport[], pageSize: number): readonly TestReport[] {
  const last = reports[pageSize - 1];
  if (last === undefined) return reports;
  const older = reports.findIndex((report, at) => at >= pageSize && newestFirst(last, report) < 0);
  return older === -1 ? reports : reports.slice(0, older);
}
