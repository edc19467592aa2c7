import { describe, expect, test } from "vitest";
import type { Plan } from "../../src/model/plan.ts";
import { COLOURED, PLAIN } from "../../src/render/style.ts";
import { type PlanTextOptions, renderPlanText } from "../../src/render/text.ts";
import { BIG } from "./big.ts";
import { EMPTY, HOSTILE, PLAN, REFUSED, SOURCE, shown } from "./sample.ts";

const OPTIONS: PlanTextOptions = { style: PLAIN, width: 100, verbose: false, source: () => SOURCE };

function text(plan: Plan, options: Partial<PlanTextOptions> = {}): string {
  return renderPlanText(shown(plan).view, { ...OPTIONS, ...options });
}

describe("the whole plan", () => {
  test.each([
    ["every kind of change", "plan.txt", text(PLAN)],
    ["in colour", "plan.ansi", text(PLAN, { style: COLOURED })],
    ["narrow", "plan-narrow.txt", text(PLAN, { width: 60 })],
    ["every detail", "plan-verbose.txt", text(PLAN, { verbose: true })],
    ["with errors", "plan-refused.txt", text(REFUSED)],
    ["no changes", "plan-empty.txt", text(EMPTY)],
    ["hostile names", "plan-hostile.txt", text(HOSTILE)],
  ])("%s", async (_, file, rendered) => {
    await expect(rendered).toMatchFileSnapshot(`golden/${file}`);
  });
});

test("the totals wrap between their parts on a screen, and are one line otherwise", () => {
  const whole = text(PLAN).match(/^Plan: .*/gm);
  const broken = /^Plan: .*(?:\n {2}.*)*/m.exec(text(PLAN, { screen: 80 }))?.[0].split("\n") ?? [];
  expect(whole).toHaveLength(1);
  expect(broken.map((line) => line.trim()).join(" ")).toBe(whole?.[0]);
  expect(broken.length).toBe(2);
  for (const line of broken) expect(line.length).toBeLessThanOrEqual(80);
});

test("rows of attention come worst first, with every address if verbose", () => {
  const { attention } = shown(BIG).json;
  const block = (options: Partial<PlanTextOptions>): readonly string[] =>
    (/^Needs attention\n((?: {2}.*\n)*)/m.exec(text(BIG, options))?.[1] ?? "")
      .trimEnd()
      .split("\n");
  const labels = { error: "Error:  ", danger: "Danger: ", caution: "Caution:" };
  expect(block({})).toEqual(
    attention.map(({ severity, text: sentence }) => `  ${labels[severity]} ${sentence}`),
  );
  const counted = attention.filter(({ count }) => count > 3);
  expect(block({ verbose: true })).toHaveLength(
    attention.length + counted.reduce((sum, { count }) => sum + count, 0),
  );
});

test("only harmful parts are red", () => {
  // oxlint-disable-next-line no-control-regex -- a terminal's colours start with this control
  const red = text(PLAN, { style: COLOURED }).match(/\u001b\[31m.*?\u001b\[39m/g) ?? [];
  const plain = red.map((part) => part.slice(5, -5));
  const meant =
    /^(-|!|Danger: +|status: ENABLED → DISABLED|DISABLED|.*(assertion lost|ignoreFailure switched on).*|true)$/;
  for (const part of plain) expect(part).toMatch(meant);
  expect(plain.length).toBeGreaterThan(5);
});
