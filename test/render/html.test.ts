import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { Plan } from "../../src/model/plan.ts";
import { BIG } from "./big.ts";
import { EMPTY, HOSTILE, PLAN, REFUSED, pageOf, shown } from "./sample.ts";

function page(plan: Plan): string {
  return pageOf(shown(plan).view);
}

function digest(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

test("the content security policy allows only the script and style in the page", () => {
  const html = page(HOSTILE);
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1];
  const script = /<script>(.*?)<\/script>/s.exec(html)?.[1] ?? "";
  const style = /<style>(.*?)<\/style>/s.exec(html)?.[1] ?? "";
  expect(policy).toBe(
    `default-src 'none'; script-src ${digest(script)}; style-src ${digest(style)}; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'`,
  );
});

test("the page loads nothing from elsewhere", () => {
  const html = page(PLAN);
  expect(html).not.toMatch(
    /<[^>]*\s(src|srcset|action|formaction|poster|background)=|url\(|@import|import\(|fetch\(|<link|<iframe/,
  );
  for (const [, target] of html.matchAll(/href="([^"]*)"/g)) expect(target).toMatch(/^#/);
});

test.each([
  ["refused", REFUSED, "Blocked by errors"],
  ["refused by policy", withCode("policy-protected"), "Blocked by policy"],
  ["with a disable", PLAN, "Needs attention"],
  [
    "of updates alone",
    { ...PLAN, changes: PLAN.changes.slice(0, 2), attention: [], diagnostics: [] },
    "Nothing here needs attention",
  ],
  ["empty", EMPTY, "No changes"],
])("the heading states the verdict on a plan %s", (_, plan, verdict) => {
  expect(/<h1[^>]*>(.*?)<\/h1>/.exec(page(plan))?.[1]).toBe(verdict);
});

function withCode(code: string): Plan {
  return {
    ...REFUSED,
    diagnostics: REFUSED.diagnostics.map((diagnostic) => ({ ...diagnostic, code })),
  };
}

test("a page with 5000 changes contains all of them and is smaller than 5 MB", () => {
  const html = page(BIG);
  expect(html.match(/<details class="change /g)).toHaveLength(5000);
  expect(html.length).toBeLessThan(5_000_000);
});

test("a page of more than 1000 changes leaves out their calls, and says so", () => {
  const calls = (amount: number): number =>
    page({ ...BIG, changes: BIG.changes.slice(0, amount) }).match(/class="call"/g)?.length ?? 0;
  expect([calls(1000), calls(1001)]).toEqual([1000, 0]);
  const isTold = (amount: number): boolean =>
    page({ ...BIG, changes: BIG.changes.slice(0, amount) }).includes("--format json");
  expect([isTold(1000), isTold(1001)]).toEqual([false, true]);
});

test.each([
  [15, 20],
  [2, 1],
])("a prompt in which 1 of %i words changed is marked in %i places", (nth, places) => {
  const words = (prefix: string) =>
    Array.from({ length: 300 }, (_, at) => `${at % nth === 0 ? prefix : ""}${at}`).join(" ");
  const fields = [{ path: ["discovery", "prompt"], before: words("old"), after: words("new") }];
  const html = page({
    ...BIG,
    changes: BIG.changes.slice(0, 1).map((change) => ({ ...change, fields })),
  });
  expect(html.match(/<ins>/gu)).toHaveLength(places);
  expect(html.match(/<del>/gu)).toHaveLength(places);
});
