import { describe, expect, test } from "vitest";
import type { Attention, Plan } from "../../src/model/plan.ts";
import { renderPlanMarkdown } from "../../src/render/markdown.ts";
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

describe("test cases that stay off", () => {
  const row = (code: Attention["code"], severity: Attention["severity"]): Attention => {
    const addresses = ["testCase.shop.pay" as const];
    return { code, severity, text: `${code} of testCase.shop.pay`, count: 1, addresses };
  };
  const fresh = row("steps-new", "caution");
  const failed = row("generation-failed", "danger");
  const held = (number: number, attention: readonly Attention[], plan = EMPTY): Plan => ({
    ...plan,
    summary: { ...plan.summary, held: number },
    attention,
  });

  test.each([
    [
      "no row",
      held(1, []),
      "1 test case stays off until its steps are generated and accepted: tasc steps",
    ],
    [
      "new steps",
      held(1, [fresh]),
      "1 test case stays off until its steps are accepted: tasc steps accept ADDRESS",
    ],
    [
      "a failed generation",
      held(2, [failed]),
      "2 test cases stay off until their steps are generated: change the prompt, or tasc apply --rediscover ADDRESS",
    ],
    [
      "both",
      held(2, [fresh, failed]),
      "2 test cases stay off until their steps are generated or accepted: tasc steps",
    ],
    [
      "a case that keeps its steps",
      held(1, [row("generation-failed", "caution"), fresh]),
      "1 test case stays off until its steps are accepted: tasc steps accept ADDRESS",
    ],
  ])("without changes: %s", (_, plan, words) => {
    const lines = text(plan).split("\n");
    expect(lines).toContain(`No changes to send. ${words}`);
    expect(text(plan)).not.toMatch(/^Plan:|matches your manifests/m);
    expect(renderPlanMarkdown(shown(plan).view)).toContain(`No changes to send. ${words}.`);
  });

  test("a plan with changes says it below its line of counts", () => {
    const shownText = text(held(1, [], PLAN));
    expect(shownText).toMatch(/^Plan: .* 1 held, .*\nHeld: 1 test case stays off until /m);
    expect(text(PLAN)).not.toContain("until its steps");
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
