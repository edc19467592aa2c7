import { describe, expect, test } from "vitest";
import type { Json } from "../../src/model/json.ts";
import { readReport, readReportPage } from "../../src/service/answers.ts";
import { clientOf, failureOf, readingOf } from "./support/client.ts";
import { httpServer, json, reply } from "./support/server.ts";

const REPORT = {
  id: "r1",
  testTargetId: "t1",
  createdAt: "2024-01-01T00:00:00Z",
  updatedAt: "2024-01-01T00:00:00Z",
  executionUrl: "https://shop.example",
  status: "PASSED",
  context: { source: "manual", issueNumber: 7 },
  breakpoint: "DESKTOP",
  browser: "CHROMIUM",
};

const RESULT = {
  id: "x1",
  testCaseId: "c1",
  name: "Log in",
  createdAt: "2024-01-01T00:00:00Z",
  updatedAt: "2024-01-01T00:00:00Z",
  status: "FAILED",
  errorMessage: "no button",
  traceUrl: "https://trace.example",
};

describe("a report", () => {
  test("is read with all fields", () => {
    const report = {
      ...REPORT,
      testResults: [{ ...RESULT, testTargetId: "t1", testReportId: "r1" }],
      more: 1,
    };
    expect(readingOf(() => readReport(report))).toEqual({
      ok: true,
      value: { ...REPORT, results: [RESULT] },
    });
  });

  test("is read with only the required fields", () => {
    expect(readingOf(() => readReport({ id: "r1" }))).toEqual({
      ok: true,
      value: { id: "r1", results: [] },
    });
  });

  test("is read if its results are wrapped in report-shaped entries, as in the list's sample", () => {
    const wrapped = {
      ...REPORT,
      testResults: [{ ...REPORT, testResults: [RESULT, { ...RESULT, id: "x2" }] }],
    };
    expect(readingOf(() => readReport(wrapped))).toEqual({
      ok: true,
      value: { ...REPORT, results: [RESULT, { ...RESULT, id: "x2" }] },
    });
  });

  test("treats an entry as a result if it names a test case or has no results of its own", () => {
    const both = { ...RESULT, testResults: [] };
    expect(
      readingOf(() => readReport({ id: "r1", testResults: [both, { status: "WAITING" }] })),
    ).toMatchObject({
      value: { results: [RESULT, { status: "WAITING" }] },
    });
  });

  test.each<[Json, (string | number)[]]>([
    [{}, ["id"]],
    [{ id: "r1", status: 7 }, ["status"]],
    [{ id: "r1", context: "x" }, ["context"]],
    [{ id: "r1", testResults: [{ status: 7 }] }, ["testResults", 0, "status"]],
    [{ id: "r1", testResults: [{ testResults: [7] }] }, ["testResults", 0, "testResults", 0]],
  ])("%j is rejected", (report, at) => {
    expect(readingOf(() => readReport(report))).toMatchObject({ ok: false, failure: { at } });
  });
});

describe("a page", () => {
  test.each<[Json, Json | undefined, boolean]>([
    [{ data: [], key: { createdAt: "2024" }, hasNextPage: true }, { createdAt: "2024" }, true],
    [{ data: [], key: { createdAt: "2024" }, hasNextPage: false }, { createdAt: "2024" }, false],
    [{ data: [], key: "abc" }, "abc", true],
    [{ data: [], key: null }, undefined, false],
    [{ data: [] }, undefined, false],
  ])("is read: %j", (page, key, hasNextPage) => {
    expect(readingOf(() => readReportPage(page))).toEqual({
      ok: true,
      value: { reports: [], key, hasNextPage },
    });
  });

  test.each<[Json, (string | number)[]]>([
    [[], []],
    [{}, ["data"]],
    [{ data: [{}] }, ["data", 0, "id"]],
    [{ data: [], hasNextPage: "no" }, ["hasNextPage"]],
  ])("is rejected: %j", (page, at) => {
    expect(readingOf(() => readReportPage(page))).toMatchObject({ ok: false, failure: { at } });
  });
});

/** Serves the pages one after the other, whatever the request. */
async function read(
  ...pages: Json[]
): Promise<{ ids: string[][]; ends: string[]; urls: string[] }> {
  const server = await httpServer((response, _received, nth) =>
    json(response, pages[nth - 1] ?? pages.at(-1)),
  );
  const { client } = clientOf(server.url);
  const ids: string[][] = [];
  const ends: string[] = [];
  for await (const page of client.allReports("t1")) {
    ids.push(page.reports.map(({ id }) => id));
    ends.push(page.next);
  }
  return { ids, ends, urls: server.received.map(({ url }) => url) };
}

