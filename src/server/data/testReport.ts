import { type Read, list, nullable, object } from "../read/reader.ts";
import { dateTime, freeForm, nonEmptyText, oneOf, text, uuid, webUrl } from "../read/values.ts";
import type { World } from "./world.ts";

export const breakpoint = oneOf("MOBILE", "TABLET", "DESKTOP");
export const browser = oneOf("CHROMIUM", "FIREFOX", "SAFARI");

const testResultReader = (world: World) =>
  object((fields) => ({
    id: fields.optional("id", uuid) ?? world.newId(),
    testCaseId: fields.required("testCaseId", uuid),
    name: fields.optional("name", text) ?? "",
    createdAt: fields.optional("createdAt", dateTime) ?? world.now(),
    updatedAt: fields.optional("updatedAt", dateTime) ?? world.now(),
    status: fields.optional("status", nonEmptyText) ?? "WAITING",
    errorMessage: fields.optional("errorMessage", nullable(text)) ?? null,
    traceUrl: fields.optional("traceUrl", nullable(text)) ?? null,
  }));

/** A test report as stored (Test report). It has no status: that is derived from the results. */
export const testReportReader = (world: World) =>
  object((fields) => ({
    id: fields.required("id", uuid),
    testTargetId: fields.required("testTargetId", uuid),
    createdAt: fields.optional("createdAt", dateTime) ?? world.now(),
    updatedAt: fields.optional("updatedAt", dateTime) ?? world.now(),
    executionUrl: fields.optional("executionUrl", webUrl),
    context: fields.optional("context", freeForm) ?? {},
    breakpoint: fields.optional("breakpoint", breakpoint) ?? "DESKTOP",
    browser: fields.optional("browser", browser) ?? "CHROMIUM",
    testResults: fields.optional("testResults", list(testResultReader(world))) ?? [],
  }));

export type TestReport = Read<ReturnType<typeof testReportReader>>;
export type TestResult = Read<ReturnType<typeof testResultReader>>;

export type ReportStatus = "WAITING" | "PASSED" | "FAILED";

/**
 * The derivation table of "States and transitions". A status beyond the three seen counts as done, but neither as
 * failed nor as succeeded: such a report fails beside a failed result and otherwise keeps WAITING, as no row of the
 * table lets it pass.
 */
export function derivedStatus(results: readonly Pick<TestResult, "status">[]): ReportStatus {
  const statuses = results.map((result) => result.status);
  if (statuses.includes("WAITING")) return "WAITING";
  if (statuses.includes("FAILED")) return "FAILED";
  return statuses.every((status) => status === "PASSED") ? "PASSED" : "WAITING";
}
