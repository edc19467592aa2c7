import type { Route } from "../http/router.ts";
import { updateElement } from "./elements.ts";
import { createEnvironment, updateEnvironment } from "./environments.ts";
import { createBatchGeneration, createDiscovery } from "./generations.ts";
import { listNotifications } from "./notifications.ts";
import type { Operation } from "./operation.ts";
import { listTestCases, updateTestCase } from "./testCases.ts";
import { listTestReports, readTestReport } from "./testReports.ts";
import { createTestTarget, listTestTargets, readTestTarget, updateTestTarget } from "./testTargets.ts";

const target = "/test-targets/{testTargetId}";
const testCase = `${target}/test-cases/{testCaseId}`;

/** The table of "Endpoints", row by row; paths are relative to `/apiKey/v3`. */
export const operations: readonly Route<Operation>[] = [
  { method: "GET", path: "/test-targets", run: listTestTargets },
  { method: "POST", path: "/test-targets", run: createTestTarget },
  { method: "GET", path: target, run: readTestTarget },
  { method: "PATCH", path: target, run: updateTestTarget },
  { method: "POST", path: `${target}/environments`, run: createEnvironment },
  { method: "PATCH", path: `${target}/environments/{environmentId}`, run: updateEnvironment },
  { method: "GET", path: `${target}/test-cases`, run: listTestCases },
  { method: "PATCH", path: testCase, run: updateTestCase },
  { method: "PATCH", path: `${testCase}/elements/{elementId}`, run: updateElement },
  { method: "POST", path: `${target}/discoveries`, run: createDiscovery },
  { method: "POST", path: `${target}/batch-generations`, run: createBatchGeneration },
  { method: "GET", path: `${target}/test-reports`, run: listTestReports },
  { method: "GET", path: `${target}/test-reports/{testReportId}`, run: readTestReport },
  { method: "GET", path: `${target}/notifications`, run: listNotifications },
];
