// The page of `tasc status`, in a real browser.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, expect, test } from "vitest";
import { statusView } from "../../src/inspect/status-view.ts";
import { type CaseStatus, type StageStatus, targetStatus } from "../../src/inspect/status.ts";
import type { CaseResult } from "../../src/plan/results.ts";
import { createRedactor } from "../../src/render/redact.ts";
import { PLAIN } from "../../src/render/style.ts";
import { show } from "../../src/render/view.ts";
import { NEEDS, NO_BROWSER, browserForFile } from "./browser.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const VIOLATIONS = `axe.run({ resultTypes: ["violations"] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + " " + nodes.map(({ target }) => target)))`;

const NO_COUNTS = targetStatus({
  matched: undefined,
  key: "shop",
  drift: { changes: [], removed: [], steps: [], orphaned: [], problems: [] },
  unmanaged: 0,
  now: 0,
  last: 20,
  resultsOf: () => [],
  placeOf: () => undefined,
  textOf: () => undefined,
}).counts;

function testCase(at: number): CaseStatus {
  const results = Array.from({ length: 20 }, (_, nth): CaseResult => ({
    testCaseId: `${at}`,
    status: (at * 7 + nth) % 13 === 0 ? "FAILED" : "PASSED",
    at: 1000 - nth,
    report: `r${nth}`,
    platform: "CHROMIUM DESKTOP",
    name: undefined,
    errorMessage: undefined,
    traceUrl: `https://traces.example.com/${"x".repeat(80)}/${at}/${nth}`,
  }));
  return {
    address: `testCase.shop.case-${at}`,
    name: `Case ${at} <b>&amp;`,
    folder: `Folder ${at % 20}`,
    runs: at % 11 === 0 ? "off" : "on",
    results,
    overdue: at % 97 === 0,
    withoutSteps: false,
    drifted: false,
    place: { file: "targets/shop.yaml", line: at, column: 3 },
    ...(at % 97 === 0 && {
      quarantine: { until: "2026-11-01", reason: "Race", ends: 0 },
    }),
  };
}

function pageOf(cases: number): string {
  const stages = ["dev", "staging", "production"].map((stage): StageStatus => ({
    stage,
    targets: [
      {
        target: "shop",
        counts: NO_COUNTS,
        testCases: Array.from({ length: cases }, (_, at) => testCase(at)),
      },
    ],
  }));
  const away: StageStatus = { stage: "away", error: "not read: KEY is not set", targets: [] };
  const empty: StageStatus = { stage: "empty", targets: [] };
  const view = statusView([...stages, empty, away], { createdAt: "2026-11-24T12:00:00Z", env: {} });
  return show(view, "html", { redactor: createRedactor(new Set()), style: PLAIN, width: 80 });
}

test("is at most 1.5 MB for 5,000 test cases in three stages, without the addresses of links", () => {
  const page = pageOf(5000).replaceAll(/href="[^"]*"/g, "");
  expect(Buffer.byteLength(page)).toBeLessThan(1_500_000);
});

test("a stage without a declared target has a row of counts", () => {
  expect(pageOf(1)).toMatch(/<th scope="row">empty<td colspan="11">no target is declared here/);
});

test("says which stages were not read where nothing needs attention", () => {
  expect(pageOf(0)).toContain("Nothing needs attention, apart from what was not read: away.");
});

describe.skipIf(NO_BROWSER)("in Chromium", NEEDS, () => {
  const open = browserForFile();

  test("axe finds no violations, in light and wide and in dark and narrow", async () => {
    const { page, requests, complaints } = await open(pageOf(30));
    await page.evaluate(AXE);
    for (const { colorScheme, width } of [
      { colorScheme: "light", width: 1280 },
      { colorScheme: "dark", width: 400 },
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate(VIOLATIONS), colorScheme).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    }
    expect({ requests, complaints }).toEqual({ requests: [], complaints: [] });
  });

  test("searches and filters by keyboard, and shows everything without JavaScript", async () => {
    const { page } = await open(pageOf(30));
    await page.keyboard.press("/");
    await page.keyboard.type("case-12");
    expect(await page.innerText("#status")).toBe("1 of 30 test cases");
    await page.fill("[name=q]", "");
    await page.selectOption("[name=only]", "off");
    expect(await page.innerText("#status")).toBe("3 of 30 test cases");
    const still = (await open(pageOf(30), { javaScriptEnabled: false })).page;
    expect(await still.locator(".suite tbody tr:not(.g)").count()).toBe(30);
    expect(await still.locator("#filter").isVisible()).toBe(false);
    expect(await still.innerText(".suite tbody tr:not(.g)")).toContain("trace");
  });
});
