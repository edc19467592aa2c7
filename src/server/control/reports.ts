import { type TestCase, isLive } from "../data/testCase.ts";
import { type TestReport, type TestResult, breakpoint, browser, derivedStatus } from "../data/testReport.ts";
import { type Reply, ok } from "../http/reply.ts";
import { testReportView } from "../interface/view/testReport.ts";
import { notify } from "../notify.ts";
import { type Read, list, object } from "../read/reader.ts";
import { badValue, notFound } from "../read/refusal.ts";
import { freeForm, nonEmptyText, text, uuid } from "../read/values.ts";
import type { Service } from "../service.ts";
import type { ControlOperation } from "./control.ts";

const execution = object((fields) => ({
  testTargetId: fields.required("testTargetId", uuid),
  testCaseIds: fields.optional("testCaseIds", list(uuid)),
  breakpoint: fields.optional("breakpoint", breakpoint) ?? "DESKTOP",
  browser: fields.optional("browser", browser) ?? "CHROMIUM",
}));

/** POST /control/reports: a report begins to run, of the cases named or of all that are not DELETED. */
export const beginReport: ControlOperation = ({ service }, call) => {
  const given = execution(call.body(), "");
  if (service.store.testTargets.get(given.testTargetId) === undefined) throw notFound("test target");
  const cases = casesToRun(service, given);
  const report = waitingReport(service, given, cases);
  service.store.write(() => service.store.testReports.insert(report));
  return { kind: "json", status: 201, body: testReportView(report) };
};

/** A report without results would be done before it began. */
function casesToRun({ store }: Service, given: Read<typeof execution>): readonly TestCase[] {
  const live = [...store.testCases.of(given.testTargetId)].filter(isLive);
  const cases =
    given.testCaseIds?.map((id, at) => {
      const found = live.find((testCase) => testCase.id === id);
      if (found === undefined) throw badValue(`testCaseIds[${at}]`, "is no test case of the test target");
      return found;
    }) ?? live;
  if (cases.length === 0) throw badValue("testCaseIds", "must name a test case");
  return cases;
}

function waitingReport(
  { store, world }: Service,
  given: Read<typeof execution>,
  cases: readonly TestCase[],
): TestReport {
  const now = world.now();
  const environments = [...store.environments.of(given.testTargetId)];
  return {
    id: world.newId(),
    testTargetId: given.testTargetId,
    createdAt: now,
    updatedAt: now,
    executionUrl: environments.find(({ type }) => type === "DEFAULT")?.discoveryUrl,
    context: { source: "WEB_APP", triggeredBy: { type: "USER", userId: "local" } },
    breakpoint: given.breakpoint,
    browser: given.browser,
    testResults: cases.map((testCase) => ({
      id: world.newId(),
      testCaseId: testCase.id,
      name: testCase.description,
      createdAt: now,
      updatedAt: now,
      status: "WAITING",
      errorMessage: null,
      traceUrl: null,
    })),
  };
}

const outcome = object((fields) => ({
  results: fields.required("results", freeForm),
  errorMessage: fields.optional("errorMessage", text) ?? "the test failed",
}));

/** POST /control/reports/{id}/results: results finish; the report is done when the last of them is. */
export const finishResults: ControlOperation = ({ service }, call) => {
  const before = service.store.testReports.get(call.id("id"));
  if (before === undefined) throw notFound("test report");
  const given = outcome(call.body(), "");
  refuseStrangers(before, given);
  const updatedAt = service.world.now();
  const testResults = before.testResults.map((result) => withOutcome(result, given, updatedAt));
  return service.store.write(() => recordResults(service, before, { ...before, updatedAt, testResults }));
};

function refuseStrangers(report: TestReport, { results }: Read<typeof outcome>): void {
  const known = new Set(report.testResults.map((result) => result.testCaseId));
  const stranger = Object.keys(results).find((id) => !known.has(id));
  if (stranger !== undefined) throw badValue(`results.${stranger}`, "is no test case of the report");
}

function withOutcome(result: TestResult, given: Read<typeof outcome>, updatedAt: string): TestResult {
  const sent = given.results[result.testCaseId];
  if (sent === undefined) return result;
  const status = nonEmptyText(sent, `results.${result.testCaseId}`);
  const errorMessage = status === "FAILED" ? given.errorMessage : null;
  return {
    ...result,
    status,
    errorMessage,
    updatedAt,
    traceUrl: `https://traces.example.com/${result.id}.zip`,
  };
}

function recordResults(service: Service, before: TestReport, report: TestReport): Reply {
  service.store.testReports.update(report);
  const status = derivedStatus(report.testResults);
  if (derivedStatus(before.testResults) === "WAITING" && status !== "WAITING")
    notify(service, report.testTargetId, "REPORT_EXECUTION_FINISHED", { testReportId: report.id, status });
  return ok(testReportView(report));
}
