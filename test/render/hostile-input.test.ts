import { expect, test } from "vitest";
import { asReviewed } from "../../src/app/stale-plan.ts";
import { guardsOf } from "../../src/plan/staleness.ts";
import { graphSection } from "../../src/render/html/graph.ts";
import { planJson, planView } from "../../src/render/json.ts";
import { createRedactor } from "../../src/render/redact.ts";
import { normalAddress } from "../../src/state/backend.ts";
import { readHistory } from "../../src/state/history.ts";
import { cpuTime, fingerprints, liveCase, liveElement, planOf, publicPlan } from "../plan/build.ts";

/** A step with very many options, none of which is declared. */
function manyOptions() {
  const options = Object.fromEntries(Array.from({ length: 12_000 }, (_, at) => [`k${at}`, at]));
  const selector = { selectorType: "TEXT", selector: "s" };
  const live = liveElement("1", 0, { selectors: [{ ...selector, options }] });
  const planned = planOf({
    declared: {
      testCases: {
        a: { description: "C", elements: [{ selectors: [{ ...selector, options: {} }] }] },
      },
    },
    live: { testCases: [liveCase("C", { elements: [live] })] },
  });
  const request = { only: [], exclude: [], run: [], rediscover: [] };
  const saved = {
    ...request,
    plan: planJson(planned.plan, { tool: "", createdAt: "" }),
    extras: {},
    targets: { shop: "T" },
    guards: guardsOf(planned, fingerprints),
  };
  expect(saved.plan.changes[0]?.fields).toHaveLength(12_000);
  return { planned, saved };
}

/** New test cases that all wait for their target. */
function manyNew() {
  const keys = Array.from({ length: 30_000 }, (_, at) => `testCase.shop.k${at}` as const);
  const dependsOn = Object.fromEntries(keys.map((address) => [address, ["target.shop" as const]]));
  const plan = publicPlan({ declared: {}, live: {} });
  const change = { action: "create", id: "", fields: [], calls: [], followUps: [] } as const;
  return planView(
    { ...plan, changes: keys.map((address) => ({ ...change, address })) },
    { dependsOn },
  );
}

const run = { run: "r", at: "", who: "", plan: "", ended: false };
/** Outcomes of one interrupted run, recorded by several later runs. */
const entries = Array.from({ length: 20_000 }, (_, at) => ({
  ...run,
  changes: [{ address: `testCase.shop.k${at}`, action: "update", outcome: "done" }],
}));

const { planned, saved } = manyOptions();
const creations = manyNew();

// Takes milliseconds if the time is linear, and many seconds if it is quadratic.
test.each([
  ["an address of slashes", () => normalAddress(`https://e.example.com${"/".repeat(200_000)}x`)],
  ["options to be removed", () => asReviewed(saved, planned, fingerprints, createRedactor([]))],
  [
    "what waits for a new target",
    () => expect(graphSection(creations)).toContain("30000 changes wait"),
  ],
  ["entries of one run", () => expect(readHistory(entries)[0]?.changes).toHaveLength(20_000)],
])("input from a hostile service takes less than 2 s of CPU time: %s", (_, work) => {
  expect(cpuTime(work)).toBeLessThan(2_000_000);
});
