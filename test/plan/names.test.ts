import { expect, test } from "vitest";
import { inStage } from "../../src/model/diagnostic.ts";
import { normalUrl } from "../../src/plan/normalise.ts";
import { levelName, matchEnvironments } from "../../src/plan/match.ts";
import { keeping } from "../../src/plan/refresh.ts";
import { cpuTime, liveCase, liveTarget, planInput, publicPlan, target } from "./build.ts";

const ideographs = Array.from({ length: 80_000 }, (_, at) =>
  String.fromCodePoint(0x4e00 + (at % 20_000)),
);
const urls = Array.from({ length: 3000 }, (_, at) => `https://e${at}.example.com`);
const environments = Object.fromEntries(
  urls.map((discoveryUrl, at) => [`e${at}`, { discoveryUrl }]),
);
const live = liveTarget(urls.map((discoveryUrl) => ({ discoveryUrl }))).environments;

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
  ["test cases of one name", () => alike.map(keep)],
  [
    "many environments",
    () => matchEnvironments(target({ environments }), live, undefined, new Map()),
  ],
])("input from a hostile service takes less than 2 s of CPU time: %s", (_, work) => {
  expect(cpuTime(work)).toBeLessThan(2_000_000);
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
