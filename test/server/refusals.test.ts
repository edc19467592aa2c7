import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../src/model/json.ts";
import {
  CASE,
  ENVIRONMENT,
  type Harness,
  KEY,
  OTHER_CASE,
  OTHER_TARGET,
  REPORT,
  TARGET,
  anyText,
  at,
  id,
  seed,
  start,
  startShared,
  stopShared,
} from "./harness.ts";

const targets = "/test-targets";
const target = `${targets}/${TARGET}`;
const environment = `${target}/environments/${ENVIRONMENT}`;
const testCase = `${target}/test-cases/${CASE}`;
const element = `${testCase}/elements/${id(0x41)}`;
const nowhere = id(0xdead);
const discovery = { name: "buy", prompt: "Buy something" };

/**
 * A body that an operation refuses: its description, the body itself, and the field that the answer
 * names.
 */
type BadBody = readonly [sentence: string, body: Json, field?: string];
type Refused = {
  readonly sentence: string;
  readonly method: string;
  readonly path: string;
  readonly body?: Json;
  readonly status: number;
  readonly field?: string;
};

function badBodies(method: string, path: string, rows: readonly BadBody[]): Refused[] {
  return rows.map(([sentence, body, field]) => ({
    sentence,
    method,
    path,
    body,
    status: 400,
    ...(field === undefined ? {} : { field }),
  }));
}

function notThere(method: string, path: string, sentence: string, body?: Json): Refused {
  return { sentence, method, path, status: 404, ...(body === undefined ? {} : { body }) };
}

function noUuid(method: string, path: string, field: string): Refused {
  const body = method === "GET" ? {} : { body: {} };
  return { sentence: `a ${field} that is no uuid`, method, path, status: 400, field, ...body };
}

const unknownPaths: Refused[] = [
  notThere("GET", "/test-target", "an unknown path"),
  notThere("GET", `${targets}/`, "a path with a slash too many"),
  notThere("GET", `${testCase}/elements`, "a path between two operations"),
  noUuid("GET", `${targets}/7`, "testTargetId"),
  noUuid("PATCH", `${target}/environments/7`, "environmentId"),
  noUuid("PATCH", `${target}/test-cases/7`, "testCaseId"),
  noUuid("PATCH", `${testCase}/elements/7`, "elementId"),
  noUuid("GET", `${target}/test-reports/7`, "testReportId"),
];

const strange = `${targets}/${nowhere}`;
const other = `${targets}/${OTHER_TARGET}`;

const unknownResources: Refused[] = [
  notThere("GET", strange, "an unknown target, read"),
  notThere("PATCH", strange, "an unknown target, updated", {}),
  notThere("POST", `${strange}/environments`, "an unknown target's new environment", {}),
  notThere(
    "PATCH",
    `${strange}/environments/${ENVIRONMENT}`,
    "an unknown target's environment",
    {},
  ),
  notThere("GET", `${strange}/test-cases`, "an unknown target's cases"),
  notThere("POST", `${strange}/discoveries`, "an unknown target's discovery", discovery),
  notThere("POST", `${strange}/batch-generations`, "an unknown target's batch", {}),
  notThere("GET", `${strange}/test-reports`, "an unknown target's reports"),
  notThere("GET", `${strange}/notifications`, "an unknown target's notifications"),
  notThere("PATCH", `${target}/environments/${nowhere}`, "an unknown environment", {}),
  notThere("PATCH", `${other}/environments/${ENVIRONMENT}`, "another target's environment", {}),
  notThere("PATCH", `${target}/test-cases/${nowhere}`, "an unknown case", {}),
  notThere("PATCH", `${target}/test-cases/${OTHER_CASE}`, "another target's case", {}),
  notThere("PATCH", `${target}/test-cases/${id(0x2d)}`, "a deleted case", {}),
  notThere("PATCH", `${testCase}/elements/${nowhere}`, "an unknown element", { locatorLine: "x" }),
  notThere("GET", `${target}/test-reports/${nowhere}`, "an unknown report"),
  notThere("GET", `${other}/test-reports/${REPORT}`, "another target's report"),
];

const url = "https://a.example";

const createTarget = badBodies("POST", targets, [
  ["a target that is not wrapped", { app: "a", discoveryUrl: url }, "testTarget"],
  ["a target without app", { testTarget: { discoveryUrl: url } }, "testTarget.app"],
  ["a target without URL", { testTarget: { app: "a" } }, "testTarget.discoveryUrl"],
  [
    "a target at a path",
    { testTarget: { app: "a", discoveryUrl: "/a" } },
    "testTarget.discoveryUrl",
  ],
  [
    "a target at a file",
    { testTarget: { app: "a", discoveryUrl: "file:///a" } },
    "testTarget.discoveryUrl",
  ],
  [
    "a target with more",
    { testTarget: { app: "a", discoveryUrl: url, tags: [] } },
    "testTarget.tags",
  ],
]);

