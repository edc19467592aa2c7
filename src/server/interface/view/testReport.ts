import { type TestReport, type TestResult, derivedStatus } from "../../data/testReport.ts";
import type { Answered, AnsweredObject } from "../../http/answered.ts";

/** One report with plain test results (operation 13). */
export function testReportView(report: TestReport): Answered {
  const results = report.testResults;
  return { ...head(report, results), testResults: results.map((result) => resultView(result, report)) };
}

/**
 * A report of the history, whose testResults are "report-shaped objects holding further testResults" (operation
 * 12). What the outer ones stand for is not said: here each is the report as it would be with one result alone.
 */
export function listedTestReportView(report: TestReport): Answered {
  const results = report.testResults;
  return { ...head(report, results), testResults: results.map((result) => reportOfOne(result, report)) };
}

function reportOfOne(result: TestResult, report: TestReport): Answered {
  const { id, createdAt, updatedAt } = result;
  return { ...head(report, [result]), id, createdAt, updatedAt, testResults: [resultView(result, report)] };
}

function head(report: TestReport, results: readonly TestResult[]): AnsweredObject {
  return {
    id: report.id,
    testTargetId: report.testTargetId,
    createdAt: report.createdAt,
    updatedAt: report.updatedAt,
    executionUrl: report.executionUrl,
    status: derivedStatus(results),
    context: report.context,
    breakpoint: report.breakpoint,
    browser: report.browser,
  };
}

function resultView(result: TestResult, { id, testTargetId }: TestReport): Answered {
  return { ...result, testTargetId, testReportId: id };
}
