import { type AnsweredJson, type AnsweredObject, ok } from "./http.ts";
import * as v from "./input.ts";
import { type Operation, type Service, openEnum, testReportOf, testTargetOf } from "./service.ts";
import { type TestReport, type TestResult, derivedStatus } from "./resources.ts";
import type { Settings } from "./settings.ts";

/**
 * Operation 12: GET /test-targets/{testTargetId}/test-reports, newest first. "Query parameters for paging: not
 * shown": the next page is asked for with this answer's `key`, JSON-encoded, unless the settings say otherwise.
 */
export const listTestReports: Operation = (service, call) => {
  const target = testTargetOf(service, call);
  const { pageSize, pageParameter } = service.settings();
  const before = cursor(service, call.query, pageParameter);
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

const key = v.object({ createdAt: v.dateTime });

function cursor(
  { runtime }: Service,
  query: URLSearchParams,
  parameter: Settings["pageParameter"],
): number | undefined {
  const sent = parameter === "none" ? null : query.get(parameter);
  if (sent === null) return undefined;
  return Date.parse(
    parameter === "key"
      ? key(v.parseForeign(sent, "key"), "key", runtime).createdAt
      : v.dateTime(sent, parameter, runtime),
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

/** Operation 14: GET /test-targets/{testTargetId}/notifications, in the order of the events. */
export const listNotifications: Operation = (service, call) => {
  const target = testTargetOf(service, call);
  const items = Array.from(service.store.notifications.of(target.id), (notification) => ({
    ...notification,
    type: openEnum(notification.type, service.settings()),
  }));
  return { kind: "list", status: 200, items };
};

/** One report with plain test results (operation 13). */
export function testReportView(report: TestReport): AnsweredJson {
  const results = report.testResults;
  return { ...head(report, results), testResults: results.map((result) => resultView(result, report)) };
}

/**
 * A report of the history, whose testResults are "report-shaped objects holding further testResults" (operation
 * 12). What the outer ones stand for is not said: here each is the report as it would be with one result alone.
 */
function listedTestReportView(report: TestReport): AnsweredJson {
  const results = report.testResults;
  return { ...head(report, results), testResults: results.map((result) => reportOfOne(result, report)) };
}

function reportOfOne(result: TestResult, report: TestReport): AnsweredJson {
  const { id, createdAt, updatedAt } = result;
  return { ...head(report, [result]), id, createdAt, updatedAt, testResults: [resultView(result, report)] };
}

function head(report: TestReport, results: readonly TestResult[]): AnsweredObject {
  return { ...report, status: derivedStatus(results) };
}

function resultView(result: TestResult, { id, testTargetId }: TestReport): AnsweredJson {
  return { ...result, testTargetId, testReportId: id };
}