const updateTarget = badBodies("PATCH", target, [
  ["a body that is an array", []],
  ["a body that is null", null],
  ["a target's update with an unknown field", { name: "x" }, "name"],
  ["an app that is null", { app: null }, "app"],
  ["a test id attribute that is a number", { testIdAttribute: 7 }, "testIdAttribute"],
  ["a time-out that is no integer", { timeoutPerStep: 1.5 }, "timeoutPerStep"],
  ["a time-out in words", { timeoutPerStep: "30" }, "timeoutPerStep"],
  ["a tracker that is null", { trackerIntegration: null }, "trackerIntegration"],
  ["a tracker's unknown field", { trackerIntegration: { token: "t" } }, "trackerIntegration.token"],
  [
    "a tracker's domain alone",
    { trackerIntegration: { domain: "t.example" } },
    "trackerIntegration.domain",
  ],
]);

const createEnvironment = badBodies("POST", `${target}/environments`, [
  ["a new environment whose name is null", { name: null }, "name"],
  ["a new environment whose URL is null", { discoveryUrl: null }, "discoveryUrl"],
  [
    "a new environment whose location is null",
    { privateLocationName: null },
    "privateLocationName",
  ],
  ["a new environment that says its type", { type: "DEFAULT" }, "type"],
]);

const updateEnvironment = badBodies("PATCH", environment, [
  ["an environment's name that is a number", { name: 7 }, "name"],
  ["an environment's bad URL", { discoveryUrl: "shop" }, "discoveryUrl"],
  ["a test account in words", { testAccount: "ada" }, "testAccount"],
  ["a test account's answered field", { testAccount: { updatedAt: "x" } }, "testAccount.updatedAt"],
  ["a test account's null password", { testAccount: { password: null } }, "testAccount.password"],
  [
    "a basic auth's one-time key",
    { basicAuth: { otpInitializerKey: "x" } },
    "basicAuth.otpInitializerKey",
  ],
  ["header fields in a list", { additionalHeaderFields: [] }, "additionalHeaderFields"],
]);

const updateCase = badBodies("PATCH", testCase, [
  ["a case's description that is null", { description: null }, "description"],
  ["a case's tags by their answered name", { tags: [] }, "tags"],
  ["a case's folder by its id", { folderId: null }, "folderId"],
  ["a case's tags that are null", { assignedTagNames: null }, "assignedTagNames"],
  ["a tag that is null", { assignedTagNames: ["a", null] }, "assignedTagNames[1]"],
  ["deletion by status", { status: "DELETED" }, "status"],
  ["a status in small letters", { status: "enabled" }, "status"],
  ["an unknown run status", { runStatus: "PAUSED" }, "runStatus"],
  ["an unknown interaction status", { interactionStatus: "OPEN" }, "interactionStatus"],
  ["a null interaction status", { interactionStatus: null }, "interactionStatus"],
  ["a blank prompt", { createBackendDiscoveryPrompt: " " }, "createBackendDiscoveryPrompt"],
  ["elements that are null", { elements: null }, "elements"],
  ["two elements in one place", { elements: [{ index: 3 }, { index: 3 }] }, "elements[1].index"],
  ["an element twice", { elements: [{ id: id(0x41) }, { id: id(0x41) }] }, "elements[1].id"],
]);

/** The body of each row is a single element, and its field is relative to the element. */
const updateOneElement = badBodies("PATCH", testCase, [
  ["an element of another case", { id: nowhere }, "id"],
  ["an element that says another case", { testCaseId: OTHER_CASE }, "testCaseId"],
  ["an element before the first", { index: -1 }, "index"],
  ["a written scroll state", { scrollState: {} }, "scrollState"],
  ["an interaction without action", { interaction: {} }, "interaction.action"],
  ["an interaction with an empty action", { interaction: { action: "" } }, "interaction.action"],
  [
    "an unknown interaction",
    { id: id(0x41), interaction: { id: nowhere, action: "CLICK" } },
    "interaction.id",
  ],
  [
    "a new element's known interaction",
    { interaction: { id: id(0x42), action: "CLICK" } },
    "interaction.id",
  ],
  [
    "an interaction that says another element",
    { id: id(0x41), interaction: { action: "CLICK", testCaseElementId: id(0x44) } },
    "interaction.testCaseElementId",
  ],
  ["an assertion without expectation", { assertion: { calledWith: "x" } }, "assertion.expectation"],
  [
    "an unknown assertion",
    { id: id(0x44), assertion: { id: nowhere, expectation: "VISIBLE" } },
    "assertion.id",
  ],
  [
    "a selector that says nothing",
    { selectors: [{ selectorType: "TEXT" }] },
    "selectors[0].selector",
  ],
  ["a selector without type", { selectors: [{ selector: "x" }] }, "selectors[0].selectorType"],
  [
    "a selector's options in words",
    { selectors: [{ ...text(), options: "x" }] },
    "selectors[0].options",
  ],
  [
    "a scroll state's id",
    { selectors: [{ ...text(), scrollStateId: "s" }] },
    "selectors[0].scrollStateId",
  ],
  [
    "a selector of another element",
    { id: id(0x41), selectors: [{ ...text(), id: id(0x46) }] },
    "selectors[0].id",
  ],
  ["ignoreFailure in words", { ignoreFailure: "yes" }, "ignoreFailure"],
]).map((row) => ({
  ...row,
  body: { elements: [row.body ?? null] },
  field: `elements[0].${row.field ?? ""}`,
}));

