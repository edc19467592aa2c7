import type { Environment } from "../data/environment.ts";
import { type TestCase, isLive } from "../data/testCase.ts";
import type { TestReport } from "../data/testReport.ts";
import type { TestTarget } from "../data/testTarget.ts";
import { notFound } from "../read/refusal.ts";
import type { Service } from "../service.ts";
import type { Call } from "./operation.ts";

/*
 * The resources a path names. One of another test target is as unknown as one that never was.
 */

export function testTargetOf({ store }: Service, call: Call): TestTarget {
  const target = store.testTargets.get(call.id("testTargetId"));
  if (target === undefined) throw notFound("test target");
  return target;
}

export function environmentOf({ store }: Service, call: Call, target: TestTarget): Environment {
  const environment = store.environments.get(call.id("environmentId"));
  if (environment?.testTargetId !== target.id) throw notFound("environment");
  return environment;
}

export function testCaseOf({ store }: Service, call: Call, target: TestTarget): TestCase {
  const testCase = store.testCases.get(call.id("testCaseId"));
  if (testCase?.testTargetId !== target.id || !isLive(testCase)) throw notFound("test case");
  return testCase;
}

export function testReportOf({ store }: Service, call: Call, target: TestTarget): TestReport {
  const report = store.testReports.get(call.id("testReportId"));
  if (report?.testTargetId !== target.id) throw notFound("test report");
  return report;
}
