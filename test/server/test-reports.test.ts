import { describe, expect, test } from "vitest";
import type { Json } from "../../src/model/json.ts";
import { derivedStatus } from "../../src/server/resources.ts";
import {
  CASE,
  type Harness,
  OTHER_CASE,
  TARGET,
  anyText,
  at,
  id,
  listAt,
  seed,
  start,
  testCase,
  textAt,
} from "./harness.ts";

const reports = `/test-targets/${TARGET}/test-reports`;
const SECOND = id(0x23);

const twoCases = seed({
  testCases: [testCase(), testCase({ id: SECOND, description: "buy", elements: [] })],
});

const derivations: [results: string[], status: string][] = [
  [["WAITING"], "WAITING"],
  [["PASSED"], "PASSED"],
  [["FAILED"], "FAILED"],
  [["PASSED", "PASSED"], "PASSED"],
  [["PASSED", "FAILED"], "FAILED"],
  [["FAILED", "FAILED"], "FAILED"],
  [["FAILED", "WAITING"], "WAITING"],
  [["PASSED", "WAITING"], "WAITING"],
  [["PASSED", "SKIPPED"], "WAITING"],
  [["FAILED", "SKIPPED"], "FAILED"],
];

test.each(derivations)("a report with the results %j has the status %s", (results, status) => {
  expect(derivedStatus(results.map((each) => ({ status: each })))).toBe(status);
});

async function begin(control: Harness["control"], more: Record<string, Json> = {}): Promise<Json> {
  const answer = await control("POST", "/reports", { testTargetId: TARGET, ...more });
  expect(answer.status).toBe(201);
  return answer.body;
}

describe("a report", () => {
  test("is WAITING until all test cases have results, and derives its status from them", async () => {
    const { call, control } = await start({ seed: twoCases });
    const begun = await begin(control);
    const path = `${reports}/${textAt(begun, "id")}`;
    expect(begun).toEqual({
      id: anyText,
      testTargetId: TARGET,
      createdAt: anyText,
      updatedAt: anyText,
      executionUrl: "https://shop.example.com/",
      status: "WAITING",
      context: { source: "WEB_APP", triggeredBy: { type: "USER", userId: "local" } },
      breakpoint: "DESKTOP",
      browser: "CHROMIUM",
      testResults: [waitingResult(begun, CASE, "log in"), waitingResult(begun, SECOND, "buy")],
    });
    expect(await call("GET", path)).toMatchObject({ status: 200, body: begun });

    const results = `/reports/${textAt(begun, "id")}/results`;
    const half = await control("POST", results, {
      results: { [CASE]: "FAILED" },
      errorMessage: "no button",
    });
    expect(half.body).toMatchObject({
      status: "WAITING",
      testResults: [{ status: "FAILED" }, { status: "WAITING" }],
    });
    expect((await call("GET", `/test-targets/${TARGET}/notifications`)).body).toEqual([]);

    await control("POST", results, { results: { [SECOND]: "PASSED" } });
    expect((await call("GET", path)).body).toMatchObject({
      status: "FAILED",
      testResults: [
        { status: "FAILED", errorMessage: "no button", traceUrl: anyText },
        { status: "PASSED", errorMessage: null, traceUrl: anyText },
      ],
    });
    expect((await call("GET", `/test-targets/${TARGET}/notifications`)).body).toMatchObject([
      {
        type: "REPORT_EXECUTION_FINISHED",
        payload: { testReportId: textAt(begun, "id"), status: "FAILED" },
      },
    ]);
  });

  test("runs the given test cases with the given breakpoint and browser", async () => {
    const { control } = await start({ seed: twoCases });
    const begun = await begin(control, {
      testCaseIds: [SECOND],
      breakpoint: "MOBILE",
      browser: "SAFARI",
    });
    expect(begun).toMatchObject({
      breakpoint: "MOBILE",
      browser: "SAFARI",
      testResults: [{ testCaseId: SECOND }],
    });
    expect(listAt(begun, "testResults")).toHaveLength(1);
  });

  test("wraps each result in an object shaped like a report when it is listed", async () => {
    const { call, control } = await start({ seed: twoCases });
    const begun = await begin(control);
    await control("POST", `/reports/${textAt(begun, "id")}/results`, {
      results: { [CASE]: "PASSED" },
    });
    const single = (await call("GET", `${reports}/${textAt(begun, "id")}`)).body;
    const listed = (await call("GET", reports)).body;
    const head = Object.fromEntries(
      Object.entries(single ?? {}).filter(([name]) => name !== "testResults"),
    );
    const [passed, waiting] = listAt(single, "testResults");
    expect(listed).toEqual({
      data: [
        {
          ...head,
          testResults: [
            { ...head, ...own(passed), status: "PASSED", testResults: [passed] },
            { ...head, ...own(waiting), status: "WAITING", testResults: [waiting] },
          ],
        },
      ],
      key: { createdAt: textAt(single, "createdAt") },
      hasNextPage: false,
    });
  });

  const refusals: [string, string, Json, number][] = [
    ["of an unknown target", "/reports", { testTargetId: id(0xdead) }, 404],
    [
      "of another target's case",
      "/reports",
      { testTargetId: TARGET, testCaseIds: [OTHER_CASE] },
      400,
    ],
    ["of nothing", "/reports", { testTargetId: TARGET, testCaseIds: [] }, 400],
    ["at no breakpoint", "/reports", { testTargetId: TARGET, breakpoint: "WATCH" }, 400],
    ["that is not there", `/reports/${id(0xdead)}/results`, { results: {} }, 404],
    ["without the case", `/reports/${id(0x31)}/results`, { results: { [CASE]: "PASSED" } }, 400],
  ];

  test.each(refusals)("%s is refused", async (_, path, body, status) => {
    const testReports = [
      { id: id(0x31), testTargetId: TARGET, testResults: [{ testCaseId: SECOND }] },
    ];
    const { control } = await start({ seed: seed({ testReports }) });
    expect((await control("POST", path, body)).status).toBe(status);
  });
});