function text() {
  return { selector: "x", selectorType: "TEXT" };
}

const updateElement = badBodies("PATCH", element, [
  ["an element's update without locator line", {}, "locatorLine"],
  ["an empty locator line", { locatorLine: "" }, "locatorLine"],
  ["an element's update with more", { locatorLine: "x", index: 1 }, "index"],
]);

const createDiscovery = badBodies("POST", `${target}/discoveries`, [
  ["a discovery without name", { prompt: "p" }, "name"],
  ["a discovery without prompt", { name: "n" }, "prompt"],
  ["a discovery with a null folder", { ...discovery, folderName: null }, "folderName"],
  ["a discovery of an unknown type", { ...discovery, type: "SIGNUP" }, "type"],
  ["a discovery with assigned tags", { ...discovery, assignedTagNames: [] }, "assignedTagNames"],
  [
    "a prerequisite name that does not exist",
    { ...discovery, prerequisiteName: "log out" },
    "prerequisiteName",
  ],
  [
    "a prerequisite that is deleted",
    { ...discovery, prerequisiteName: "gone" },
    "prerequisiteName",
  ],
  ["a prerequisite two cases bear", { ...discovery, prerequisiteName: "twin" }, "prerequisiteName"],
]);

const createBatch = badBodies("POST", `${target}/batch-generations`, [
  ["a batch's image that is no URL", { imageUrls: ["a.png"] }, "imageUrls[0]"],
  ["a batch's bad base URL", { baseUrl: "shop" }, "baseUrl"],
  ["a batch's prompt that is null", { prompt: null }, "prompt"],
  ["a batch's unknown environment", { environmentId: nowhere }, "environmentId"],
  ["a batch in another target's environment", { environmentId: id(0x12) }, "environmentId"],
  ["a batch's foreign prerequisite", { prerequisiteId: OTHER_CASE }, "prerequisiteId"],
  ["a batch's deleted prerequisite", { prerequisiteId: id(0x2d) }, "prerequisiteId"],
  ["a batch's context without source", { context: { ref: "main" } }, "context.source"],
  ["a batch's context in words", { context: "CI" }, "context"],
]);

/** The body of each row is the value of the query parameter. */
function badQueries(path: string, rows: readonly BadBody[]): Refused[] {
  return rows.map(([sentence, value, field]) => {
    const query = encodeURIComponent(typeof value === "string" ? value : JSON.stringify(value));
    const named = field === undefined ? {} : { field };
    return { sentence, method: "GET", path: `${path}=${query}`, status: 400, ...named };
  });
}

const filters = badQueries(`${target}/test-cases?filter`, [
  ["a filter that is not JSON", "x"],
  ["a filter that is no object", [], "filter"],
  ["a filter on an unknown field", { tags: "a" }, "filter.tags"],
  ["a filter with an operator", { description: { contains: "a" } }, "filter.description"],
  ["a filter for an unknown status", { status: "GONE" }, "filter.status"],
  ["a filter whose AND is no array", { AND: {} }, "filter.AND"],
  ["a filter wrong within", { OR: [{}, { runStatus: 1 }] }, "filter.OR[1].runStatus"],
]);

const cursors = badQueries(`${target}/test-reports?key`, [
  ["a report cursor that is not JSON", "x"],
  ["a report cursor without time", {}, "key.createdAt"],
  ["a report cursor without a real time", { createdAt: "yesterday" }, "key.createdAt"],
]);

const refusals = [
  ...unknownPaths,
  ...unknownResources,
  ...createTarget,
  ...updateTarget,
  ...createEnvironment,
  ...updateEnvironment,
  ...updateCase,
  ...updateOneElement,
  ...updateElement,
  ...createDiscovery,
  ...createBatch,
  ...filters,
  ...cursors,
];

