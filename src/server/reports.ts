import type { AnsweredJson, AnsweredObject } from "./http.ts";
import * as v from "./input.ts";
import * as r from "./resources.ts";
import { type Service, type TargetOperation, openEnum, ownedBy } from "./service.ts";

/**
 * Operation 12: newest first. The next page is requested with this answer's `key`, unless the
 * settings differ.
 */
export const listTestReports: TargetOperation = (service, call, target) => {
  const before = cursor(service, call.query);
  const rest = [...service.store.testReports.of(target.id)]
    .toSorted(newestFirst)
    .filter((report) => before === undefined || Date.parse(report.createdAt) < before);
  const { pageSize } = service.settings;
  const last = rest[pageSize - 1];
  // The cursor is only a time, so reports of the same instant stay on one page, even if that
  // exceeds the page size.
  const page = rest.filter(
    (report, at) => at < pageSize || newestFirst(report, last ?? report) === 0,
  );
  const createdAt = page.at(-1)?.createdAt;
  return {
    data: page.map(listedTestReportView),
    key: createdAt === undefined ? undefined : { createdAt },
    hasNextPage: page.length < rest.length,
  };
};

/** Operation 13: GET /test-targets/{testTargetId}/test-reports/{testReportId}. */
export const readTestReport: TargetOperation = ({ store }, call, target) =>
  testReportView(ownedBy(target, store.testReports.get(call.id("testReportId")), "test report"));

const key = v.object({ createdAt: v.dateTime });

function cursor({ runtime, settings }: Service, query: URLSearchParams): number | undefined {
  const { pageParameter: parameter } = settings;
  const sent = parameter === "none" ? null : query.get(parameter);
  if (sent === null) return undefined;
  if (parameter !== "key") return Date.parse(v.dateTime(sent, parameter, runtime));
  return Date.parse(key(v.parseForeign(sent, "key"), "key", runtime).createdAt);
}

function newestFirst(a: r.TestReport, b: r.TestReport): number {
  return Date.parse(b.createdAt) - Date.parse(a.createdAt);
}

/** Operation 14: GET /test-targets/{testTargetId}/notifications, in the order of the events. */
export const listNotifications: TargetOperation = ({ store, settings }, _, target) =>
  Array.from(store.notifications.of(target.id), (notification) => ({
    ...notification,
    type: openEnum(notification.type, settings),
  }));

/**
 * Returns a report with plain test results (operation 13), or as it would be with only some of
 * them.
 */
export function testReportView(report: r.TestReport, results = report.testResults): AnsweredObject {
  const { id: testReportId, testTargetId } = report;
  return {
    ...report,
    status: r.derivedStatus(results),
    testResults: results.map((result) => ({ ...result, testTargetId, testReportId })),
  };
}

/**
 * "Report-shaped" testResults (operation 12): here, each one is the report as it would be with only
 * that result.
 */
function listedTestReportView(report: r.TestReport): AnsweredJson {
  return {
    ...testReportView(report),
    testResults: report.testResults.map((result) => ({
      ...testReportView(report, [result]),
      ...r.pick(result, "id", "createdAt", "updatedAt"),
    })),
  };
}