describe("all reports", () => {
  test("are requested with the key of the previous page", async () => {
    const key = { createdAt: "2024-01-01T00:00:00+02:00", more: "&=?" };
    const { ids, ends, urls } = await read(
      { data: [{ id: "r1" }, { id: "r2" }], key, hasNextPage: true },
      { data: [{ id: "r3" }], key: null, hasNextPage: false },
    );
    expect(ids).toEqual([["r1", "r2"], ["r3"]]);
    expect(ends).toEqual(["more", "end"]);
    const path = "/apiKey/v3/test-targets/t1/test-reports";
    expect(urls).toEqual([path, `${path}?key=${encodeURIComponent(JSON.stringify(key))}`]);
  });

  test("are returned only once if pages overlap", async () => {
    const { ids } = await read(
      { data: [{ id: "r1" }, { id: "r2" }], key: "a", hasNextPage: true },
      { data: [{ id: "r2" }, { id: "r3" }], key: "b", hasNextPage: false },
    );
    expect(ids).toEqual([["r1", "r2"], ["r3"]]);
  });

  test("end if the service repeats the same page forever", async () => {
    const { ids, ends } = await read({ data: [{ id: "r1" }], key: "a", hasNextPage: true });
    expect(ids).toEqual([["r1"], []]);
    expect(ends).toEqual(["more", "nothing-new"]);
  });

  test.each([
    ["key[createdAt]", 4],
    ["createdAt", 5],
    ["nothing", 4],
  ])("are found if the service reads the cursor as %s", async (parameter, requests) => {
    const key = { createdAt: "2024" };
    const server = await httpServer((response, { url }) => {
      const query = new URL(url, "http://x").searchParams;
      const at = query.get(parameter);
      if (query.has("createdAt") && parameter === "nothing") return reply(response, 400);
      const id = at === null ? "r1" : at === "2024" ? "r2" : "r3";
      return json(response, {
        data: [{ id }],
        key: id === "r1" ? key : { createdAt: "2023" },
        hasNextPage: id !== "r3",
      });
    });
    const pages: string[][] = [];
    const ends: string[] = [];
    for await (const { reports, next } of clientOf(server.url).client.allReports("t1")) {
      pages.push(reports.map(({ id }) => id));
      ends.push(next);
    }
    const isRead = parameter !== "nothing";
    expect(pages).toEqual(isRead ? [["r1"], ["r2"], ["r3"]] : [["r1"], []]);
    expect(ends.at(-1)).toBe(isRead ? "end" : "nothing-new");
    expect(server.received).toHaveLength(requests);
  });

  test("end after 1,000 pages if the service never ends", async () => {
    const server = await httpServer((response, _received, nth) =>
      json(response, { data: [{ id: `r${nth}` }], key: nth, hasNextPage: true }),
    );
    const { client } = clientOf(server.url);
    const ends: string[] = [];
    for await (const page of client.allReports("t1")) ends.push(page.next);
    expect(ends).toHaveLength(1000);
    expect(ends.at(-1)).toBe("too-many");
  });

  test("end if there are more pages but no key for them", async () => {
    expect((await read({ data: [{ id: "r1" }], hasNextPage: true })).ends).toEqual(["no-key"]);
  });

  test("end with a failure if a page fails", async () => {
    const server = await httpServer((response, _received, nth) =>
      nth === 1
        ? json(response, { data: [{ id: "r1" }], key: "a", hasNextPage: true })
        : reply(response, 404),
    );
    const { client } = clientOf(server.url);
    const pages = client.allReports("t1");
    await expect(pages.next()).resolves.toMatchObject({ value: { next: "more" } });
    expect(await failureOf(pages.next())).toMatchObject({ status: 404 });
  });
});

test("one report and the notifications are read", async () => {
  const server = await httpServer((response, { url }) =>
    json(response, url.endsWith("notifications") ? [] : REPORT),
  );
  const { client } = clientOf(server.url);
  expect(await client.getReport("t1", "r1")).toEqual({ ...REPORT, results: [] });
  expect(await client.listNotifications("t1")).toEqual([]);
  expect(await failureOf(client.listTargets())).toMatchObject({ kind: "misshapen" });
  expect(server.received.map(({ url }) => url).slice(0, 2)).toEqual([
    "/apiKey/v3/test-targets/t1/test-reports/r1",
    "/apiKey/v3/test-targets/t1/notifications",
  ]);
});