const extraCases = [
  { id: CASE, testTargetId: TARGET, description: "log in", elements: seedElements() },
  { id: OTHER_CASE, testTargetId: OTHER_TARGET, description: "read" },
  { id: id(0x2d), testTargetId: TARGET, description: "gone", status: "DELETED" },
  { id: id(0x2e), testTargetId: TARGET, description: "twin" },
  { id: id(0x2f), testTargetId: TARGET, description: "twin" },
];

function seedElements(): Json {
  return at(seed(), "testCases", 0, "elements");
}

/** One server for all rows: each row also checks that a refused request changes nothing. */
describe("the service refuses", () => {
  let shared: Harness;
  beforeAll(async () => {
    const reports = [{ id: REPORT, testTargetId: TARGET }];
    shared = await startShared({ seed: seed({ testCases: extraCases, testReports: reports }) });
  });
  afterAll(() => stopShared(shared));

  test.each(refusals)("$sentence", async ({ method, path, body, status, field }) => {
    const before = await shared.control("GET", "/data");
    const answer = await shared.call(method, path, body);
    expect(answer.body).toEqual({
      statusCode: status,
      message: anyText,
      ...(field === undefined ? {} : { field }),
    });
    expect(answer.status).toBe(status);
    expect((await shared.control("GET", "/data")).body).toEqual(before.body);
  });
});

const methods = [
  ["DELETE", targets, "GET, POST"],
  ["PUT", target, "GET, PATCH"],
  ["GET", `${target}/environments`, "POST"],
  ["GET", environment, "PATCH"],
  ["POST", `${target}/test-cases`, "GET"],
  ["DELETE", testCase, "PATCH"],
  ["GET", element, "PATCH"],
  ["GET", `${target}/discoveries`, "POST"],
  ["GET", `${target}/batch-generations`, "POST"],
  ["POST", `${target}/test-reports`, "GET"],
  ["DELETE", `${target}/test-reports/${REPORT}`, "GET"],
  ["PATCH", `${target}/notifications`, "GET"],
] as const;

test.each(methods)("%s %s is refused with the allowed methods", async (method, path, allow) => {
  const { call } = await start({ seed: seed() });
  const answer = await call(method, path);
  expect(answer.status).toBe(405);
  expect(answer.headers.get("allow")).toBe(allow);
});

test("every operation checks the key before anything else", async () => {
  const { server } = await start({ seed: seed() });
  const status = async (path: string, headers: Record<string, string>) =>
    (await fetch(`${server.url}/apiKey/v3${path}`, { headers })).status;
  for (const path of [targets, `${targets}/${nowhere}`, "/nothing"]) {
    expect(await status(path, {})).toBe(401);
    expect(await status(path, { "x-api-key": `${KEY}x` })).toBe(403);
    expect(await status(path, { "x-api-key": "" })).toBe(403);
  }
  expect(await status(targets, { "X-API-KEY": KEY })).toBe(200);
});

test.each([
  "/apiKey/v2/test-targets",
  "/apiKey/v33/test-targets",
  "/v3/test-targets",
  "/apiKey/v3",
  "/apiKey",
  "/",
])("%s is not found, with or without a key", async (path) => {
  const { server } = await start({ seed: seed() });
  for (const headers of [{ "x-api-key": KEY }, {}])
    expect((await fetch(server.url + path, { headers })).status).toBe(404);
});

const unreadable = [
  ["no content type", undefined, "{}", 415],
  ["a content type that is not JSON", "text/plain", "{}", 415],
  ["a content type that only begins like JSON", "application/json5", "{}", 415],
  ["no body", "application/json", "", 400],
  ["half a body", "application/json", '{"app":', 400],
  [
    "a body that is not UTF-8",
    "application/json",
    new Uint8Array([...new TextEncoder().encode('{"app":"'), 0xff, 0x22, 0x7d]),
    400,
  ],
] as const;

test.each(unreadable)("a request with %s is refused", async (_, type, body, status) => {
  const { server } = await start({ seed: seed() });
  const headers = { "x-api-key": KEY, ...(type === undefined ? {} : { "content-type": type }) };
  const sent = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const answer = await fetch(`${server.url}/apiKey/v3${target}`, {
    method: "PATCH",
    headers,
    body: sent,
  });
  expect(answer.status).toBe(status);
});

test("a charset after the content type is accepted", async () => {
  const { call } = await start({ seed: seed() });
  const answer = await call(
    "PATCH",
    target,
    {},
    { "content-type": "Application/JSON; charset=utf-8" },
  );
  expect(answer.status).toBe(200);
});
