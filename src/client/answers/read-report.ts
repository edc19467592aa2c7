import type { Json, JsonObject } from "../../model/json.ts";
import { isArray } from "../../model/json.ts";
import type { Misfit } from "../failure.ts";
import type { Result } from "../result.ts";
import type { LiveReport, LiveResult, ReportPage } from "./reports.ts";
import { aList, anObject, checked, flag, id, list, plainObject, text, within } from "./shape.ts";

/** The answer of operation 12. A missing `hasNextPage` is read from whether there is a key. */
export function readReportPage(answer: Json): Result<ReportPage, Misfit> {
  return checked(() => {
    const fields = anObject(answer);
    const key = fields["key"] ?? undefined;
    return {
      reports: within("data", () => aList(fields["data"], report)),
      key,
      hasNextPage: flag(fields, "hasNextPage") ?? key !== undefined,
    };
  });
}

/** The answer of operation 13. */
export function readReport(answer: Json): Result<LiveReport, Misfit> {
  return checked(() => report(answer));
}

function report(json: Json): LiveReport {
  const fields = anObject(json);
  return {
    id: id(fields, "id"),
    testTargetId: text(fields, "testTargetId"),
    createdAt: text(fields, "createdAt"),
    updatedAt: text(fields, "updatedAt"),
    executionUrl: text(fields, "executionUrl"),
    status: text(fields, "status"),
    context: plainObject(fields, "context"),
    breakpoint: text(fields, "breakpoint"),
    browser: text(fields, "browser"),
    results: results(fields),
  };
}

/**
 * The list's sample wraps results in further report-shaped objects (service-api.md, operation 12): an entry that
 * has `testResults` of its own and names no test case is such a wrapper.
 */
function results(holder: JsonObject): readonly LiveResult[] {
  return list(holder, "testResults", resultsOf)?.flat() ?? [];
}

function resultsOf(json: Json): readonly LiveResult[] {
  const fields = anObject(json);
  const isWrapper = isArray(fields["testResults"]) && typeof fields["testCaseId"] !== "string";
  return isWrapper ? results(fields) : [result(fields)];
}

function result(fields: JsonObject): LiveResult {
  return {
    id: text(fields, "id"),
    testCaseId: text(fields, "testCaseId"),
    name: text(fields, "name"),
    createdAt: text(fields, "createdAt"),
    updatedAt: text(fields, "updatedAt"),
    status: text(fields, "status"),
    errorMessage: text(fields, "errorMessage"),
    traceUrl: text(fields, "traceUrl"),
  };
}