function waitingResult(report: Json, testCaseId: string, name: string): unknown {
  return {
    id: anyText,
    testCaseId,
    testTargetId: TARGET,
    testReportId: textAt(report, "id"),
    name,
    createdAt: anyText,
    updatedAt: anyText,
    status: "WAITING",
    errorMessage: null,
    traceUrl: null,
  };
}

/** The fields that a listed result takes from the result inside it. */
function own(result: Json | undefined): Record<string, Json> {
  const names = ["id", "createdAt", "updatedAt"];
  return Object.fromEntries(names.map((name) => [name, at(result ?? null, name)]));
}

function reportsAt(count: number, minute: (number: number) => number): Json {
  return Array.from({ length: count }, (_, number) => ({
    id: id(0x100 + number),
    testTargetId: TARGET,
    createdAt: new Date(Date.UTC(2029, 0, 1, 0, minute(number))).toISOString(),
  }));
}

async function pages(call: Harness["call"]): Promise<string[][]> {
  const found: string[][] = [];
  let query = "";
  for (;;) {
    const { status, body } = await call("GET", reports + query);
    expect(status).toBe(200);
    found.push(listAt(body, "data").map((report) => textAt(report, "id")));
    if (at(body, "hasNextPage") === false) return found;
    query = `?key=${encodeURIComponent(JSON.stringify(at(body, "key")))}`;
  }
}

describe("the list of reports", () => {
  test("is one page without a key if there are no reports", async () => {
    const { call } = await start({ seed: seed() });
    expect(await call("GET", reports)).toMatchObject({
      status: 200,
      body: { data: [], hasNextPage: false },
    });
  });

  test("has pages, newest reports first, with each report exactly once", async () => {
    const { call } = await start({
      seed: seed({ testReports: reportsAt(45, (number) => number) }),
    });
    const found = await pages(call);
    expect(found.map((page) => page.length)).toEqual([20, 20, 5]);
    expect(found.flat()).toEqual(
      Array.from({ length: 45 }, (_, number) => id(0x100 + 44 - number)),
    );
  });

  test("ends after a full page if there are no more reports", async () => {
    const { call } = await start({
      seed: seed({ testReports: reportsAt(40, (number) => number) }),
    });
    expect((await pages(call)).map((page) => page.length)).toEqual([20, 20]);
  });

  test("keeps reports of the same time on one page, as its cursor is a time", async () => {
    const testReports = reportsAt(6, (number) => Math.floor(number / 3));
    const { call } = await start({ seed: seed({ testReports }), settings: { pageSize: 2 } });
    expect((await pages(call)).map((page) => page.length)).toEqual([3, 3]);
  });

  test("takes its cursor from the parameter that the settings name", async () => {
    const testReports = reportsAt(2, (number) => number);
    const { call, control } = await start({ seed: seed({ testReports }) });
    await control("PUT", "/settings", { pageSize: 1, pageParameter: "createdAt" });
    const older = await call("GET", `${reports}?createdAt=2029-01-01T00:01:00.000Z`);
    expect(at(older.body, "data", 0, "id")).toBe(id(0x100));
    await control("PUT", "/settings", { pageSize: 1, pageParameter: "none" });
    const first = await call("GET", `${reports}?key=x&createdAt=y`);
    expect(at(first.body, "data", 0, "id")).toBe(id(0x101));
  });
});
