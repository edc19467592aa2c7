import { describe, expect, test } from "vitest";
import type { Plan } from "../../src/model/plan.ts";
import { COLOURED, PLAIN } from "../../src/render/style.ts";
import { type PlanTextOptions, renderPlanText } from "../../src/render/text.ts";
import { EMPTY, HOSTILE, PLAN, REFUSED, SOURCE, shown } from "./sample.ts";

const OPTIONS: PlanTextOptions = { style: PLAIN, width: 100, verbose: false, source: () => SOURCE };

function text(plan: Plan, options: Partial<PlanTextOptions> = {}): string {
  const { json, extras } = shown(plan);
  return renderPlanText(json, extras, { ...OPTIONS, ...options });
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
