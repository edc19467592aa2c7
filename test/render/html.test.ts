import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { renderPlanHtml } from "../../src/render/html/page.ts";
import { BIG } from "./big.ts";
import { openPage } from "./page-dom.ts";
import { HOSTILE, HOSTILE_TEXTS, PLAN, REFUSED, shown } from "./sample.ts";

function page(plan: typeof PLAN): string {
  const { json, extras } = shown(plan);
  return renderPlanHtml(json, extras);
}

function digest(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

test("the policy lets run what stands in the page and nothing else", () => {
  const html = page(HOSTILE);
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1];
  const script = /<script>(.*?)<\/script>/s.exec(html)?.[1] ?? "";
  const style = /<style>(.*?)<\/style>/s.exec(html)?.[1] ?? "";
  expect(policy).toBe(
    `default-src 'none'; script-src ${digest(script)}; style-src ${digest(style)}; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'`,
  );
});

test("nothing is loaded from anywhere", () => {
  const shell = page(PLAN).replace(/<script type="application\/json".*?<\/script>/s, "");
  expect(shell).not.toMatch(
    /\b(src|srcset|action|formaction|poster|background)=|url\(|@import|import\(|fetch\(|<link|<iframe/,
  );
  for (const [, target] of shell.matchAll(/href="([^"]*)"/g)) expect(target).toMatch(/^#/);
});

describe("the changes", () => {
  test("stand under their targets", () => {
    const { byId, rows } = openPage(page(PLAN));
    expect(byId("status").textContent).toBe("15 changes");
    expect(rows()).toHaveLength(15);
    expect(
      byId("changes")
        .all()
        .filter(({ tag }) => tag === "h3")
        .map((title) => title.textContent),
    ).toEqual(["blog2", "shop13"]);
    expect(byId("more").hidden).toBe(true);
  });

  test.each([
    ["by action", { action: ["rediscover", "disable"] }, ["testCase.shop.checkout", "testCase.shop.gone"]],
    ["by kind", { kind: ["environment"] }, ["environment.blog.default", "environment.shop.preview"]],
    ["by target", { target: ["blog"] }, ["environment.blog.default", "target.blog"]],
    ["by words, all of them", { search: ["CHECKOUT  enabled"] }, ["testCase.shop.checkout"]],
    ["by what a prompt says", { search: ["order number"] }, ["testCase.shop.checkout"]],
    ["by everything at once", { search: ["web"], action: ["update"], kind: ["target"] }, ["target.shop"]],
    ["by what is nowhere", { search: ["nowhere"] }, []],
  ])("are filtered %s", (_, values, expected) => {
    const { filter, rows, byId } = openPage(page(PLAN));
    filter(values);
    expect(rows().map((row) => row.attributes.get("id"))).toEqual(expected);
    expect(byId("status").textContent).toBe(`${expected.length} of 15 changes`);
  });

  test("show their inside only once they are unfolded", () => {
    const { byId } = openPage(page(REFUSED));
    const row = byId("testCase.shop.checkout");
    expect(row.textContent).not.toContain("PATCH");
    row.open = true;
    const marks = row.all().filter(({ tag }) => tag === "ins" || tag === "del");
    expect(marks.map(({ tag, textContent }) => `${tag} ${textContent}`)).toContain("ins exactly ");
    expect(row.textContent).toContain(
      "PATCH /apiKey/v3/test-targets/11111111-1111-4111-8111-111111111111/test-cases",
    );
    row.open = true;
    expect(row.childElementCount).toBe(2);
  });

  test("five thousand are drawn as they are looked at, and found at once by an address in the link", () => {
    const html = page(BIG);
    const { rows, byId } = openPage(html);
    expect(rows()).toHaveLength(100);
    byId("more").tell("click");
    expect(rows()).toHaveLength(200);
    expect(byId("more").textContent).toBe("Show more (4800 left)");
    expect(openPage(html, "#testCase.shop.case-4321").byId("testCase.shop.case-4321").open).toBe(true);
    expect(html.length).toBeLessThan(3_000_000);
  });

  test("say what hostile names say, as text", () => {
    const { rows, byId } = openPage(page(HOSTILE));
    for (const row of rows()) row.open = true;
    const text = byId("changes").textContent;
    expect(text).toContain(HOSTILE_TEXTS[3]);
    expect(text).toContain(HOSTILE_TEXTS[10]);
  });
});
