import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, expect, test } from "vitest";
import { BIG } from "../render/big.ts";
import { REFUSED } from "../render/sample.ts";
import { browserForFile, NEEDS, NO_BROWSER } from "./browser.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const PLANS = [
  ["5 changes", { ...REFUSED, changes: REFUSED.changes.slice(2, 7) }],
  ["every kind of change", REFUSED],
  ["100 changes", { ...BIG, changes: BIG.changes.slice(0, 100) }],
] as const;

const LOOKS = [
  { colorScheme: "light", width: 1280, height: 900 },
  { colorScheme: "dark", width: 390, height: 844 },
] as const;

const VIOLATIONS = `axe.run({ resultTypes: ["violations"] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + " " + nodes.map(({ target }) => target)))`;

describe.skipIf(NO_BROWSER)("axe finds no violations in the page", NEEDS, () => {
  const open = browserForFile();

  test.each(PLANS)("with %s, both light and wide and dark and narrow", async (_, plan) => {
    const { page } = await open(plan);
    // A small plan is open from the start.
    for (const closed of [".target", ".target[open] .change", ".target[open] .change"]) {
      const details = page.locator(`${closed}:not([open]) > summary`);
      if ((await details.count()) > 0) await details.first().click();
    }
    await page.evaluate(AXE);
    for (const { colorScheme, ...size } of LOOKS) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(size);
      expect(await page.evaluate(VIOLATIONS), colorScheme).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(size.width);
    }
  });
});
