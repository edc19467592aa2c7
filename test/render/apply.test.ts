import { describe, expect, test } from "vitest";
import { ApplyStatus, renderApplyReport } from "../../src/render/apply.ts";
import { createRedactor, redactOutcome } from "../../src/render/redact.ts";
import { COLOURED, PLAIN } from "../../src/render/style.ts";
import { clockText, durationText } from "../../src/render/words.ts";
import { EVENTS, FACTS, OUTCOME } from "./apply-sample.ts";

describe("the report at the end", () => {
  const options = { style: PLAIN, width: 80, verbose: false };
  const good = {
    ...OUTCOME,
    failed: [],
    skipped: [],
    notTaken: [],
    unfinished: [],
    words: new Map(),
    notWaited: [],
    fatal: undefined,
  };
  const many = [...Array(120).keys()].map((at) => `testCase.shop.c${at}` as const);

  test.each([
    ["apply-report.txt", renderApplyReport(OUTCOME, FACTS, options)],
    ["apply-report.ansi", renderApplyReport(OUTCOME, FACTS, { ...options, style: COLOURED })],
    [
      "apply-report-good.txt",
      renderApplyReport(good, { ...FACTS, uncertain: [], next: [] }, options),
    ],
    [
      "apply-report-many.txt",
      renderApplyReport({ ...OUTCOME, interrupted: true, done: many }, FACTS, options),
    ],
  ])("%s", async (file, text) => {
    await expect(text).toMatchFileSnapshot(`golden/${file}`);
  });

  test("names every completed change if verbose", () => {
    const text = renderApplyReport({ ...OUTCOME, done: many }, FACTS, {
      ...options,
      verbose: true,
    });
    for (const address of many) expect(text).toContain(`  ~ ${address}\n`);
  });

  test("does not break a line within a secret, which would then not be redacted", () => {
    const secret = "four words of secret";
    const failed = OUTCOME.failed.map((one) => ({
      ...one,
      failure: { summary: "Lost", detail: `${"x".repeat(60)} ${secret}` },
    }));
    const redactor = createRedactor([secret]);
    const outcome = redactOutcome({ ...OUTCOME, failed }, redactor);
    const text = redactor.lines(renderApplyReport(outcome, FACTS, options));
    expect(text).toContain("(sensitive)");
    expect(text).not.toMatch(/four|secret\b/);
  });
});

test("the status after each event matches the golden file", async () => {
  let now = 1000;
  const status = new ApplyStatus(now);
  const frames = EVENTS.map(([after, event]) => {
    now += after;
    status.hear(event, now);
    return [`--- ${"kind" in event ? event.kind : event.type}`, ...status.lines(now, PLAIN)].join(
      "\n",
    );
  });
  await expect(`${frames.join("\n")}\n`).toMatchFileSnapshot("golden/apply-status.txt");
});

test("a note about a pause disappears when the pause ends", () => {
  const status = new ApplyStatus(0);
  status.hear({ kind: "slowed", pause: 1000, concurrency: 2 }, 0);
  expect(status.lines(999, PLAIN)).toHaveLength(2);
  expect(status.lines(1000, PLAIN)).toHaveLength(1);
});

test("nothing is counted before an apply begins, or if it has nothing to do", () => {
  const status = new ApplyStatus(0);
  expect(status.lines(0, PLAIN).join("")).toMatch(/^─+ {2}planning {2}00:00$/);
  status.hear({ type: "started", changes: 0 }, 0);
  expect(status.lines(0, PLAIN)).toEqual([]);
});

test("if many changes are running, only the longest are named", () => {
  const status = new ApplyStatus(0);
  for (let at = 0; at < 5; at++)
    status.hear({ type: "changeStarted", address: `testCase.shop.c${at}`, action: "update" }, at);
  expect(status.lines(5000, PLAIN).slice(1)).toEqual([
    "  testCase.shop.c0  5 s",
    "  testCase.shop.c1  5 s",
    "  testCase.shop.c2  5 s",
  ]);
});

test.each([
  [0, "0 s", "00:00"],
  [440, "0.4 s", "00:00"],
  [9960, "10 s", "00:09"],
  [59_600, "1 min 0 s", "00:59"],
  [200_000, "3 min 20 s", "03:20"],
  [7_500_000, "2 h 5 min", "2:05:00"],
])("%d ms are shown as %s and %s", (milliseconds, duration, clock) => {
  expect(durationText(milliseconds)).toBe(duration);
  expect(clockText(milliseconds)).toBe(clock);
});
