import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { BIG } from "../render/big.ts";
import { HOSTILE, HOSTILE_TEXTS, PLAN, REFUSED } from "../render/sample.ts";
import { scene } from "../look/scene.ts";
import { browserForFile, NO_BROWSER } from "./browser.ts";

describe.skipIf(NO_BROWSER)("the plan's page in Chromium", () => {
  const open = browserForFile();

  test("asks nothing of any network, and its script runs without complaint", async () => {
    const { page, requests, complaints } = await open(REFUSED);
    await page.click("#unfold");
    expect({ requests, complaints }).toEqual({ requests: [], complaints: [] });
  });

  test("is what the command writes, of a plan at hand and of a saved one", () =>
    scene(async (stage) => {
      const planned = await stage.run(["plan", "--format", "html", "--out", "plan.json"]);
      const saved = await stage.run(["show", "plan.json", "--format", "html"]);
      expect([planned.code, saved.code]).toEqual([0, 0]);
      for (const { stdout } of [planned, saved]) {
        const { page, requests, complaints } = await open(stdout, { hash: "#environment.shop.default" });
        const inside = page.locator("[id='environment.shop.default'] .inside");
        expect(await inside.locator("p").innerText()).toMatch(
          /^[0-9a-f-]{36} +· +targets\/shop\.yaml:\d+:\d+$/,
        );
        expect({ requests, complaints }).toEqual({ requests: [], complaints: [] });
      }
    }));

  test("says first what the plan does", async () => {
    const { page } = await open(REFUSED);
    expect(await page.locator(".counts li").allInnerTexts()).toEqual(
      [
        "5 create",
        "8 update",
        "1 rediscover",
        "1 disable",
        "95 unchanged",
        "1 orphaned",
        "3 unmanaged",
        "4 POST",
        "12 PATCH",
      ].map((text) => text.replace(" ", "")),
    );
    expect(await page.innerText("#problems")).toBe("1 error, 2 warnings");
    expect(await page.innerText(".diagnostic.error")).toContain("Two live test cases fit");
  });

  test("filters by action, kind, target and text, and shows all again after a reset", async () => {
    const { page } = await open(PLAN);
    for (const { filter, expected } of FILTERS) {
      await filter(page);
      await saysAmount(page, `${expected.length} of 15 changes`);
      expect(await addresses(page)).toEqual(expected);
      await page.click("button[type=reset]");
      await saysAmount(page, "15 changes");
      expect(await addresses(page)).toHaveLength(15);
    }
  });

  test("folds by keyboard", async () => {
    const { page } = await open(PLAN);
    const row = page.locator(".change").first();
    await row.locator("> summary").focus();
    await page.keyboard.press("Enter");
    // What is inside is made when the row opens, which the browser tells a moment later.
    await row.locator(".inside").waitFor({ state: "visible" });
    await page.keyboard.press("Enter");
    await row.locator(".inside").waitFor({ state: "hidden" });
    await page.locator("#unfold").focus();
    await page.keyboard.press("Enter");
    await page.locator(".change[open]").nth(14).waitFor();
    await page.locator("#fold").focus();
    await page.keyboard.press("Space");
    expect(await page.locator(".change[open]").count()).toBe(0);
  });

  test("shows a prompt's change word by word", async () => {
    const { page } = await open(PLAN, { hash: "#testCase.shop.checkout" });
    const prompt = page.locator("[id='testCase.shop.checkout'] td p");
    expect(await prompt.locator("del").allInnerTexts()).toEqual(["Do not pay"]);
    expect((await prompt.locator("ins").allInnerTexts()).map((text) => text.trim())).toEqual([
      "exactly",
      "Pay with the test card",
      "Check that the order number is shown.",
    ]);
  });

  test("shows the calls, and apart from them those that may follow", async () => {
    const { page } = await open(PLAN, { hash: "#testCase.shop.checkout" });
    const inside = page.locator("[id='testCase.shop.checkout'] .inside");
    expect(await inside.locator("h4").allInnerTexts()).toEqual([
      "Calls",
      "Calls if the service's own values differ by then",
    ]);
    const call = inside.locator(".call").first();
    expect(await call.locator("pre").isVisible()).toBe(false);
    await call.locator("summary").click();
    expect(await call.locator("pre").innerText()).toContain(
      '"createBackendDiscoveryPrompt": "Open the start page.',
    );
  });

  test("draws what waits for what, and leads there", async () => {
    const { page } = await open(PLAN);
    expect(await page.locator("svg a").count()).toBe(6);
    expect(await page.locator("svg path").count()).toBe(3);
    await page.click("svg a[href='#testCase.shop.login']");
    await page.locator("[id='testCase.shop.login'][open]").waitFor();
    await page.click("[id='testCase.shop.login'] a[href='#testCase.shop.cookie-banner']");
    expect(new URL(page.url()).hash).toBe("#testCase.shop.cookie-banner");
  });

  test("runs nothing that a name says, and shows it as text", async () => {
    const { page, requests, complaints, dialogs } = await open(HOSTILE, { hash: "#%zz<img src=x>" });
    await page.click("#unfold");
    await page.locator(".change[open]").nth(14).waitFor();
    const text = await page.locator("#changes").textContent();
    for (const hostile of [3, 9, 10]) expect(text).toContain(HOSTILE_TEXTS[hostile]);
    expect(await page.locator("img, iframe, object, script:not([id]) ~ script").count()).toBe(0);
    expect(await page.locator("a[href]:not([href^='#'])").count()).toBe(0);
    expect({ requests, complaints, dialogs }).toEqual({ requests: [], complaints: [], dialogs: [] });
  });

  test("finds one among five thousand, draws more as one scrolls, and goes to a link's address", async () => {
    const { page } = await open(BIG, { hash: "#testCase.shop.case-4321" });
    await page.locator("[id='testCase.shop.case-4321'][open]").waitFor();
    await page.fill("#search", "case-3217");
    await saysAmount(page, "1 of 5000 changes");
    expect(await addresses(page)).toEqual(["testCase.shop.case-3217"]);
    await page.fill("#search", "");
    await saysAmount(page, "5000 changes");
    const first = await page.locator(".change").count();
    await page.locator("#more").scrollIntoViewIfNeeded();
    await page.locator(".change").nth(first).waitFor();
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
  return page.evaluate<string[]>("[...document.querySelectorAll('.change')].map((row) => row.id)");
}
