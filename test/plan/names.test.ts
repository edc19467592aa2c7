import { expect, test } from "vitest";
import { asReviewed } from "../../src/app/stale-plan.ts";
import { inStage } from "../../src/model/diagnostic.ts";
import { normalUrl } from "../../src/plan/normalise.ts";
import { levelName, matchEnvironments } from "../../src/plan/match.ts";
import { keeping } from "../../src/plan/refresh.ts";
import { guardsOf } from "../../src/plan/staleness.ts";
import { graphSection } from "../../src/render/html/graph.ts";
import { planJson, planView } from "../../src/render/json.ts";
import { createRedactor } from "../../src/render/redact.ts";
import { normalAddress } from "../../src/state/backend.ts";
import { readHistory } from "../../src/state/history.ts";
import {
  fingerprints,
  liveCase,
  liveElement,
  liveTarget,
  planInput,
  planOf,
  publicPlan,
  target,
} from "./build.ts";

const ideographs = Array.from({ length: 80_000 }, (_, at) =>
  String.fromCodePoint(0x4e00 + (at % 20_000)),
);
const urls = Array.from({ length: 3000 }, (_, at) => `https://e${at}.example.com`);
const environments = Object.fromEntries(
  urls.map((discoveryUrl, at) => [`e${at}`, { discoveryUrl }]),
);
const live = liveTarget(urls.map((discoveryUrl) => ({ discoveryUrl }))).environments;

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

/**
 * Bound test cases with the same name, each with a declared path that differs from the live one.
 */
function manyAlike() {
  const keys = Array.from({ length: 12_000 }, (_, at) => `k${at}`);
  const declared = { description: "same", entryPointUrlPath: "/", elements: [] };
  const bound = (key: string) =>
    ({ type: "bound", address: `testCase.shop.${key}`, id: key, fields: {} }) as const;
  const input = planInput({
    declared: { testCases: Object.fromEntries(keys.map((key) => [key, declared])) },
    live: {},
    state: keys.map(bound),
  });
  const alike = keys.map((key) => liveCase(key, { description: "same" }));
  return {
    keep: keeping(input.desired.targets[0] ?? target({}), input.states.get("shop"), input),
    alike,
  };
}

const { keep, alike } = manyAlike();
const { planned, saved } = manyOptions();
const creations = manyNew();

// Takes milliseconds if the time is linear, and many seconds if it is quadratic.
test.each([
  ["a name with accents in no order", () => levelName(`e${"\u0301\u0316".repeat(100_000)}`)],
  [
    "a URL with a host of all letters there are",
    () => normalUrl(`https://${ideographs.join("")}.com/`),
  ],
  ["advice with a value of blanks", () => inStage(" ".repeat(300_000), "staging")],
  [
    "advice with a value of commands",
    () => inStage(`${"| tasc plan ".repeat(50_000)} --stage`, "staging"),
  ],
  ["an address of slashes", () => normalAddress(`https://e.example.com${"/".repeat(200_000)}x`)],
  ["options to be removed", () => asReviewed(saved, planned, fingerprints, createRedactor([]))],
  [
    "what waits for a new target",
    () => expect(graphSection(creations)).toContain("30000 changes wait"),
  ],
  ["entries of one run", () => expect(readHistory(entries)[0]?.changes).toHaveLength(20_000)],
  ["test cases of one name", () => alike.map(keep)],
  [
    "many environments",
    () => matchEnvironments(target({ environments }), live, undefined, new Map()),
  ],
])("input from a hostile service takes less than 2 s of CPU time: %s", (_, work) => {
  const started = process.cpuUsage();
  work();
  const { user } = process.cpuUsage(started);
  expect(user).toBeLessThan(2_000_000);
});

test("names and URLs are normalized, also after many others", () => {
  expect(levelName(" Cafe\u0301\n 1 ")).toBe("Caf\u00e9 1");
  expect(normalUrl("https://B\u00fccher.example.com")).toBe("https://xn--bcher-kva.example.com/");
  expect(normalUrl(`https://example.com?${"a".repeat(5000)}`)).toBe(
    `https://example.com/?${"a".repeat(5000)}`,
  );
});

test.each([
  ["one live test case", 1],
  ["as many live ones", 300],
])(
  "a diagnostic about many test cases with the same name lists only a few of them: %s",
  (_, amount) => {
    const keys = Array.from({ length: 300 }, (_each, at) => `k${at}`);
    const { diagnostics } = publicPlan({
      declared: {
        testCases: Object.fromEntries(keys.map((key) => [key, { description: "same" }])),
      },
      live: {
        testCases: keys.slice(0, amount).map((key) => liveCase(key, { description: "same" })),
      },
    });
    expect(diagnostics).toHaveLength(300);
    for (const { summary, detail } of diagnostics) {
      expect(summary + detail).toMatch(/ and (?:279|280) more/);
      expect((summary + detail).length).toBeLessThan(1000);
    }
  },
);
