import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { BIG } from "../render/big.ts";
import { HOSTILE, HOSTILE_TEXTS, PLAN, REFUSED } from "../render/sample.ts";
import { scene } from "../look/scene.ts";
import { browserForFile, NEEDS, NO_BROWSER } from "./browser.ts";

describe.skipIf(NO_BROWSER)("the plan's page in Chromium", NEEDS, () => {
  const open = browserForFile();

  test("sends no requests, and its script runs without errors", async () => {
    const { page, requests, complaints } = await open(REFUSED);
    await page.click("#expand");
    expect({ requests, complaints }).toEqual({ requests: [], complaints: [] });
  });

  test("is the output of `tasc plan` and of `tasc show`", () =>
    scene(async (stage) => {
      const planned = await stage.run(["plan", "--format", "html", "--out", "plan.json"]);
      const saved = await stage.run(["show", "plan.json", "--format", "html"]);
      expect([planned.code, saved.code]).toEqual([0, 0]);
      for (const { stdout } of [planned, saved]) {
        const { page, requests, complaints } = await open(stdout, {
          hash: "#environment.shop.default",
        });
        const inside = page.locator("[id='environment.shop.default'] .inside");
        await inside.locator("p").waitFor();
        expect(await inside.locator("p").innerText()).toMatch(
          /^[0-9a-f-]{36} +· +targets\/shop\.yaml:\d+:\d+$/,
        );
        expect({ requests, complaints }).toEqual({ requests: [], complaints: [] });
      }
    }));

  test("shows first whether the plan can be applied and which changes need attention", async () => {
    const { page } = await open(REFUSED);
    expect(await page.innerText("h1")).toBe("Blocked by errors");
    expect(await page.locator(".totals li").allInnerTexts()).toEqual([
      "1 to disable",
      "1 to rediscover",
      "5 to create",
      "8 to update",
      "95 unchanged",
      "1 orphaned",
      "3 unmanaged",
      "4 POST",
      "12 PATCH",
      "up to 2 more calls after discoveries",
    ]);
    const top = await page.innerText(".verdict");
    expect(top).toMatch(/^Blocked by errors\s+Error: Two live test cases fit/);
    expect(top).toMatch(/Danger\s+1 test case stops running/);
    expect(await page.innerText("time")).toMatch(/2026.* \S+$/);
  });

  test("collapses each target under its totals, which match the filters", async () => {
    const { page } = await open(PLAN);
    expect(await page.locator(".target[open]").count()).toBe(0);
    expect(await page.locator(".target").nth(1).locator(".small span").allInnerTexts()).toEqual([
      "1 to disable",
      "1 to rediscover",
      "3 to create",
      "8 to update",
    ]);
    expect(await page.locator("#filter fieldset label").allInnerTexts()).toEqual([
      "- disable (1)",
      "↻ rediscover (1)",
      "+ create (5)",
      "~ update (8)",
    ]);
  });

  test("filters by action, kind, target and text, and is collapsed again after a reset", async () => {
    const { page } = await open(PLAN);
    for (const { filter, expected } of FILTERS) {
      await filter(page);
      await saysAmount(page, `${expected.length} of 15 changes`);
      expect(await addresses(page)).toEqual(expected);
      await page.click("button[type=reset]");
      await saysAmount(page, "15 changes");
      expect(await page.locator(".target[open]").count()).toBe(0);
    }
  });

  test("can be navigated by keyboard", async () => {
    const { page } = await open(PLAN);
    for (const key of ["j", "o", "j", "j", "k", "o"]) await page.keyboard.press(key);
    expect(await page.locator(".change[open]").getAttribute("id")).toBe("environment.blog.default");
    for (const key of ["k", "o"]) await page.keyboard.press(key);
    expect(await page.locator(".target[open]").count()).toBe(0);
    await page.click("#expand");
    await page.locator(".change[open]").nth(14).waitFor();
    await page.click("#collapse");
    expect(await page.locator(".target[open], .change[open]").count()).toBe(0);
  });

  test("shows a changed prompt word by word, and the calls", async () => {
    const { page } = await open(PLAN, { hash: "#testCase.shop.checkout" });
    const row = page.locator("[id='testCase.shop.checkout']");
    const prompt = row.locator("td p");
    expect(await prompt.locator("del").allInnerTexts()).toEqual(["Do not pay"]);
    expect((await prompt.locator("ins").allInnerTexts()).map((text) => text.trim())).toEqual([
      "exactly",
      "Pay with the test card",
      "Check that the order number is shown.",
    ]);
    expect(await row.locator("h4").allInnerTexts()).toEqual([
      "Calls",
      "Set after the service has written the steps, if they differ by then",
    ]);
    const call = row.locator(".call").first();
    expect(await call.locator("pre").isVisible()).toBe(false);
    await call.locator("summary").click();
    expect(await call.locator("pre").innerText()).toContain(
      '"createBackendDiscoveryPrompt": "Open the start page.',
    );
  });

  test("links from diagnostics and the graph to the row", async () => {
    const { page } = await open(REFUSED);
    await page.click(".diagnostic.error a[href='#testCase.shop.wishlist']");
    const problem = page.locator("[id='testCase.shop.wishlist'][open]");
    expect(await problem.innerText()).toContain("Two live test cases fit");
    await page.check("input[name='action'][value='problem']");
    await page.getByText(`0 of ${REFUSED.changes.length} changes`).waitFor();
    expect(await page.locator(".change:visible").count()).toBe(1);
    await page.click("button[type=reset]");
    await page.click(".diagnostic.warning a[href='#testCase.shop.login']");
    await page.locator("[id='testCase.shop.login'][open]").waitFor();
    expect(await page.locator("svg a").count()).toBe(6);
    await page.click("svg a[href='#target.blog']");
    await page.locator("[id='target.blog'][open]").waitFor();
  });

  test("does not run code in hostile names, but shows it as text", async () => {
    const { page, requests, complaints, dialogs } = await open(HOSTILE, {
      hash: "#%zz<img src=x>",
    });
    await page.click("#expand");
    await page.locator(".change[open]").nth(14).waitFor();
    const text = await page.locator("#changes").textContent();
    for (const hostile of [3, 9, 10]) expect(text).toContain(HOSTILE_TEXTS[hostile]);
    expect(await page.locator("img, iframe, object, script:not([id]) ~ script").count()).toBe(0);
    expect(await page.locator("a[href]:not([href^='#'])").count()).toBe(0);
    expect({ requests, complaints, dialogs }).toEqual({
      requests: [],
      complaints: [],
      dialogs: [],
    });
  });

  test("can be read completely without JavaScript", async () => {
    const { page } = await open(PLAN, { javaScriptEnabled: false });
    expect(await page.isVisible("#filter")).toBe(false);
    await page.locator(".target > summary").nth(1).click();
    await page.locator("[id='testCase.shop.gone'] > summary").click();
    expect(await page.locator("[id='testCase.shop.gone'] .inside").innerText()).toMatch(
      /ENABLED\s*→\s*DISABLED/,
    );
  });

  test("has a toolbar of three rows on a phone", async () => {
    const { page } = await open(BIG, { viewport: { width: 400, height: 800 } });
    expect((await page.locator("#filter").boundingBox())?.height).toBeLessThan(170);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(400);
  });

  test("finds one of 5000 changes, and opens the address in a link", async () => {
    const { page } = await open(BIG, { hash: "#testCase.shop.case-4321" });
    await page.locator("[id='testCase.shop.case-4321'][open]").waitFor();
    await page.fill("#search", "case-3217");
    await saysAmount(page, "1 of 5000 changes");
    expect(await addresses(page)).toEqual(["testCase.shop.case-3217"]);
    await page.fill("#search", "");
    await saysAmount(page, "5000 changes");
  });
});

const FILTERS: readonly {
  readonly filter: (page: Page) => Promise<unknown>;
  readonly expected: readonly string[];
}[] = [
  { filter: (page) => page.check("input[value=rediscover]"), expected: ["testCase.shop.checkout"] },
  {
    filter: (page) => page.selectOption("select[name=kind]", "environment"),
    expected: ["environment.blog.default", "environment.shop.preview"],
  },
  {
    filter: (page) => page.selectOption("select[name=target]", "blog"),
    expected: ["environment.blog.default", "target.blog"],
  },
  {
    filter: async (page) => {
      await page.keyboard.press("/");
      await page.keyboard.type("order number");
    },
    expected: ["testCase.shop.checkout"],
  },
  { filter: (page) => page.fill("#search", "nowhere"), expected: [] },
];

async function saysAmount(page: Page, text: string): Promise<void> {
  await page.locator("#status").getByText(text, { exact: true }).waitFor();
}

function addresses(page: Page): Promise<readonly string[]> {
  return page.evaluate<string[]>(
    "[...document.querySelectorAll('.change:not([hidden])')].map((row) => row.id)",
  );
}
