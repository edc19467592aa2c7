import { createBatchGeneration, createDiscovery } from "./generation.ts";
import { type Received, type Reply, type Route, checkKey, findRoute, jsonBody } from "./http.ts";
import { type HandlerCall, type Operation, type Service, withExtraFields } from "./service.ts";
import { listNotifications, listTestReports, readTestReport } from "./reports.ts";
import { listTestCases, updateElement, updateTestCase } from "./test-cases.ts";
import {
  createEnvironment,
  createTestTarget,
  listTestTargets,
  readTestTarget,
  updateEnvironment,
  updateTestTarget,
} from "./test-targets.ts";

const target = "/test-targets/{testTargetId}";
const testCase = `${target}/test-cases/{testCaseId}`;

/** The table of "Endpoints", row by row; paths are relative to `/apiKey/v3`. */
const operations: readonly Route<Operation>[] = [
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

/** Carries out one request of the interface: key, path, method, ids, then the operation in one transaction. */
export function perform(service: Service, apiKey: string, received: Received): Reply {
  checkKey(received.headers, apiKey, service.settings().wrongKeyStatus);
  const { route, id } = findRoute(operations, received.method, received.path);
  const call: HandlerCall = { id, query: received.query, body: () => jsonBody(received) };
  const run = () => route.run(service, call);
  const reply = route.method === "GET" ? run() : service.store.write(run);
  return service.settings().extraFields ? extended(reply) : reply;
}

function extended(reply: Reply): Reply {
  if (reply.kind === "json") return { ...reply, body: withExtraFields(reply.body) };
  return reply.kind === "list" ? { ...reply, items: eachExtended(reply.items) } : reply;
}

function* eachExtended(items: Extract<Reply, { kind: "list" }>["items"]) {
  for (const item of items) yield withExtraFields(item);
}
